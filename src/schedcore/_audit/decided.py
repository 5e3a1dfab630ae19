"""One job: what its definitions owe beside what was decided, slot by slot and in order (I1 to I5).

A decision is a run of the schedule, or a skipped row with all the slots that it counts. A backfill runs a slot
beside its decision and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from schedcore._audit.owed import ALWAYS, NEVER, Definition, Owed, Window, windows_of
from schedcore._audit.report import Notebook
from schedcore._audit.words import SKIPPED
from schedcore.domain.clock import text

__all__ = ["Decision", "Job", "Walk"]

_ASLEEP = frozenset({"paused", "pending", "breaker", "restored"})
"""Reasons of rows that count every slot of their time, dropped or not."""
_OTHER_ZONE_DATA = "made with zone data that are not installed here, and those here give other slots"


@dataclass(frozen=True, slots=True)
class Job:
    """What the walk needs of ``jobs`` and ``due``."""

    id: int
    uid: str
    state: str
    breaker: bool
    archived_through: int | None
    last_slot: int | None
    anchor: int | None
    next_run_at: int | None
    slots_left: int | None
    faults: int


@dataclass(frozen=True, slots=True)
class Decision:
    """A run, or a skipped row: the slots from ``first`` to ``last``, ``slots`` of them."""

    kind: Literal["run", "row", "backfill"]
    id: int
    first: int
    last: int
    slots: int
    definition: int
    at: int
    reason: str = ""
    run_id: int | None = None

    @property
    def said(self) -> str:
        """As a finding names it."""
        return f"skipped row {self.id} ({self.reason})" if self.kind == "row" else f"run {self.id}"


@dataclass(slots=True)
class Walk:
    """One pass over the decisions of a job, in the order of their slots; what it finds goes into the notebook.

    ``since`` leaves out what lies before it. ``awaited`` are the coalesced rows whose run has not come by yet.
    """

    job: Job
    definitions: Sequence[Definition]
    note: Notebook
    since: int | None = None
    awaited: dict[int, Decision] = field(default_factory=dict)
    used: dict[int, int] = field(default_factory=dict)
    windows: list[Window] = field(init=False)
    _by_number: dict[int, Window] = field(init=False)
    _owed: Owed = field(init=False)
    _covered: int = ALWAYS
    _holder: Decision | None = None
    _ahead: tuple[int, Window] | None = None

    def __post_init__(self) -> None:
        job = self.job
        self.windows = windows_of(self.definitions, job.last_slot)
        self._by_number = {window.number: window for window in self.windows}
        self._owed = Owed(self.windows, ALWAYS if job.last_slot is None else job.last_slot)
        for window in self.windows:
            if window.owing and window.grid is None and window.after < window.until:
                self.note.leaves("I2", window.stored.why)

    def over(self, decisions: Iterable[Decision]) -> None:
        """Walk them all, and then up to ``last_slot``."""
        begun, plain = False, 0
        for one in decisions:
            if not begun:
                self._begin(one.first)
                begun = True
            if one.kind == "backfill":
                self._backfill(one)
            elif self._is_next(one):
                plain += 1
                self._covered, self._holder = one.last, one
                self._ahead = self._owed.next(one.last)
            else:
                self._decide(one)
            if self.awaited:
                self._meets(one)
        if not begun:
            self._begin(None)
        for rule in ("I1", "I2", "I5"):
            self.note.checks(rule, plain)
        if self._ahead is not None and self.job.last_slot is not None:
            self._missing(self.job.last_slot)

    def _is_next(self, one: Decision) -> bool:
        """The usual decision: a run for the very slot that is owed next. Nothing is wrong with it."""
        if one.kind != "run" or self._ahead is None:
            return False
        slot, window = self._ahead
        if slot != one.first or window.number != one.definition or one.at < slot:
            return False
        self.used[window.epoch] = self.used.get(window.epoch, 0) + 1
        return True

    def _begin(self, first: int | None) -> None:
        start = self.since if self.since is not None else ALWAYS
        if self.job.archived_through is not None and self.job.archived_through >= start:
            start = self.job.archived_through + 1
            self.note.leaves("I2", "a job's slots up to its archived_through are in the archive")
        if self.since is not None and first is not None:
            start = min(start, first)  # a row that began before
        self._covered = start - 1
        self._ahead = self._owed.next(self._covered)

    # -- one decision -------------------------------------------------------------------------------------

    def _decide(self, one: Decision) -> None:
        note, job = self.note, self.job
        note.checks("I1")
        note.checks("I5")
        if one.kind == "row":
            self._row(one)
        if one.at < one.last:
            self._finds(
                "I5", f"{one.said} was decided at {text(one.at)}, before its slot {text(one.last)}", one.last
            )
        if one.first <= self._covered and self._holder is not None:
            rule = "I3" if one.kind == "row" and self._holder.kind == "row" else "I1"
            self._finds(rule, f"{one.said} and {self._holder.said} both answer for it", one.first)
        if job.last_slot is None or one.last > job.last_slot:
            upto = "nothing" if job.last_slot is None else text(job.last_slot)
            self._finds("I2", f"{one.said} lies beyond last_slot, which is {upto}", one.last)
        if self._ahead is not None and self._ahead[0] < one.first:
            self._missing(one.first - 1)
        self._fits(one)
        if one.last > self._covered:
            self._covered, self._holder = one.last, one
            if self._ahead is not None and self._ahead[0] <= one.last:
                self._ahead = self._owed.next(one.last)

    def _row(self, one: Decision) -> None:
        self.note.checks("I14")
        if one.reason not in SKIPPED:
            self._finds("I14", f"skipped row {one.id} has the reason {one.reason!r}", one.first)
        if one.reason == "coalesced":
            self.note.checks("I4")
            if one.run_id is None:
                self._finds("I4", f"{one.said} points to no run", one.first)
            else:
                self.awaited[one.run_id] = one

    def _fits(self, one: Decision) -> None:
        """Do its slots belong to the definition whose number it carries, and are they as many as it says?"""
        self.note.checks("I2", one.slots)
        window = self._by_number.get(one.definition)
        if window is None:  # I20 says so
            return
        self.used[window.epoch] = self.used.get(window.epoch, 0) + one.slots
        if one.kind == "row":
            self.note.checks("I3")
        if window.grid is None:
            if one.kind == "row":
                self.note.leaves("I3", window.stored.why)
            return
        on_time = window.after < one.first and one.last <= window.until
        if not on_time or not window.owing:
            ends = text(window.until) if window.until < NEVER else "now"
            holds = (
                "whose count is used up"
                if window.spent
                else f"which holds from {text(window.after)} to {ends}"
            )
            whose = f"definition {window.number}, {holds}"
            upto = f" up to {text(one.last)}" if one.last > one.first else ""
            self._finds("I2", f"{one.said}{upto} carries {whose}", one.first)
        self._judged(one, window)
        known = self._ahead is not None and self._ahead[0] == one.first
        if not known and not window.holds(one.first):
            self._differs(window, "I2", f"{one.said} is for no slot of definition {window.number}", one.first)
        if one.kind == "row":
            self._counted(one, window)

    def _judged(self, one: Decision, window: Window) -> None:
        """Has a slot a run where its calendar keeps it, and a row of the reason ``calendar`` where it does not?"""
        drops = window.stored.drops
        if one.kind == "row" and one.reason == "calendar":
            if drops is None or not (drops.holds(one.first) and drops.holds(one.last)):
                what = f"{one.said} counts a slot that the calendar of definition {window.number} keeps"
                self._differs(window, "I2", what, one.first)
        elif drops is not None and one.slots == 1 and one.reason not in _ASLEEP and drops.holds(one.first):
            what = f"{one.said} is for a slot that the calendar of definition {window.number} drops"
            self._differs(window, "I2", what, one.first)

    def _counted(self, one: Decision, window: Window) -> None:
        assert window.grid is not None
        if one.last != one.first and not window.holds(one.last):
            self._differs(window, "I2", f"{one.said} ends at no slot of definition {window.number}", one.last)
        there = 1 if one.first == one.last else window.grid.count(one.first - 1, one.last)
        if there != one.slots:
            what = f"{one.said} counts {one.slots} slots up to {text(one.last)}; there are {there}"
            self._differs(window, "I3", what, one.first)

    def _backfill(self, one: Decision) -> None:
        """It names a slot of the past and decides nothing; what was decided stands."""
        self.note.checks("I5")
        if one.at < one.first:
            self._finds("I5", f"{one.said} was opened at {text(one.at)}, before its slot", one.first)
        window = self._by_number.get(one.definition)
        if window is not None and window.grid is not None and not window.holds(one.first):
            what = f"{one.said} is a backfill for no slot of definition {window.number}"
            self._differs(window, "I2", what, one.first)
        decided = self.job.anchor if self.job.last_slot is None else self.job.last_slot
        if decided is not None and one.first > decided:
            what = f"{one.said} is a backfill of a slot that is still to be decided"
            self._finds("I2", what, one.first)
        beside = self._holder
        if beside is not None and beside.first <= one.first <= beside.last and beside.at > one.at:
            what = f"{one.said} is a backfill from before {beside.said}, which decided its slot"
            self._finds("I1", what, one.first)

    def _meets(self, one: Decision) -> None:
        row = self.awaited.pop(one.id, None) if one.kind == "run" else None
        if row is not None:
            self.points(row, one.first, one.at)

    def points(self, row: Decision, slot: int, opened_at: int) -> None:
        """A coalesced row points to a run of its job: is that later, and was it opened no earlier? (I4)"""
        if slot <= row.last:
            self._finds("I4", f"{row.said} points to run {row.run_id}, whose slot is not later", row.first)
        elif opened_at < row.at:
            what = f"{row.said} points to run {row.run_id}, which was opened before the row was written"
            self._finds("I4", what, row.first)

    # -- what is not there --------------------------------------------------------------------------------

    def _missing(self, until: int) -> None:
        """The slots from the one ahead up to an instant have no decision."""
        assert self._ahead is not None
        first, window = self._ahead
        there = self._owed.within(first, until)
        what = f"definition {window.number} owed this slot, and nothing answers for it"
        if there > 1:
            what = f"definition {window.number} owed {there} slots from here up to {text(until)}, and nothing answers"
        self._differs(window, "I2", what, first)
        self._covered = until
        self._ahead = self._owed.next(until)

    def _differs(self, window: Window, rule: str, what: str, slot: int) -> None:
        if window.soft:
            self.note.leaves(rule, _OTHER_ZONE_DATA)
        else:
            self._finds(rule, what, slot)

    def _finds(self, rule: str, what: str, slot: int | None) -> None:
        self.note.finds(rule, what, job=self.job.id, slot=slot)
