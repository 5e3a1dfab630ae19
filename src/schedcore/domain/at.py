"""One-shots: an RFC 3339 instant, or a wall clock of the job's zone (T-04).

With an offset or ``Z`` the text is that instant and the zone is only for display. Without one it is a wall
clock of the job's zone, never of the machine's, and means the first instant at which that clock reaches it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from schedcore.domain.clock import MILLISECOND, MINUTE, SECOND, text, to_us
from schedcore.domain.clock_note import ClockNote, wall_day, wall_time
from schedcore.domain.errors import Refused, shown
from schedcore.domain.timeline import timeline

__all__ = ["GRACE_S", "At", "is_date", "parse_instant", "refuse_past"]

#: How far in the past a one-shot may be at registration: it is then due at once. Seconds.
GRACE_S = 60

_LONGEST = 64
_FORM = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))?",
    re.ASCII,
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_WRITE = "write e.g. '2026-11-01T09:30' for the job's zone, or '2026-11-01T09:30:00-05:00'"
_FIRST = to_us(datetime(1970, 1, 1, tzinfo=UTC))
_LAST = to_us(datetime(2201, 1, 1, tzinfo=UTC)) - MILLISECOND


class At:
    """A single slot."""

    __slots__ = ("note", "us")

    def __init__(self, us: int, note: ClockNote | None = None) -> None:
        self.us, self.note = us, note

    def next(self, after_us: int) -> int | None:
        """The slot, if it is strictly later than an instant."""
        return self.us if self.us > after_us else None

    def count_between(self, after_us: int, until_us: int) -> int:
        """1 if the slot is in ``(after, until]``, else 0."""
        return int(after_us < self.us <= until_us)

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """The slot, if it is in ``(after, until]``."""
        return [self.us] if n > 0 and after_us < self.us <= until_us else []

    def touched(self, us: int) -> ClockNote | None:
        """What a clock change did to the wall clock that was given."""
        return self.note if us == self.us else None

    def same_times(self, other: At) -> bool:
        """The same instant, however written."""
        return self.us == other.us


def parse_instant(
    value: str, zone: str = "UTC", field: str | None = None, *, day_time: str | None = None
) -> tuple[int, ClockNote | None]:
    """The instant of a text, and a note if a clock change touches it.

    ``zone`` is the zone of a text without offset; ``day_time`` (``HH:MM``) the time of a text that is a date
    alone, which is refused without it. Raises :class:`Refused` (``bad_instant``, ``unknown_zone``).
    (T-04, T-05, F-15)
    """
    found = _read(value, field, day_time)
    day, clock, seconds, fraction, zulu, sign, hours, minutes = found
    try:
        naive = datetime.fromisoformat(f"{day}T{clock}:{seconds or '00'}").replace(tzinfo=UTC)
    except ValueError:
        raise _bad(
            value, "there is no such date or time", "hours 00-23, minutes and seconds 00-59", field
        ) from None
    if not 1969 <= naive.year <= 2201:
        raise _years(value, field)
    wall = to_us(naive) + _milliseconds(value, fraction, field) * MILLISECOND
    if zulu or sign:
        us, note = wall - _offset(value, sign, hours, minutes, field), None
    else:
        us, note = _in_zone(wall, zone)
    if not _FIRST <= us <= _LAST:
        raise _years(value, field)
    return us, note


def is_date(value: object) -> bool:
    """Is this the text of a date alone, ``2026-05-03``?"""
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def refuse_past(us: int, now_us: int, field: str | None = None, *, grace_s: int = GRACE_S) -> None:
    """Refuse (``in_the_past``) an instant that lies more than ``grace_s`` seconds before ``now``. (T-04)"""
    if us < now_us - grace_s * SECOND:
        late = timedelta(seconds=(now_us - us) // SECOND)
        raise Refused(
            f"{text(us)} is {late} in the past",
            code="in_the_past",
            field=field,
            value=text(us),
            hint=f"it is now {text(now_us)}; give a later instant",
        )


def _read(value: str, field: str | None, day_time: str | None) -> tuple[str, ...]:
    if not isinstance(value, str):
        raise _bad(value, "an instant is a text", _WRITE, field)
    if len(value) > _LONGEST:
        raise _bad(value, f"{len(value)} characters are too many for an instant", _WRITE, field)
    if found := _FORM.fullmatch(value):
        return tuple(group or "" for group in found.groups())
    if _DATE.fullmatch(value):
        if day_time is not None:
            return (value, day_time, "", "", "", "", "", "")
        raise _bad(value, "a date alone names no time", f"write '{value}T09:00'", field)
    if "[" in value:
        raise _bad(
            value, "a zone in brackets is not taken", "give the zone as a field of its own: zone", field
        )
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", value, re.ASCII):
        raise _bad(value, "a number is not taken for an instant", _WRITE, field)
    if re.fullmatch(r".*[+-][0-9]{2}(?::[0-9]{2}:[0-9]{2}|[0-9]{2}|)", value, re.ASCII) and "T" in value:
        raise _bad(value, "an offset is hours and minutes", "such as '+05:30'", field)
    raise _bad(value, "not an RFC 3339 instant", _WRITE, field)


def _milliseconds(value: str, fraction: str, field: str | None) -> int:
    if fraction[3:].strip("0"):
        raise _bad(value, "a slot is a whole millisecond", "at most three decimals", field)
    return int(fraction[:3].ljust(3, "0")) if fraction else 0


def _offset(value: str, sign: str, hours: str, minutes: str, field: str | None) -> int:
    if not sign:
        return 0
    if int(hours) > 23 or int(minutes) > 59:
        raise _bad(value, "there is no such offset", "such as '+05:30'", field)
    offset = (int(hours) * 60 + int(minutes)) * MINUTE
    return -offset if sign == "-" else offset


def _in_zone(wall: int, zone: str) -> tuple[int, ClockNote | None]:
    line = timeline(zone)
    us = line.reach(wall)
    part = line.part(line.index(us))
    here = us + part.offset
    if here != wall:
        return us, _note("gap_at_once", wall, here)
    if here >= part.low:
        return us, _note("fold_first", wall, here)
    return us, None


def _note(code: str, wall: int, fires: int) -> ClockNote:
    minute = wall // MINUTE
    return ClockNote(code, wall_day(minute), wall_time(minute), "", wall_time(fires // MINUTE))


def _years(value: str, field: str | None) -> Refused:
    return _bad(value, "the year is outside 1970-2200", _WRITE, field)


def _bad(value: object, what: str, hint: str, field: str | None) -> Refused:
    return Refused(f"{shown(value)}: {what}", code="bad_instant", field=field, value=value, hint=hint)
