"""Triggers under a calendar, in few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.domain.moments import utc

from schedcore.domain.calendar import Calendar, Calendars
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.slots import SlotRule
from schedcore.domain.trigger import Trigger

WEEKEND = ("saturday", "sunday")
NIGHT = "22:00-07:00"
NOW = utc("2026-01-01")


def known(closed: Sequence[str] = WEEKEND, quiet: Sequence[str] = (), **more: Any) -> Calendars:
    """One calendar, ``office``; ``more`` are the further fields of it."""
    return Calendars({"office": Calendar("office", tuple(closed), tuple(quiet), **more)})


def under(
    on_closed: str = "drop",
    closed: Sequence[str] = WEEKEND,
    quiet: Sequence[str] = (),
    *,
    now: int = NOW,
    **form: Any,
) -> Trigger:
    """A trigger whose slots the calendar ``office`` judges."""
    given = {"zone": "Europe/Berlin", **form, "calendar": "office", "on_closed": on_closed}
    return Trigger.parse(given, now_us=now, calendars=known(closed, quiet))


class Counted:
    """A line of slots that counts how often it was asked."""

    def __init__(self, line: SlotRule) -> None:
        self.line, self.asked = line, 0

    def next(self, after_us: int) -> int | None:
        self.asked += 1
        return self.line.next(after_us)

    def count_between(self, after_us: int, until_us: int) -> int:
        self.asked += 1
        return self.line.count_between(after_us, until_us)

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        self.asked += 1
        return self.line.newest(after_us, until_us, n)

    def touched(self, us: int) -> ClockNote | None:
        return self.line.touched(us)
