"""A calendar: the days and hours in which nothing is due, shared by name (F-15, P-08).

It is a value of plain texts, so that a definition can hold all of it. What they close is in
:mod:`closed_time`, and on the clock of a zone in :mod:`open_hours`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Self

from schedcore.domain.calendar_entries import read_day_time
from schedcore.domain.closed_time import ClosedTime
from schedcore.domain.errors import Refused, nearest
from schedcore.domain.policy_fields import name_text
from schedcore.domain.reading import path, table, unknown, wrong

__all__ = ["ON_CLOSED", "Calendar", "Calendars", "closed_time"]

ON_CLOSED = ("drop", "move", "keep")
"""What becomes of a slot in closed time; the first is the default."""

_FIELDS = ("closed", "quiet", "day_time")


@dataclass(frozen=True, slots=True)
class Calendar:
    """Closed days and quiet hours under one name.

    ``closed`` are days: ISO dates (``2026-12-25``), days of every year (``12-25``), days of the week
    (``sunday``, ``sun``); at most 1,000. ``quiet`` are hours of every day, ``22:00-07:00``, the end not
    included; at most 24. ``day_time`` (``HH:MM``) is when a date without a time fires, in place of the host's.

    Raises :class:`Refused`: ``bad_calendar`` for entries that are none and for what never opens, ``bad_time``.
    """

    name: str
    closed: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    day_time: str | None = None

    def __post_init__(self) -> None:
        name_text(self.name, "name")
        read = ClosedTime(self.closed, self.quiet)
        object.__setattr__(self, "closed", read.closed)
        object.__setattr__(self, "quiet", read.quiet)
        if self.day_time is not None:
            read_day_time(self.day_time, "day_time")

    @classmethod
    def parse(cls, name: str, value: Any, field: str) -> Self:
        """A calendar as the settings have it: a table of ``closed``, ``quiet``, ``day_time``.

        ``field`` is the path of the table. Raises :class:`Refused` with the path of what is wrong.
        """
        given = table(value, field)
        for part in given:
            if part not in _FIELDS:
                raise unknown(path(field, part), given[part], part, _FIELDS)
        try:
            return cls(name, **{part: given[part] for part in _FIELDS if given.get(part) is not None})
        except Refused as error:
            raise error.under(field) from None

    @classmethod
    def from_dict(cls, data: Any, field: str = "calendar") -> Self:
        """The inverse of :meth:`to_dict`."""
        rest = {part: value for part, value in table(data, field).items() if part != "name"}
        return cls.parse(data.get("name", ""), rest, field)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values, what is empty left out: what a definition keeps."""
        stored: dict[str, Any] = {"name": self.name}
        for part in ("closed", "quiet"):
            if value := getattr(self, part):
                stored[part] = list(value)
        if self.day_time is not None:
            stored["day_time"] = self.day_time
        return stored


@lru_cache(256)
def closed_time(calendar: Calendar) -> ClosedTime:
    """What a calendar closes."""
    return ClosedTime(calendar.closed, calendar.quiet)


@dataclass(frozen=True, slots=True)
class Calendars:
    """What a host knows of days when it reads an order.

    ``known`` are the calendars that jobs may name. ``day_time`` (``HH:MM``) is when a date without a time
    fires, where a day rule applies: the order gives a ``day_time`` or names a calendar, or ``dated`` says that
    whoever orders may give dates alone.
    """

    known: Mapping[str, Calendar] = field(default_factory=lambda: MappingProxyType({}))
    day_time: str = "09:00"
    dated: bool = False

    def named(self, name: Any, field: str) -> Calendar:
        """The calendar of a name. Raises :class:`Refused` (``unknown_calendar``) with the nearest one."""
        if not isinstance(name, str):
            hint = "calendars are declared in the settings or by a plugin, and named here"
            raise wrong("a calendar is named by a text", field, name, "bad_type", hint)
        if name not in self.known:
            listed = "known are " + ", ".join(sorted(self.known)) if self.known else "none is declared"
            hint = nearest(name, set(self.known)) or f"{listed}; write [calendars.NAME] in the settings"
            raise wrong(f"there is no calendar {name!r}", field, name, "unknown_calendar", hint)
        return self.known[name]

    def time_of_date(self, own: str | None, calendar: Calendar | None) -> str | None:
        """When a date without a time fires; ``None`` where no day rule applies."""
        if own is None and calendar is None and not self.dated:
            return None
        return own or (calendar.day_time if calendar is not None else None) or self.day_time
