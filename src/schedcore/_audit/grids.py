"""The slots of a trigger, enumerated: by days of the wall calendar for cron, by arithmetic for an interval.

A grid answers three questions about instants in microseconds: the next slot, how many there are between two
instants, and whether one is a slot. It is the audit's own opinion; the core is not asked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Protocol

from schedcore._audit.cron_text import CronText
from schedcore._audit.zone_clock import DAY_US, MINUTE_US, ZoneClock

__all__ = ["AtGrid", "Bounded", "CronGrid", "EveryGrid", "Grid"]

_FIRST = date(1970, 1, 1)
_NEAR = 2
"""Days around a UTC day whose wall times may fall into it, clock changes of a whole day included."""
_LAST_DAY = 110_000  # in the year 2271


class Grid(Protocol):
    """Where the slots of one trigger lie."""

    def next(self, after: int, until: int) -> int | None:
        """The first slot in ``(after, until]``."""
        ...

    def count(self, after: int, until: int) -> int:
        """How many slots are in ``(after, until]``."""
        ...


class AtGrid:
    """A single slot."""

    def __init__(self, us: int) -> None:
        self._us = us

    def next(self, after: int, until: int) -> int | None:
        """See :class:`Grid`."""
        return self._us if after < self._us <= until else None

    def count(self, after: int, until: int) -> int:
        """See :class:`Grid`."""
        return int(after < self._us <= until)


class EveryGrid:
    """An anchor plus whole periods; the anchor itself is a slot only if it was given."""

    def __init__(self, anchor: int, period: int, *, given: bool) -> None:
        self._anchor, self._period, self._least = anchor, period, 0 if given else 1

    def next(self, after: int, until: int) -> int | None:
        """See :class:`Grid`."""
        slot = self._anchor + max((after - self._anchor) // self._period + 1, self._least) * self._period
        return slot if slot <= until else None

    def count(self, after: int, until: int) -> int:
        """See :class:`Grid`."""
        return max(self._through(until) - self._through(after), 0)

    def _through(self, us: int) -> int:
        """How many slots lie at or before an instant."""
        return max((us - self._anchor) // self._period - self._least + 1, 0)


class CronGrid:
    """A cron expression on the clock of a zone, one UTC day after another.

    A wall time that the clock reads once fires then. Where it is skipped or read twice, a job with a wildcard
    fires whenever the clock reads it; a job of fixed times fires once, by its ``gap`` and ``fold``.
    """

    def __init__(self, text: CronText, clock: ZoneClock, gap: str = "at_once", fold: str = "first") -> None:
        self._text, self._clock, self._gap, self._fold = text, clock, gap, fold
        self._day = -1
        self._slots: list[int] = []
        self._odd: dict[int, list[int]] = {}

    def next(self, after: int, until: int) -> int | None:
        """See :class:`Grid`."""
        day = after // DAY_US
        last = min(until // DAY_US, _LAST_DAY)
        while day <= last:
            slots = self._of_day(day)
            at = bisect_right(slots, after)
            if at < len(slots):
                return slots[at] if slots[at] <= until else None
            day = self._following(day)
        return None

    def count(self, after: int, until: int) -> int:
        """See :class:`Grid`."""
        if until <= after:
            return 0
        first, last = after // DAY_US, min(until // DAY_US, _LAST_DAY)
        total = sum(self._number(day) for day in range(first, last + 1))
        before = bisect_right(self._of_day(first), after)
        slots = self._of_day(last)
        return total - before - (len(slots) - bisect_right(slots, until))

    def _of_day(self, day: int) -> list[int]:
        """The slots of a UTC day, rising; the day asked for last is kept."""
        if day != self._day:
            parts, odd = self._parts(day)
            slots = [base + n * MINUTE_US for base, times in parts for n in times]
            self._day, self._slots = day, sorted({*slots, *odd}) if odd else slots
        return self._slots

    def _number(self, day: int) -> int:
        """How many slots a UTC day has."""
        parts, odd = self._parts(day)
        return len(self._of_day(day)) if odd else sum(len(times) for _, times in parts)

    def _parts(self, day: int) -> tuple[list[tuple[int, tuple[int, ...]]], list[int]]:
        """What falls into a UTC day: (where a wall day begins, minutes of it), and firings of days with a change."""
        start = day * DAY_US
        parts: list[tuple[int, tuple[int, ...]]] = []
        odd: list[int] = []
        for wall_day in range(day - _NEAR, day + _NEAR + 1):
            base = self._clock.plain_day(wall_day)
            if base is None:
                odd += [us for us in self._walked(wall_day) if start <= us < start + DAY_US]
                continue
            low, high = start - base, start + DAY_US - base
            if low < DAY_US and high > 0 and self._admits(wall_day):
                times = self._text.times
                first, end = (bisect_left(times, -(-edge // MINUTE_US)) for edge in (low, high))
                parts.append((base, times[first:end]))
        return parts, odd

    def _walked(self, wall_day: int) -> list[int]:
        """When the slots of a wall day with a clock change fire: each wall time is asked for by itself."""
        if wall_day not in self._odd:
            if len(self._odd) > 2 * _NEAR:
                self._odd.clear()
            walls = self._text.times if self._admits(wall_day) else ()
            fires = {us for n in walls for us in self._fires(wall_day * DAY_US + n * MINUTE_US)}
            self._odd[wall_day] = sorted(fires)
        return self._odd[wall_day]

    def _fires(self, wall_us: int) -> Iterator[int]:
        read = self._clock.readings(wall_us)
        if self._text.wild or len(read.instants) == 1:
            yield from read.instants
        elif read.instants:
            if self._fold in {"first", "both"}:
                yield read.instants[0]
            if self._fold in {"second", "both"}:
                yield read.instants[1]
        elif self._gap == "at_once" and read.reached is not None:
            yield read.reached
        elif self._gap == "shift" and read.shifted is not None:
            yield read.shifted

    def _admits(self, day: int) -> bool:
        return self._text.admits(_FIRST + timedelta(days=day))

    def _following(self, day: int) -> int:
        """The next UTC day worth looking at: a month that is not admitted is passed over but for its edges."""
        there = _FIRST + timedelta(days=day)
        if there.month in self._text.months or not 1 + _NEAR < there.day < 20:
            return day + 1
        return day + 5


class Bounded:
    """A grid between two instants, both inclusive; ``None`` is no bound."""

    def __init__(self, grid: Grid, first: int | None, last: int | None) -> None:
        self._grid, self._first, self._last = grid, first, last

    def next(self, after: int, until: int) -> int | None:
        """See :class:`Grid`."""
        return self._grid.next(*self._cut(after, until))

    def count(self, after: int, until: int) -> int:
        """See :class:`Grid`."""
        return self._grid.count(*self._cut(after, until))

    def _cut(self, after: int, until: int) -> tuple[int, int]:
        after = after if self._first is None else max(after, self._first - 1)
        return after, until if self._last is None else min(until, self._last)
