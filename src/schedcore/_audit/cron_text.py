"""The strict cron grammar (``docs/cron.md``), read a second time and apart from the core.

It reads what the grammar admits and raises ``ValueError`` for the rest; what to write instead is not its
business.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

__all__ = ["CronText", "read_cron"]

_ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = {name: n for n, name in enumerate(_MONTH_NAMES, 1)}
_WEEK = {name: n for n, name in enumerate(_DAY_NAMES)}
_RANGE = re.compile(r"([0-9]{1,2}|[a-z]{3})(-([0-9]{1,2}|[a-z]{3}))?(/([0-9]{1,2}))?", re.ASCII)
_NTH = re.compile(r"([0-9]|[a-z]{3})#([1-5])", re.ASCII)
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class CronText:
    """Minutes of the day that are admitted, the days that are, and whether each of its slots fires once.

    ``wild`` is a job whose minute or hour begins with ``*``: it follows the clock through a change.
    """

    times: tuple[int, ...]
    wild: bool
    months: frozenset[int]
    days: frozenset[int]
    last: bool
    weekdays: frozenset[int]
    nth: frozenset[tuple[int, int]]
    either: bool

    def admits(self, day: date) -> bool:
        """Does a date pass the month and the two day fields? Sunday is 0."""
        if day.month not in self.months:
            return False
        weekday = day.isoweekday() % 7
        if self.last:
            return day.day == monthrange(day.year, day.month)[1]
        if self.nth:
            return (weekday, (day.day + 6) // 7) in self.nth
        in_month, in_week = day.day in self.days, weekday in self.weekdays
        return in_month or in_week if self.either else in_month and in_week


@lru_cache(maxsize=4_096)
def read_cron(text: str) -> CronText:
    """The expression of a text. Raises ``ValueError`` for whatever is outside the grammar."""
    if len(text) > _LONGEST or not text.isascii() or set(text) & set("\n\r\v\f"):
        raise ValueError("no cron text")
    words = text.lower().split()
    if len(words) == 1:
        words = _ALIASES.get(words[0], "").split()
    if len(words) != 5:
        raise ValueError("five fields")
    minute, hour, day, month, week = words
    last, counted = day == "l", "#" in week
    if (last and week != "*") or (counted and day != "*"):
        raise ValueError("L and # stand alone")
    minutes, hours = _numbers(minute, 0, 59), _numbers(hour, 0, 23)
    weekdays = _numbers("*" if counted else week, 0, 7, _WEEK)
    return CronText(
        times=tuple(sorted(60 * h + m for h in hours for m in minutes)),
        wild=minute.startswith("*") or hour.startswith("*"),
        months=_numbers(month, 1, 12, _MONTHS),
        days=frozenset() if last else _numbers(day, 1, 31),
        last=last,
        weekdays=frozenset(n % 7 for n in weekdays),
        nth=frozenset(_counted(item) for item in week.split(",")) if counted else frozenset(),
        either=not day.startswith("*") and not week.startswith("*"),
    )


def _numbers(field: str, low: int, high: int, names: dict[str, int] | None = None) -> frozenset[int]:
    """The values of one field. ``*`` alone, or a list of ``*/s``, ``a``, ``a-b``, ``a/s``, ``a-b/s``."""
    size = high if high == 7 else high - low + 1
    if field == "*":
        return frozenset(range(low, high + 1))
    found: set[int] = set()
    for item in field.split(","):
        if item.startswith("*/"):
            found |= set(range(low, 6 + 1 if high == 7 else high + 1, _step(item[2:], size)))
            continue
        read = _RANGE.fullmatch(item)
        if read is None:
            raise ValueError(item)
        first, end = _value(read[1], low, high, names), None
        if read[3] is not None:
            end = 7 if high == 7 and read[3] == "sun" and first > 0 else _value(read[3], low, high, names)
        elif read[5] is not None:
            if high == 7:
                raise ValueError(item)
            end = high
        end = first if end is None else end
        if end < first:
            raise ValueError(item)
        found |= set(range(first, end + 1, 1 if read[5] is None else _step(read[5], size)))
    return frozenset(found)


def _counted(item: str) -> tuple[int, int]:
    read = _NTH.fullmatch(item)
    if read is None:
        raise ValueError(item)
    return _value(read[1], 0, 7, _WEEK) % 7, int(read[2])


def _value(text: str, low: int, high: int, names: dict[str, int] | None) -> int:
    value = int(text) if text.isdigit() else (names or {}).get(text, -1)
    if not low <= value <= high:
        raise ValueError(text)
    return value


def _step(text: str, size: int) -> int:
    if not re.fullmatch(r"[0-9]{1,2}", text, re.ASCII) or not 1 <= int(text) <= size:
        raise ValueError(text)
    return int(text)
