"""The days that a cron expression admits.

There are fourteen kinds of year (leap or not, seven weekdays of 1 January). A set of days is one row of bytes
per kind, so the next, the previous and the number of admitted days are searches that run in C.
"""

from __future__ import annotations

from bisect import bisect_right
from calendar import isleap, monthrange
from datetime import date

__all__ = ["FIRST_DAY", "LAST_DAY", "DaySet"]

_FIRST_YEAR, _LAST_YEAR = 1968, 2262
_EPOCH = date(1970, 1, 1).toordinal()
_STARTS = [date(year, 1, 1).toordinal() - _EPOCH for year in range(_FIRST_YEAR, _LAST_YEAR + 2)]
#: kind of each year: 0-6 weekday of 1 January (Monday is 0), plus 7 in a leap year
_KINDS = [date(y, 1, 1).weekday() + 7 * isleap(y) for y in range(_FIRST_YEAR, _LAST_YEAR + 1)]
_SAMPLES = {kind: year for year, kind in zip(range(_FIRST_YEAR, _LAST_YEAR + 1), _KINDS, strict=True)}

#: Days since 1970 between which everything here is right.
FIRST_DAY, LAST_DAY = _STARTS[0], _STARTS[-1] - 1


class DaySet:
    """The days that month, day-of-month and day-of-week admit together. Days count from 1970-01-01."""

    __slots__ = ("_counts", "_rows", "_rule", "every")

    def __init__(
        self,
        months: frozenset[int],
        days: frozenset[int],
        weekdays: frozenset[int],
        nth: frozenset[tuple[int, int]],
        last: bool,
        either: bool,
    ) -> None:
        self._rule = months, days, weekdays, nth, last, either
        self._rows: list[bytes | None] = [None] * 14
        self._counts: list[int] = [0] * 14
        #: every day there is
        self.every = len(months) == 12 and not nth and not last and len(days) == 31 and len(weekdays) == 7

    def next(self, day: int, limit: int) -> int:
        """The first admitted day in ``[day, limit]``, or a number above ``limit``."""
        limit = min(limit, LAST_DAY)
        if day > limit:
            return limit + 1
        if self.every:
            return day
        year = bisect_right(_STARTS, day) - 1
        while True:
            start = _STARTS[year]
            found = (self._rows[_KINDS[year]] or self._row(_KINDS[year])).find(1, day - start)
            if found >= 0:
                return start + found
            year += 1
            day = _STARTS[year]
            if day > limit:
                return day

    def previous(self, day: int, limit: int) -> int:
        """The last admitted day in ``[limit, day]``, or a number below ``limit``."""
        limit = max(limit, FIRST_DAY)
        if day < limit:
            return limit - 1
        if self.every:
            return day
        year = bisect_right(_STARTS, day) - 1
        while True:
            start = _STARTS[year]
            found = (self._rows[_KINDS[year]] or self._row(_KINDS[year])).rfind(1, 0, day - start + 1)
            if found >= 0:
                return start + found
            day = start - 1
            year -= 1
            if day < limit:
                return day

    def has(self, day: int) -> bool:
        """Is the day admitted?"""
        return self.next(day, day) == day

    def count(self, first: int, until: int) -> int:
        """How many days in ``[first, until)`` are admitted."""
        if until <= first:
            return 0
        if self.every:
            return until - first
        total = 0
        year = bisect_right(_STARTS, first) - 1
        while first < until:
            start, end = _STARTS[year], _STARTS[year + 1]
            row = self._rows[_KINDS[year]] or self._row(_KINDS[year])
            if first == start and end <= until:
                total += self._counts[_KINDS[year]]
            else:
                total += row.count(1, first - start, min(until, end) - start)
            year += 1
            first = end
        return total

    def empty(self) -> bool:
        """Is no day of any kind of year admitted?"""
        return not any(1 in self._row(kind) for kind in range(14))

    def same(self, other: DaySet) -> bool:
        """Do both admit the same days?"""
        return self is other or all(self._row(kind) == other._row(kind) for kind in range(14))

    def _row(self, kind: int) -> bytes:
        if (known := self._rows[kind]) is not None:
            return known
        months, days, weekdays, nth, last, either = self._rule
        year, row = _SAMPLES[kind], bytearray()
        for month in range(1, 13):
            weekday, length = monthrange(year, month)
            weekday = (weekday + 1) % 7  # cron counts from Sunday
            for day in range(1, length + 1):
                in_days = day == length if last else day in days
                in_week = (weekday, (day + 6) // 7) in nth if nth else weekday in weekdays
                row.append(month in months and ((in_days or in_week) if either else (in_days and in_week)))
                weekday = (weekday + 1) % 7
        self._counts[kind] = row.count(1)
        self._rows[kind] = bytes(row)
        return bytes(row)
