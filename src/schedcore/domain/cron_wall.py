"""The wall calendar of a cron expression: its minutes, counted on a clock that never changes.

A wall minute is a number: minutes since 1970 as the zone's clock reads, as if it were UTC. What a clock
change does to them is decided in :mod:`cron_pieces`; here is only the calendar.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import Any

from schedcore.domain.cron_days import FIRST_DAY, LAST_DAY, DaySet
from schedcore.domain.cron_grammar import CronFields
from schedcore.domain.errors import Refused

__all__ = ["FIRST_WALL", "LAST_WALL", "WallSet", "wall_set"]

_DAY = 1440

#: Wall minutes between which everything here is right: ``[FIRST_WALL, LAST_WALL)``.
FIRST_WALL, LAST_WALL = FIRST_DAY * _DAY, (LAST_DAY + 1) * _DAY


class WallSet:
    """The wall minutes of one expression: some minutes of the day on some days."""

    __slots__ = ("days", "minutes")

    def __init__(self, minutes: tuple[int, ...], days: DaySet) -> None:
        self.minutes, self.days = minutes, days

    def first(self, low: int, high: int, limit: int = LAST_DAY) -> int | None:
        """The first slot in ``[low, high)``; no day after ``limit`` is looked at."""
        if low >= high:
            return None
        day, minute = divmod(low, _DAY)
        last = (high - 1) // _DAY
        last = min(last, limit)
        minutes, days = self.minutes, self.days
        found = days.next(day, last)
        if found == day:
            if minute <= minutes[-1]:
                wall = day * _DAY + minutes[bisect_left(minutes, minute)]
                return wall if wall < high else None
            found = days.next(day + 1, last)
        if found > last:
            return None
        wall = found * _DAY + minutes[0]
        return wall if wall < high else None

    def last(self, low: int, high: int) -> int | None:
        """The last slot in ``[low, high)``."""
        if low >= high:
            return None
        day, minute = divmod(high - 1, _DAY)
        first = low // _DAY
        minutes, days = self.minutes, self.days
        found = days.previous(day, first)
        if found == day:
            if minute >= minutes[0]:
                wall = day * _DAY + minutes[bisect_right(minutes, minute) - 1]
                return wall if wall >= low else None
            found = days.previous(day - 1, first)
        if found < first:
            return None
        wall = found * _DAY + minutes[-1]
        return wall if wall >= low else None

    def all(self, low: int, high: int) -> list[int]:
        """Every slot in ``[low, high)``; for short stretches."""
        found = []
        while (wall := self.first(low, high)) is not None:
            found.append(wall)
            low = wall + 1
        return found

    def count(self, low: int, high: int) -> int:
        """How many slots are in ``[low, high)``, by arithmetic."""
        if low >= high:
            return 0
        (first, early), (last, late) = divmod(low, _DAY), divmod(high, _DAY)
        total = self.days.count(first, last) * len(self.minutes)
        if early and self.days.has(first):
            total -= bisect_left(self.minutes, early)
        if late and self.days.has(last):
            total += bisect_left(self.minutes, late)
        return total

    def same(self, other: WallSet) -> bool:
        """Do both hold the same minutes?"""
        return self.minutes == other.minutes and self.days.same(other.days)


def wall_set(fields: CronFields) -> WallSet:
    """The minutes of an expression that the grammar let through.

    Raises :class:`Refused` (``never_fires``) when no day is ever admitted, such as 30 February. Any other set
    of days comes again within 40 years: the longest wait is for a leap day on a given weekday. (T-02)
    """
    days = _days(fields.day, fields.month, fields.weekday, fields.either)
    if days.empty():
        raise Refused(
            f"day-of-month {fields.day!r} in month {fields.month!r} never comes",
            code="never_fires",
            hint="no such month has that day",
        )
    return WallSet(_minutes(fields.minute, fields.hour), days)


@lru_cache(maxsize=512)
def _days(day: str, month: str, weekday: str, either: bool) -> DaySet:
    """The days of three plain fields; shared by all expressions that have them."""
    (_, _, days, months, weekdays), nth = _expand(f"0 0 {day} {month} {weekday}")
    nths = frozenset((on, int(which)) for on, every in nth.items() for which in every)
    last = list(days) == ["l"]
    named = frozenset[int]() if last else _whole(days, 1, 31)
    return DaySet(_whole(months, 1, 12), named, _whole(weekdays, 0, 6), nths, last, either)


@lru_cache(maxsize=512)
def _minutes(minute: str, hour: str) -> tuple[int, ...]:
    """The minutes of a day (0-1439) of two plain fields, rising; shared like the days."""
    (minutes, hours, *_), _ = _expand(f"{minute} {hour} * * *")
    return tuple(60 * h + m for h in sorted(_whole(hours, 0, 23)) for m in sorted(_whole(minutes, 0, 59)))


def _expand(text: str) -> Any:
    # Imported here: it is heavy, and a host without a cron job does not need it. Only the sets are asked of
    # it, never a time: its zones and its clock changes are not ours.
    from croniter import croniter

    return croniter.expand(text)


def _whole(values: Any, low: int, high: int) -> frozenset[int]:
    if list(values) == ["*"]:
        return frozenset(range(low, high + 1))
    return frozenset(int(value) for value in values)
