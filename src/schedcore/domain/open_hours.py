"""A calendar on the clock of a zone: which instants are closed, and where a slot goes that falls on one (F-15).

An instant is closed when the zone's clock reads a closed day or a quiet hour then: in both passes of an hour
that comes twice, and never in one that is skipped.
"""

from __future__ import annotations

from typing import NamedTuple

from schedcore.domain.calendar import Calendar, closed_time
from schedcore.domain.clock import DAY
from schedcore.domain.timeline import timeline

__all__ = ["OpenHours", "Piece"]


class Piece(NamedTuple):
    """A stretch ``[start, until)`` of the UTC line in which the answer does not change.

    The zone's offset is one, the wall calendar's ``day`` is one, and so is the part of that day:
    ``closed`` says that the day is, ``quiet`` that the hours are. ``low`` is the time of day at ``start``.
    """

    start: int
    until: int
    day: int
    low: int
    closed: bool
    quiet: bool

    @property
    def open(self) -> bool:
        """Neither a closed day nor quiet hours?"""
        return not (self.closed or self.quiet)


class OpenHours:
    """A calendar in a zone. All instants are integer microseconds in UTC."""

    __slots__ = ("_line", "name", "time")

    def __init__(self, calendar: Calendar, zone: str) -> None:
        self.name = calendar.name
        self.time = closed_time(calendar)
        self._line = timeline(zone)

    def piece(self, us: int) -> Piece:
        """The piece that holds an instant."""
        part = self._line.part(self._line.index(us))
        day, time = divmod(us + part.offset, DAY)
        low, high, quiet = self.time.hours_at(time)
        start, until = max(us - time + low, part.start), min(us - time + high, part.until)
        return Piece(start, until, day, time - (us - start), self.time.closes_day(day), quiet)

    def entry(self, us: int) -> str | None:
        """What closes an instant: an entry of the closed days, else the quiet hours; ``None`` for an open one."""
        piece = self.piece(us)
        if piece.closed:
            return self.time.entry_of(piece.day)
        return self.time.quiet_at(piece.low + us - piece.start) if piece.quiet else None

    def moved(self, us: int) -> int:
        """Where a slot goes: an open instant stays. First the hours, then the day.

        Out of quiet hours it goes to their end; from a closed day to the next open one, at the same time of
        day, or at the first instant after a gap of the clock that has swallowed that time.
        """
        while True:
            piece = self.piece(us)
            if piece.quiet:
                us = piece.until
            elif piece.closed:
                us = self._next_day(us, piece)
            else:
                return us

    def _next_day(self, us: int, piece: Piece) -> int:
        """The same time of day on the next open day; a later one where the clock has been set back over it."""
        time = piece.low + us - piece.start
        day = piece.day
        while True:
            day = self.time.next_open_day(day)
            there = self._line.reach(day * DAY + time)
            if there > us:
                return there

    def cut(self, day: int) -> int | None:
        """The instant at which an open day is over: all that is moved lands on one side of it or stays on the
        other. ``None`` for a closed day, and for one on which the zone's clock is changed."""
        if self.time.closes_day(day):
            return None
        begin = self._line.reach(day * DAY)
        part = self._line.part(self._line.index(begin))
        whole = part.start < begin and begin + DAY < part.until and begin + part.offset == day * DAY
        return begin + self.time.tail() if whole else None

    def day_of(self, us: int) -> int:
        """The day that the zone's clock reads."""
        return (us + self._line.offset(us)) // DAY
