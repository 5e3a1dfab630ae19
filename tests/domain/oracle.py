"""A second opinion on cron, by brute force. It imports nothing of schedcore and nothing of croniter.

A :class:`Window` walks some days around a clock change minute by minute and notes, for each wall minute,
which UTC minutes read it, and at which UTC minute the clock's high-water mark first reaches or passes it.
With that, an expression is a matter of looking up every wall minute that its five fields admit. All instants
are minutes since 1970 in UTC.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 1440


@cache
def zone(key: str) -> ZoneInfo:
    """The zone, from the same data as the product, opened in another way."""
    with files("tzdata.zoneinfo").joinpath(*key.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=key)


@dataclass(frozen=True)
class Expression:
    """A parser of its own: sets of plain numbers, from a text that is known to be right."""

    text: str

    def __post_init__(self) -> None:
        words = ALIASES.get(self.text.strip().lower(), self.text).split()
        minute, hour, day, month, weekday = words
        put = object.__setattr__
        put(self, "minutes", spread(minute, 0, 59, []))
        put(self, "hours", spread(hour, 0, 23, []))
        put(self, "months", spread(month, 1, 12, MONTHS))
        put(self, "last", day.lower() == "l")
        put(self, "days", set() if day.lower() == "l" else spread(day, 1, 31, []))
        put(self, "nth", [tuple(item.split("#")) for item in weekday.split(",")] if "#" in weekday else None)
        put(self, "weekdays", set() if "#" in weekday else {n % 7 for n in spread(weekday, 0, 7, WEEKDAYS)})
        put(self, "wild", minute.startswith("*") or hour.startswith("*"))
        put(self, "both", day.startswith("*") or weekday.startswith("*"))

    def admits(self, day: date) -> bool:
        """Does the day pass month, day-of-month and day-of-week?"""
        if day.month not in self.months:
            return False
        tomorrow = day + timedelta(days=1)
        by_day = tomorrow.day == 1 if self.last else day.day in self.days
        sunday_first = (day.weekday() + 1) % 7
        if self.nth is not None:
            by_week = any(
                sunday_first == spread(name, 0, 7, WEEKDAYS).pop() % 7
                and 7 * int(k) - 6 <= day.day <= 7 * int(k)
                for name, k in self.nth
            )
        else:
            by_week = sunday_first in self.weekdays
        return (by_day and by_week) if self.both else (by_day or by_week)

    def walls(self, first: date, last: date) -> list[int]:
        """All wall minutes that the fields admit from one day to another, in order."""
        times = sorted(60 * h + m for h in self.hours for m in self.minutes)
        found: list[int] = []
        day = first
        while day <= last:
            if self.admits(day):
                base = (day - EPOCH.date()).days * DAY
                found += [base + time for time in times]
            day += timedelta(days=1)
        return found


def spread(field: str, low: int, high: int, names: list[str]) -> set[int]:
    """The numbers of one field."""
    values: set[int] = set()
    for item in field.lower().split(","):
        span, _, step = item.partition("/")
        if span == "*":
            start, end = low, 6 if high == 7 else high
        else:
            ends = span.split("-")
            numbers = [names.index(e) + (high == 12) if e in names else int(e) for e in ends]
            start, end = numbers[0], numbers[-1]
            if high == 7 and len(ends) == 2 and ends[1] == "sun" and start > 0:
                end = 7
            if step and len(ends) == 1:
                end = high
        values |= set(range(start, end + 1, int(step or 1)))
    return values


class Window:
    """The UTC minutes of some days in a zone, walked one by one."""

    #: minutes at both ends about which nothing is said, because what lies outside would matter
    MARGIN = 26 * 60

    def __init__(self, key: str, start: int, length: int) -> None:
        self.key, self.start, self.end = key, start, start + length
        self.readers: dict[int, list[int]] = {}  # wall minute: the UTC minutes that read it
        self.crossed: dict[int, int] = {}  # wall minute: the UTC minute at which the clock has reached it
        self.moved: dict[int, int] = {}  # skipped wall minute: UTC minute if moved by the length of its gap
        walls = self._walk()
        high = walls[0] - 1
        for utc, wall in zip(range(self.start, self.end), walls, strict=True):
            self.readers.setdefault(wall, []).append(utc)
            if wall > high + 1:
                for skipped in range(high + 1, wall):
                    self.moved[skipped] = utc + skipped - (high + 1)
            while high < wall:
                high += 1
                self.crossed[high] = utc
        self.first_day = (EPOCH + timedelta(minutes=min(walls))).date()
        self.last_day = (EPOCH + timedelta(minutes=max(walls))).date()

    def _walk(self) -> list[int]:
        there = zone(self.key)
        walls = []
        for utc in range(self.start, self.end):
            local = (EPOCH + timedelta(minutes=utc)).astimezone(there).replace(tzinfo=UTC)
            walls.append((local - EPOCH) // timedelta(minutes=1))
        return walls

    def firings(self, expression: Expression, gap: str = "at_once", fold: str = "first") -> list[int]:
        """Every firing in the window, in order; only those away from the margins mean something."""
        found: set[int] = set()
        for wall in expression.walls(self.first_day, self.last_day):
            readers = self.readers.get(wall, [])
            if expression.wild:
                found.update(readers)
            elif readers:
                found.update({"first": readers[:1], "second": readers[-1:], "both": readers}[fold])
            elif wall in self.crossed and gap == "at_once":
                found.add(self.crossed[wall])
            elif wall in self.moved and gap == "shift":
                found.add(self.moved[wall])
        return sorted(found)


def changes(key: str, first_year: int, last_year: int) -> list[int]:
    """The UTC minutes at which the zone's offset changes, found by halving days."""
    there = zone(key)

    def offset(minute: int) -> timedelta | None:
        return (EPOCH + timedelta(minutes=minute)).astimezone(there).utcoffset()

    found = []
    start = (datetime(first_year, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(minutes=1)
    end = (datetime(last_year, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(minutes=1)
    before = offset(start)
    for day in range(start + DAY, end, DAY):
        if (after := offset(day)) != before:
            low, high = day - DAY, day
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == before else (low, middle)
            found.append(high)
            before = after
    return found


def expressions(rnd: random.Random, n: int) -> list[str]:
    """Random expressions in the strict grammar, leaning to the hours at which clocks change."""
    return [_expression(rnd) for _ in range(n)]


_MINUTES = [
    *("*", "*/5", "*/15", "*/20", "*/30", "*/7", "0", "0", "30", "15", "45", "59", "0,30", "10,35,40"),
    *("5/15", "0-10", "50-59/3", "34-36", "1,1,1", "7-7", "{a}", "{a}", "0-{b}/13"),
]
_HOURS = [
    *("*", "*", "*/2", "*/3", "*/6", "0", "0", "1", "1", "2", "2", "3", "1,2", "2,3", "0-23", "0-5", "23"),
    *("22-23", "3/6", "12", "9-17", "9-9", "{c}", "{c}", "{d}-{e}/5"),
]
_DAYS = ["*"] * 12 + ["*/2", "1-7", "L", "13", "1,15", "8-31", "1-31", "29", "31", "5/7", "28-31/3"]
_MONTHS = ["*"] * 10 + ["3,4,10,11", "MAR-OCT", "*/2", "2-12/3", "sep,Oct,nov", "3-3"]
_WEEKDAYS = ["*"] * 12 + [
    *("0", "7", "SUN", "1-5", "FRI-SUN", "5-7", "*/2", "MON,3,fri", "6,0", "0-7", "SAT-SAT", "1-7/2"),
    *("5#1", "0#4", "sun#5", "6#1,SUN#2,0#3", "MON-fri/2"),
]


def _expression(rnd: random.Random) -> str:
    if rnd.random() < 0.02:
        return rnd.choice(sorted(ALIASES))
    numbers = {
        "a": rnd.randrange(60),
        "b": rnd.randrange(1, 60),
        "c": rnd.randrange(24),
        "d": rnd.randrange(12),
        "e": rnd.randrange(12, 24),
    }
    minute, hour = rnd.choice(_MINUTES).format(**numbers), rnd.choice(_HOURS).format(**numbers)
    day, month, weekday = rnd.choice(_DAYS), rnd.choice(_MONTHS), rnd.choice(_WEEKDAYS)
    if day == "L":
        weekday = "*"
    if "#" in weekday:
        day = "*"
    return f"{minute} {hour} {day} {month} {weekday}"
