"""A clock that stands still, is advanced, and is sometimes set back (P-15)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from schedcore.domain.clock import SECOND, from_us, to_us

__all__ = ["ManualClock", "SkewedClock"]


class ManualClock:
    """The wall clock, the boot-time clock and lease time of a test; nothing moves them but the test.

    ``start`` is an aware ``datetime`` or a text that ``datetime.fromisoformat`` reads, with its offset.
    """

    def __init__(self, start: datetime | str = "2026-06-01T08:00:00+00:00") -> None:
        self._wall = _us(start)
        self._boot = 1_000_000 * SECOND
        self._up = 0

    def wall(self) -> int:
        """Microseconds since 1970."""
        return self._wall

    def boot(self) -> int:
        """Microseconds of the boot-time clock."""
        return self._boot

    def now(self, c: Any = None) -> int:
        """Now, as the ledger tells it."""
        return self.wall()

    def lease(self, c: Any = None) -> int:
        """Lease time, as the ledger tells it: the boot-time clock."""
        return self.boot()

    def both(self, c: Any = None) -> tuple[int, int]:
        """(now, lease time)."""
        return self.now(c), self.lease(c)

    def up_since(self, c: Any = None) -> int:
        """Lease time since when the ledger's server is up."""
        return self._up

    @property
    def instant(self) -> datetime:
        """Now as an aware ``datetime`` in UTC."""
        return from_us(self.wall())

    def advance(self, seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Let time pass: both clocks move."""
        by = round((seconds + 60 * minutes + 3600 * hours + 86400 * days) * SECOND)
        self._wall += by
        self._boot += by

    def step(self, seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Step the wall clock, forward or back; the boot-time clock and lease time do not see it."""
        self._wall += round((seconds + 60 * minutes + 3600 * hours + 86400 * days) * SECOND)

    def set(self, instant: datetime | str) -> None:
        """Let time pass until an instant, which lies ahead."""
        by = _us(instant) - self.wall()
        if by < 0:
            raise ValueError(f"{instant} lies behind {self.instant.isoformat()}; step() sets a clock back")
        self.advance(by / SECOND)

    def server_restarted(self) -> None:
        """The ledger's server has just come up: nobody may judge a lease for one lease length (G8)."""
        self._up = self._boot

    def beside(self, seconds: float = 0) -> SkewedClock:
        """The clock of another host, whose wall clock is wrong by so many seconds and moves with this one."""
        return SkewedClock(self, seconds)


class SkewedClock(ManualClock):
    """A wall clock that is always wrong by the same; all other clocks, and the passing of time, are shared."""

    def __init__(self, true: ManualClock, seconds: float) -> None:
        super().__init__(true.instant)
        self._true = true
        self._by = round(seconds * SECOND)

    def wall(self) -> int:
        """Microseconds since 1970, as this host believes."""
        return self._true.wall() + self._by

    def boot(self) -> int:
        """See :class:`ManualClock`."""
        return self._true.boot()

    def both(self, c: Any = None) -> tuple[int, int]:
        """(now, lease time)."""
        return self.now(c), self.lease(c)

    def up_since(self, c: Any = None) -> int:
        """See :class:`ManualClock`."""
        return self._true.up_since(c)

    def advance(self, seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Time passes for all."""
        self._true.advance(seconds, minutes=minutes, hours=hours, days=days)

    def step(self, seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Step this host's wall clock alone."""
        self._by += round((seconds + 60 * minutes + 3600 * hours + 86400 * days) * SECOND)


def _us(instant: datetime | str) -> int:
    return to_us(datetime.fromisoformat(instant) if isinstance(instant, str) else instant)
