"""By which instant liveness is judged: that of the last beat of the host which was last in contact.

No clock of this machine is read. Where no host lives, nothing is late; where the ledger's clock was stepped or
a hold is open, the time before does not count (G3, G9).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from schedcore._audit.snapshot import Snapshot

__all__ = ["NO_CLOCK", "LedgerClock", "Seen", "read_clock"]

_BEATS = 2
_AGREEING = 3
_PERIODS = 3


class Seen(NamedTuple):
    """A host that is marked live."""

    id: int
    name: str
    boot_id: str
    started_at: int
    beat_at: int | None
    beat_every: int
    beats: int
    lease_now: int
    order: str | None

    @property
    def drains(self) -> bool:
        """Was it told to take no more work?"""
        return self.order == "drain"

    def awake_since(self, us: int) -> int:
        """For how long at least, up to its last beat, it was in contact after an instant.

        Beats that are missing are time in which it slept or was cut off, all of it perhaps behind that instant.
        """
        if self.beat_at is None:
            return 0
        missed = max(self.beat_at - self.started_at - self.beats * self.beat_every, 0)
        return self.beat_at - max(us, self.started_at) - missed

    def silent(self, now: int) -> bool:
        """Has it not beaten for longer than it may?"""
        last = self.started_at if self.beat_at is None else self.beat_at
        return now - last > _PERIODS * self.beat_every


@dataclass(frozen=True, slots=True)
class LedgerClock:
    """``now`` is ``None`` where no host has beaten."""

    now: int | None
    host: Seen | None
    live: tuple[Seen, ...]
    held: bool
    held_until: int
    stepped_at: int | None

    @property
    def why_not(self) -> str | None:
        """Why nothing can be late, if so."""
        if self.now is None or self.host is None:
            return "no host lives that has beaten"
        if self.host.drains:
            return "the host that beat last takes no more work"
        return "a hold is open" if self.held else None

    def overdue(self, due_at: int) -> bool:
        """Should what was due at an instant have been decided by now? Within two beats of a host that may."""
        if self.now is None or self.host is None or self.held:
            return False
        beat = self.host.beat_every
        stepped = self.now if self.stepped_at is None else self.stepped_at + _AGREEING * beat
        since = max(
            due_at, self.host.started_at, self.held_until, stepped if self.stepped_at is not None else 0
        )
        return self.now - since > _BEATS * beat


NO_CLOCK = LedgerClock(None, None, (), False, 0, None)
"""Where it cannot be read."""


def read_clock(snapshot: Snapshot) -> LedgerClock:
    """The clock of the ledger as its rows tell it."""
    found = snapshot.rows(
        "select id,name,boot_id,started_at,beat_at,beat_every,beats,pulse_lease,order_text"
        " from {s}hosts where state='live' order by id"
    )
    live = [Seen._make(row) for row in found]
    same_boot = [one for one in live if one.boot_id == live[-1].boot_id]
    host = max(same_boot, key=lambda one: (one.lease_now, one.id), default=None)
    holds = snapshot.rows("select until from {s}holds")
    ended = [row[0] for row in holds if row[0] is not None]
    stepped = snapshot.value("select max(at) from {s}events where job_id=0 and action like ?", "clock%")
    return LedgerClock(
        now=None if host is None else host.beat_at,
        host=host,
        live=tuple(live),
        held=len(ended) < len(holds),
        held_until=max(ended, default=0),
        stepped_at=stepped,
    )
