"""How the entries of a calendar are read: closed days, quiet hours, the time of a date alone (F-15).

Each reader takes a value and its field path, gives its canonical texts and what they come to, or refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, NamedTuple

from schedcore.domain.clock import DAY, MINUTE
from schedcore.domain.errors import Refused, nearest
from schedcore.domain.names import fold
from schedcore.domain.reading import wrong

__all__ = [
    "EPOCH",
    "MOST_CLOSED",
    "MOST_QUIET",
    "WEEKDAYS",
    "Entries",
    "Range",
    "merged",
    "read_closed",
    "read_day_time",
    "read_quiet",
]

EPOCH = date(1970, 1, 1)
WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
MOST_CLOSED = 1_000
MOST_QUIET = 24

Range = tuple[int, int]
"""Times of a day in microseconds, the end not included."""

_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
_YEARLY = re.compile(r"([0-9]{2})-([0-9]{2})", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_LEAP = 2000
_DAYS = "a date '2026-12-25', a day of every year '12-25', or a day of the week 'sunday'"


class Entries(NamedTuple):
    """Closed days: single ones by number, days of every year as (month, day), days of the week (Sunday is 0)."""

    days: frozenset[int] = frozenset()
    yearly: frozenset[tuple[int, int]] = frozenset()
    weekdays: frozenset[int] = frozenset()

    def closes(self, day: int) -> bool:
        """Is one of the entries this day?"""
        if day in self.days or (day + 4) % 7 in self.weekdays:
            return True
        if not self.yearly:
            return False
        there = date.fromordinal(EPOCH.toordinal() + day)
        return (there.month, there.day) in self.yearly


def read_closed(value: Any, field: str) -> tuple[tuple[str, ...], Entries]:
    """A list of closed days: their texts in order (weekdays, days of the year, dates) without repeats."""
    days: set[int] = set()
    yearly: set[tuple[int, int]] = set()
    weekdays: set[int] = set()
    for i, entry in enumerate(_listed(value, field, MOST_CLOSED, '["sunday", "12-25", "2026-04-06"]')):
        at = f"{field}[{i}]"
        if isinstance(entry, date) and not isinstance(entry, datetime):
            entry = entry.isoformat()  # TOML has dates of its own
        if not isinstance(entry, str):
            raise _bad(entry, "not a day", at, _DAYS)
        if _DATE.fullmatch(entry):
            days.add(_day(entry, at))
        elif found := _YEARLY.fullmatch(entry):
            yearly.add(_month_day(entry, int(found[1]), int(found[2]), at))
        else:
            weekdays.add(_weekday(entry, at))
    texts = (
        *(WEEKDAYS[n] for n in sorted(weekdays)),
        *(f"{month:02}-{day:02}" for month, day in sorted(yearly)),
        *(date.fromordinal(EPOCH.toordinal() + n).isoformat() for n in sorted(days)),
    )
    return texts, Entries(frozenset(days), frozenset(yearly), frozenset(weekdays))


def read_quiet(value: Any, field: str) -> tuple[tuple[str, ...], list[Range]]:
    """A list of quiet hours: their texts, and the ranges they come to; one over midnight comes to two."""
    if isinstance(value, str):
        value = [value]
    texts: dict[str, None] = {}
    ranges: list[Range] = []
    for i, entry in enumerate(_listed(value, field, MOST_QUIET, '["22:00-07:00"]')):
        at = f"{field}[{i}]"
        begin, dash, end = entry.partition("-") if isinstance(entry, str) else ("", "", "")
        if not dash:
            raise _bad(entry, "not a range of hours", at, "such as '22:00-07:00'")
        low, high = _clock(begin.strip(), entry, at), _clock(end.strip(), entry, at)
        if low == high:
            raise _bad(entry, "it begins where it ends", at, "to close whole days, write them into closed")
        texts[f"{begin.strip()}-{end.strip()}"] = None
        ranges += [(low, high)] if low < high else [(low, DAY), (0, high)]
    return tuple(texts), ranges


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Ranges in order, those that meet joined."""
    found: list[Range] = []
    for low, high in sorted(ranges):
        if low == high:
            continue
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def _clock(text: str, value: Any, field: str) -> int:
    """A time of day, ``00:00`` to ``23:59``, in microseconds since midnight."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        hint = "hours and minutes, 00:00 to 23:59; midnight is 00:00"
        raise _bad(value, f"{text!r} is no time of day", field, hint)
    return (int(found[1]) * 60 + int(found[2])) * MINUTE


def read_day_time(value: Any, field: str) -> str:
    """When a date without a time fires: ``HH:MM``."""
    if not isinstance(value, str) or not _CLOCK.fullmatch(value):
        raise wrong(f"{value!r} is no time of day", field, value, "bad_time", "such as '09:00'")
    return value


def _listed(value: Any, field: str, most: int, example: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _bad(value, "not a list", field, f"write {example}")
    if len(value) > most:
        raise _bad(len(value), f"there are {len(value)} entries", field, f"at most {most:,}")
    return value


def _day(entry: str, field: str) -> int:
    try:
        there = date.fromisoformat(entry)
    except ValueError:
        raise _bad(entry, "there is no such date", field, _DAYS) from None
    if not 1970 <= there.year <= 2200:
        raise _bad(entry, "the year is outside 1970-2200", field, _DAYS)
    return (there - EPOCH).days


def _month_day(entry: str, month: int, day: int, field: str) -> tuple[int, int]:
    try:
        date(_LEAP, month, day)
    except ValueError:
        hint = "month and day, such as '12-25'"
        raise _bad(entry, "no year has such a day", field, hint) from None
    return month, day


def _weekday(entry: str, field: str) -> int:
    name = fold(entry)
    for number, known in enumerate(WEEKDAYS):
        if name in (known, known[:3]):
            return number
    raise _bad(entry, "not a day", field, nearest(name, WEEKDAYS) or _DAYS)


def _bad(value: Any, what: str, field: str, hint: str) -> Refused:
    shown = value if isinstance(value, str | int) else repr(value)
    return wrong(f"{shown!r}: {what}", field, value, "bad_calendar", hint)
