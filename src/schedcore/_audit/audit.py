"""The audit: every rule over one consistent view of a ledger, in streams, with nothing written anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from schedcore._audit.attempts import audit_attempts, first_since
from schedcore._audit.clock_of_ledger import NO_CLOCK, read_clock
from schedcore._audit.history import audit_history
from schedcore._audit.living import audit_holds, audit_hosts, say_what_is_absent
from schedcore._audit.policies import Policies
from schedcore._audit.references import audit_references, audit_store
from schedcore._audit.report import Notebook, Report
from schedcore._audit.slots import audit_slots
from schedcore._audit.snapshot import Snapshot, Unreadable, open_snapshot
from schedcore._audit.texts import audit_texts
from schedcore._audit.unfinished import audit_unfinished

__all__ = ["Progress", "audit", "wholeness"]

Progress = Callable[[int, int], None]
"""``progress(done, of)``: rows read so far, and how many there are about."""

_KEY = "select key from {s}jobs where id=?"
_STAMPS = {"runs": "opened_at", "skipped": "decided_at", "events": "at"}
"""Tables that grow with time, and when their rows were written."""
_PASSES = 3
"""How often every run is read: with its slot, with its attempts, for its texts."""


def audit(
    url: str,
    *,
    since: int | None = None,
    policies: Mapping[str, Any] | None = None,
    canaries: Sequence[str] = (),
    progress: Progress | None = None,
) -> Report:
    """Check every rule on the ledger at ``url`` (an SQLAlchemy URL).

    ``since`` (microseconds) leaves out what lies before: slots, and rows written before. ``policies`` are those
    of the hosts, for what jobs leave unset: ``on_lost``, ``overlap``, ``overlap_max``, ``timeout``. ``canaries``
    are texts that must stand nowhere. Raises what :func:`open_snapshot` raises, and ``LedgerError`` when the
    ledger goes away meanwhile.
    """
    with open_snapshot(url) as snapshot:
        note = Notebook(_keys(snapshot))
        whole = _Audit(snapshot, note, since, policies or {}, canaries, progress)
        whole.all()
        return Report(snapshot.shown, since, whole.clock.now, note.results(), note.findings())


def wholeness(url: str) -> Report:
    """Only I20: what rows refer to, and what the store says of itself."""
    with open_snapshot(url) as snapshot:
        note = Notebook(_keys(snapshot))
        part = _Audit(snapshot, note, None, {}, (), None)
        part.step(("I20",), lambda: audit_store(snapshot, note, thorough=True))
        part.step(("I20",), lambda: audit_references(snapshot, note))
        return Report(snapshot.shown, None, None, note.results(), note.findings())


class _Audit:
    """One audit under way."""

    def __init__(
        self,
        snapshot: Snapshot,
        note: Notebook,
        since: int | None,
        policies: Mapping[str, Any],
        canaries: Sequence[str],
        progress: Progress | None,
    ) -> None:
        self._snapshot, self._note, self._since, self._canaries = snapshot, note, since, canaries
        self._policies = Policies(snapshot, policies)
        self._progress = progress
        self._done = self._of = 0
        self._first = dict.fromkeys(_STAMPS, 0)
        self.clock = NO_CLOCK

    def all(self) -> None:
        """Every rule, each part by itself: what one cannot read, another may."""
        snapshot, note, policies, tick = self._snapshot, self._note, self._policies, self._tick
        first, since = self._first, self._since
        self.step(("L1", "L2", "L4"), self._begin)
        self.step(("I20",), lambda: audit_store(snapshot, note, thorough=since is None))
        self.step(
            ("I1", "I2", "I3", "I4", "I5", "L1"), lambda: audit_slots(snapshot, note, self.clock, since, tick)
        )
        self.step(
            ("I5", "I6", "I7", "I8", "I9", "I10", "I14", "I17", "L2"),
            lambda: audit_attempts(snapshot, note, self.clock, policies, first["runs"], tick),
        )
        self.step(("I11",), lambda: audit_unfinished(snapshot, note, policies))
        self.step(("I14",), lambda: audit_holds(snapshot, note))
        self.step(("I16", "I17"), lambda: audit_history(snapshot, note, first["events"]))
        self.step(("I18", "I19"), lambda: audit_texts(snapshot, note, self._from(), self._canaries, tick))
        self.step(("I20",), lambda: audit_references(snapshot, note, first))
        self.step(("L4",), lambda: audit_hosts(note, self.clock))
        say_what_is_absent(note)

    def _begin(self) -> None:
        """Where to begin, how much there is, and by which instant liveness is judged."""
        for table, stamp in _STAMPS.items():
            self._first[table] = first_since(self._snapshot, table, stamp, self._since)
        runs = int(self._snapshot.value("select coalesce(max(id),0) from {s}runs")) - self._first["runs"]
        self._of = max(_PASSES * runs, 1)
        self.clock = read_clock(self._snapshot)

    def _from(self) -> dict[str, int]:
        """The lowest numbers that are looked at, by table; empty where all are."""
        return {} if self._since is None else {**self._first, "attempts": self._first["runs"]}

    def step(self, rules: Sequence[str], deed: Callable[[], None]) -> None:
        """One part. A database that finds itself damaged is a finding, and ends only that part."""
        try:
            with self._snapshot.part():
                deed()
        except Unreadable as error:
            self._note.finds("I20", f"the store: {error}")
            for rule in rules:
                self._note.leaves(rule, "the store is damaged; it was read up to there")

    def _tick(self, rows: int) -> None:
        self._done += rows
        if self._progress is not None:
            self._progress(min(self._done, self._of), self._of)


def _keys(snapshot: Snapshot) -> Callable[[int], str | None]:
    @lru_cache(maxsize=1_024)
    def key_of(job_id: int) -> str | None:
        try:
            return snapshot.value(_KEY, job_id)  # type: ignore[no-any-return]  # the column is text
        except Unreadable:
            return None

    return key_of
