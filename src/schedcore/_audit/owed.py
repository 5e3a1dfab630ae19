"""What is owed: the definitions of a job as windows of time, each with the grid of its trigger.

A window runs from where the definition begins to where the next one begins. The instant at which a trigger is
new is no slot of it; where a definition goes on with the trigger of the one before, the first instant counts.
A job that is done or retired owes nothing, and begins anew when it becomes active again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schedcore._audit.grids import Grid
from schedcore._audit.stored import Stored, made_elsewhere, read_trigger

__all__ = ["ALWAYS", "NEVER", "Definition", "Owed", "Window", "windows_of"]

ALWAYS, NEVER = -(2**62), 2**62
_OWING = frozenset({"active", "paused", "pending"})
_HORIZON = 51 * 366 * 86_400_000_000
"""How far ahead a next slot is looked for: a trigger without one in 50 years was never taken."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A row of ``definitions``."""

    number: int
    valid_from: int
    valid_to: int | None
    state: str
    trigger: str
    tz_version: str


@dataclass(slots=True)
class Window:
    """The slots of one definition: those of ``grid`` in ``(after, until]``.

    ``soft`` windows were made with other zone data: what differs there is no finding. ``epoch`` is the number
    of the definition that brought the trigger. ``spent`` says that the trigger's count ends the window. Where
    ``grid`` is ``None``, ``stored.why`` says why.
    """

    number: int
    epoch: int
    after: int
    until: int
    stored: Stored
    owing: bool
    soft: bool
    spent: bool = False

    @property
    def grid(self) -> Grid | None:
        """Where its slots lie, if that is known."""
        return self.stored.grid

    def holds(self, slot: int) -> bool:
        """Is this a slot of the grid, wherever the window begins and ends?"""
        return self.grid is not None and self.grid.next(slot - 1, slot) is not None


class Owed:
    """All windows of one job, asked forwards."""

    def __init__(self, windows: Iterable[Window], through: int) -> None:
        self._windows = [w for w in windows if w.owing and w.grid is not None and w.after < w.until]
        self._through = through
        self._at = 0

    def next(self, after: int) -> tuple[int, Window] | None:
        """The first slot that is owed later than an instant; each question is for a later one."""
        while self._at < len(self._windows):
            window = self._windows[self._at]
            assert window.grid is not None
            low, high = max(after, window.after), min(window.until, self._through)
            if low < high and (slot := window.grid.next(low, min(high, low + _HORIZON))) is not None:
                return slot, window
            self._at += 1
        return None

    def within(self, first: int, last: int) -> int:
        """How many slots that are owed lie in ``[first, last]``."""
        total = 0
        for window in self._windows:
            low, high = max(first - 1, window.after), min(last, window.until, self._through)
            if window.grid is not None and low < high:
                total += window.grid.count(low, high)
        return total


def windows_of(definitions: Sequence[Definition], through: int | None) -> list[Window]:
    """The windows of a job, ``through`` its ``last_slot``; one whose trigger has a count ends with it."""
    made: list[Window] = []
    before: Definition | None = None
    began = ALWAYS
    for one in definitions:
        anew = before is None or (one.state == "active" and before.state not in _OWING)
        goes_on = before is not None and not anew and _same(before.trigger, one.trigger)
        began = max(began, one.valid_from - 1) if goes_on else one.valid_from
        stored = read_trigger(one.trigger)
        until = NEVER if one.valid_to is None else one.valid_to - 1
        soft = made_elsewhere(stored, one.tz_version)
        epoch = made[-1].epoch if goes_on else one.number
        made.append(Window(one.number, epoch, began, until, stored, one.state in _OWING, soft))
        before = one
    if through is not None:
        _cut_by_count(made, through)
    return made


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def _cut_by_count(windows: Sequence[Window], through: int) -> None:
    """A trigger with a count has no slots behind its last one."""
    left: dict[int, int] = {}
    for window in windows:
        grid, count = window.grid, window.stored.count
        if grid is None or count is None or not window.owing:
            continue
        rest = left.setdefault(window.epoch, count)
        last = min(window.until, through)
        there = grid.count(window.after, last) if window.after < last else 0
        if there > rest:
            window.spent = True
            window.until = _nth(grid, window.after, last, rest) if rest else window.after
        left[window.epoch] = max(rest - there, 0)


def _nth(grid: Grid, after: int, until: int, number: int) -> int:
    """The instant of the slot with this number, counted from 1 behind an instant."""
    low, high = after, until
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if grid.count(after, middle) < number else (low, middle)
    return high
