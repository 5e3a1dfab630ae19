"""The cron grammar: strict on purpose, read in linear time before any library sees the text (T-02, R-13).

What two cron implementations read in two ways is refused, with what to write instead. The result is the five
fields in a plain form (digits, no names, no one-value ranges) and the two facts that only the text shows:
whether the job is one of fixed times, and whether the day fields are joined by OR.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from schedcore.domain.errors import Refused, shown

__all__ = ["CronFields", "read_fields"]

_LONGEST = 256
_ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTH_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAY_NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MONTHS = {name: n for n, name in enumerate(_MONTH_NAMES, 1)}
_DAYS = {name: n for n, name in enumerate(_DAY_NAMES)}
_ITEM = re.compile(r"([0-9]{1,2}|[A-Za-z]{3})(?:-([0-9]{1,2}|[A-Za-z]{3}))?(?:/([0-9]{1,2}))?", re.ASCII)
_STAR = re.compile(r"\*(?:/([0-9]{1,2}))?", re.ASCII)
_NTH = re.compile(r"([0-9]|[A-Za-z]{3})#([0-9])", re.ASCII)


class CronFields(NamedTuple):
    """A cron text after the grammar: five plain fields, and what the stars said."""

    minute: str
    hour: str
    day: str
    month: str
    weekday: str
    #: minute and hour both do not begin with ``*``: each slot fires once (rule, line 2)
    fixed: bool
    #: neither day field begins with ``*``: a day that either of them admits (rule, line 1)
    either: bool


class _Field(NamedTuple):
    name: str
    low: int
    high: int
    size: int
    names: dict[str, int]


_FIELDS = (
    _Field("minute", 0, 59, 60, {}),
    _Field("hour", 0, 23, 24, {}),
    _Field("day-of-month", 1, 31, 31, {}),
    _Field("month", 1, 12, 12, _MONTHS),
    _Field("day-of-week", 0, 7, 7, _DAYS),
)


def read_fields(text: str) -> CronFields:
    """The fields of a cron text. Raises :class:`Refused` (``bad_cron``) with what to write instead. (T-02)"""
    words = _words(text)
    parts = [_plain(field, word) for field, word in zip(_FIELDS, words, strict=True)]
    day, weekday = words[2], words[4]
    if day.upper() == "L":
        if weekday != "*":
            raise _bad(text, "L goes with '*' as day-of-week only", "e.g. '0 9 L * *'")
        parts[2] = "L"
    if "#" in weekday and day != "*":
        raise _bad(text, "# goes with '*' as day-of-month only", "e.g. '0 9 * * 5#2', the second Friday")
    fixed = words[0][0] != "*" and words[1][0] != "*"
    return CronFields(
        parts[0], parts[1], parts[2], parts[3], parts[4], fixed, day[0] != "*" and weekday[0] != "*"
    )


def _words(text: str) -> list[str]:
    if not isinstance(text, str):
        raise _bad(text, "a cron expression is a text", "e.g. '0 9 * * 1-5'")
    if len(text) > _LONGEST:
        raise _bad(text, f"{len(text)} characters are too many for a cron expression", f"at most {_LONGEST}")
    if not text.isascii() or any(c != "\t" and not " " <= c <= "~" for c in text):
        odd = next(c for c in text if c != "\t" and not " " <= c <= "~")
        raise _bad(
            text, f"{odd!a} cannot stand in a cron expression", "ASCII digits, names, blanks and tabs only"
        )
    words = text.replace("\t", " ").split(" ")
    words = [word for word in words if word]
    if words and words[0].startswith("@"):
        return _alias(text, words)
    if len(words) != 5:
        raise _count(text, words)
    return words


def _alias(text: str, words: list[str]) -> list[str]:
    name = words[0].lower()
    if len(words) == 1 and name in _ALIASES:
        return _ALIASES[name].split()
    if name == "@reboot":
        hint = "what starts this machine's services starts that; a job says when, such as '*/5 * * * *'"
        raise _bad(text, "@reboot is no time", hint)
    if name == "@every":
        raise _bad(
            text, "@every is an interval, not cron", 'write {"every": "5m"}, on the command line --every 5m'
        )
    raise _bad(text, f"{words[0]!r} is no cron alias", "one of " + " ".join(_ALIASES))


def _count(text: str, words: list[str]) -> Refused:
    if "#" in words[5:6]:
        return _bad(text, "a cron expression has no comment", f"write {' '.join(words[:5])!r}")
    if len(words) in (6, 7):
        return _bad(
            text,
            f"{len(words)} fields: seconds come first in some crons and last in others; years are not taken",
            "five fields: minute hour day-of-month month day-of-week; for seconds use every",
        )
    hint = "minute hour day-of-month month day-of-week, e.g. '0 9 * * 1-5'"
    return _bad(text, f"a cron expression has five fields, not {len(words)}", hint)


def _plain(field: _Field, word: str) -> str:
    if field.name == "day-of-month" and word.upper() == "L":
        return word
    if field.name == "day-of-week" and "#" in word:
        return ",".join(_nth(field, item) for item in word.split(","))
    if word == "*":
        return word
    return ",".join(_item(field, item, word) for item in word.split(","))


def _nth(field: _Field, item: str) -> str:
    found = _NTH.fullmatch(item)
    if not found:
        hint = "write a list of day#number alone, e.g. '5#1,5#3'"
        raise _wrong(field, item, "# stands between one day and a number, and mixes with nothing", hint)
    day, which = _value(field, found[1], item) % 7, int(found[2])
    if not 1 <= which <= 5:
        raise _wrong(field, item, f"a month has no weekday number {which}", "1 to 5")
    return f"{day}#{which}"


def _item(field: _Field, item: str, word: str) -> str:
    star = _STAR.fullmatch(item)
    if star and item == "*":
        raise _wrong(field, word, "a '*' in a list voids the rest", "write '*' alone, or the list without it")
    if star:
        return f"*/{_step(field, star[1], item)}"
    found = _ITEM.fullmatch(item)
    if not found:
        raise _strange(field, item)
    low = _value(field, found[1], item)
    high = low if found[2] is None else _value(field, found[2], item)
    if found[2] and found[2].upper() == "SUN" and low > 0:
        high = 7
    if high < low:
        raise _wrong(field, item, "the range runs backwards", f"write {_turned(field, low, high)!r}")
    step = None if found[3] is None else _step(field, found[3], item)
    if step and found[2] is None:
        if field.name == "day-of-week":
            hint = f"write '{low}-6/{step}' without Sunday or '{low}-7/{step}' with it"
            raise _wrong(field, item, "a start with a step is read with and without Sunday", hint)
        high = field.high
    if low == high:
        return str(low)
    return f"{low}-{high}/{step}" if step else f"{low}-{high}"


def _value(field: _Field, text: str, item: str) -> int:
    if not text.isdigit():
        if text.upper() not in field.names:
            names = " ".join(field.names) if field.names else f"{field.low}-{field.high}, names are not taken"
            raise _wrong(field, item, f"{text!r} is no {field.name}", names)
        return field.names[text.upper()]
    value = int(text)
    if not field.low <= value <= field.high:
        raise _wrong(field, item, f"{value} is outside {field.low}-{field.high}", "")
    return value


def _step(field: _Field, text: str, item: str) -> int:
    step = int(text)
    if not 1 <= step <= field.size:
        hint = f"1 to {field.size}; a longer period is an interval, e.g. every 90m"
        raise _wrong(field, item, f"a step of {step} cannot be kept in {field.name}", hint)
    return step


def _turned(field: _Field, low: int, high: int) -> str:
    """The reversed range as a list of two that run forwards."""
    if field.name == "day-of-week":
        return f"{low}-7" if high == 0 else f"{low}-7,1-{high}" if high > 1 else f"{low}-7,1"
    first = str(low) if low == field.high else f"{low}-{field.high}"
    second = str(high) if high == field.low else f"{field.low}-{high}"
    return f"{first},{second}"


_STRANGE = (
    (r"", "an empty list item", "take one comma away"),
    (r"\?", "'?' belongs to other crons", "write '*'"),
    (
        r"[hH](?:\(.*)?(?:/.*)?",
        "H needs a name to hash and is read by one cron only",
        "write a number, or use jitter",
    ),
    (r"[rR](?:\(.*)?(?:/.*)?", "R is another time at every start", "write a number, or use jitter"),
    (r".*~.*", "'~' is another time at every start", "write a number, or use jitter"),
    (r"(?i:[0-9]*LW|[0-9]{1,2}W)", "W is not taken", "name the days, e.g. '1-3', or use a calendar"),
    (r"(?i:L-[0-9]+)", "days counted from the end of the month are not taken", "L alone is the last day"),
    (r"(?i:[0-9A-Z]{1,3}L|L[0-9A-Z]{0,3})", "L is taken as the day-of-month alone", "e.g. '0 9 L * *'"),
    (r"[+-].*", "signs are not taken", "write the number alone"),
    (r"\*[0-9A-Za-z-].*", "something hangs on the '*'", "write '*' alone or '*/5'"),
    (r"/.*", "a step of nothing", "write '*/5'"),
    (r".*/.*/.*", "two steps", "write one, e.g. '0-30/5'"),
    (r"[0-9]{3,}.*", "more than two digits", "write one or two"),
)
_STRANGE_READ = tuple((re.compile(pattern, re.ASCII), what, hint) for pattern, what, hint in _STRANGE)


def _strange(field: _Field, item: str) -> Refused:
    for pattern, what, hint in _STRANGE_READ:
        if pattern.fullmatch(item):
            return _wrong(field, item, what, hint)
    names = f", or names such as {next(iter(field.names))}" if field.names else ""
    return _wrong(
        field, item, "cannot be read", f"a, a-b, a-b/s or */s with numbers {field.low}-{field.high}{names}"
    )


def _wrong(field: _Field, item: str, what: str, hint: str) -> Refused:
    return Refused(f"{field.name} {shown(item)}: {what}", code="bad_cron", value=item, hint=hint or None)


def _bad(text: object, what: str, hint: str) -> Refused:
    return Refused(f"{shown(text)}: {what}", code="bad_cron", value=text, hint=hint)
