"""The closed time of a calendar, and grids whose closed slots are moved out of it: the audit's own opinion.

A calendar stands whole in the text of a trigger. It closes an instant by what the zone's clock reads then.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from schedcore._audit.grids import Grid
from schedcore._audit.zone_clock import DAY_US, MINUTE_US, ZoneClock

__all__ = ["ClosedTime", "MovedGrid"]

_FIRST = date(1970, 1, 1)
_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_BACK = 3
"""Days before a UTC day in which a quiet night may begin, or a closed day, that ends in it."""


class ClosedTime:
    """What a stored calendar closes, on the clock of a zone."""

    def __init__(self, stored: Mapping[str, Any], clock: ZoneClock) -> None:
        self._clock = clock
        self._days = frozenset(str(entry) for entry in stored.get("closed", ()))
        self._hours = [_range(entry) for entry in stored.get("quiet", ())]
        self.day = lru_cache(maxsize=4_096)(self._day)

    def holds(self, us: int) -> bool:
        """Is an instant closed?"""
        day, time = divmod(self._clock.wall(us), DAY_US)
        return self.day(day) or self._left(time) > 0

    def moved(self, us: int) -> int:
        """Where a slot goes: out of quiet hours to their end, then from a closed day to the next open one."""
        while True:
            day, time = divmod(self._clock.wall(us), DAY_US)
            if left := self._left(time):
                us = self._later(us, day * DAY_US + time, left)
            elif self.day(day):
                us = self._open(us, day, time)
            else:
                return us

    def _day(self, day: int) -> bool:
        there = _FIRST + timedelta(days=day)
        return bool(self._days & {there.isoformat(), there.isoformat()[5:], _NAMES[there.weekday()]})

    def _left(self, time: int) -> int:
        """How long it is still quiet at a time of day, as far as one entry says; 0 where it is not."""
        ends = [
            (high - time) % DAY_US
            for low, high in self._hours
            if (time - low) % DAY_US < (high - low) % DAY_US
        ]
        return max(ends, default=0)

    def _later(self, us: int, wall: int, left: int) -> int:
        """The end of the quiet hours: so much later, unless the clock is changed before."""
        if self._clock.wall(us + left) == wall + left:
            return us + left
        us -= wall % MINUTE_US
        while True:
            us += MINUTE_US
            if not self._left(self._clock.wall(us) % DAY_US):
                return us

    def _open(self, us: int, day: int, time: int) -> int:
        while True:
            day += 1
            if self.day(day):
                continue
            read = self._clock.readings(day * DAY_US + time)
            for there in read.instants or (read.reached or 0,):
                if there > us:
                    return there


class MovedGrid:
    """A grid whose closed slots are moved; those that meet are one."""

    def __init__(self, grid: Grid, closed: ClosedTime) -> None:
        self._grid, self._closed = grid, closed
        self._of_day = lru_cache(maxsize=512)(self._slots)

    def next(self, after: int, until: int) -> int | None:
        """See :class:`Grid`."""
        day = after // DAY_US
        while day <= until // DAY_US:
            slots = self._of_day(day)
            at = bisect_right(slots, after)
            if at < len(slots):
                return slots[at] if slots[at] <= until else None
            day = self._following(day, until)
        return None

    def count(self, after: int, until: int) -> int:
        """See :class:`Grid`."""
        total, day = 0, after // DAY_US
        while after < until and day <= until // DAY_US:
            slots = self._of_day(day)
            total += bisect_right(slots, until) - bisect_right(slots, after)
            day = self._following(day, until)
        return total

    def _following(self, day: int, until: int) -> int:
        """The next UTC day that may have a slot: days of a line without slots are passed over."""
        slot = self._grid.next(self._since(day + 1) - 1, until)
        return until // DAY_US + 1 if slot is None else max(day + 1, slot // DAY_US)

    def _since(self, day: int) -> int:
        """The instant from which on slots may be moved into a UTC day."""
        back = day - _BACK
        while self._closed.day(back):
            back -= 1
        return (back - 1) * DAY_US

    def _slots(self, day: int) -> list[int]:
        start, end = day * DAY_US, (day + 1) * DAY_US
        found: set[int] = set()
        at = self._since(day) - 1
        while (slot := self._grid.next(at, end - 1)) is not None:
            there = self._closed.moved(slot)
            if start <= there < end:
                found.add(there)
            at = slot
        return sorted(found)


def _range(entry: str) -> tuple[int, int]:
    low, high = (int(part[:2]) * 60 + int(part[3:5]) for part in entry.split("-"))
    return low * MINUTE_US, high * MINUTE_US
