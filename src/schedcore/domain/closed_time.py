"""The closed days and quiet hours of a calendar, ready to be asked; no zone is known here (F-15).

A day is a whole number, days since 1970 as the wall calendar counts them; a time of day is in microseconds
since midnight.
"""

from __future__ import annotations

from datetime import date

from schedcore.domain.calendar_entries import EPOCH, WEEKDAYS, merged, read_closed, read_quiet
from schedcore.domain.clock import DAY
from schedcore.domain.reading import wrong

__all__ = ["LONGEST_CLOSED", "ClosedTime"]

LONGEST_CLOSED = 366
"""Days in a row that a calendar may close: a slot is moved by no more than that and a day."""

_FEW = 50  # entries: fewer cannot close more than a year in a row while one day of the week is open
_FIRST, _LAST = -366, 85_000  # the days in which a closed run is looked for: 1969 to 2202
_STRIDE = 183


class ClosedTime:
    """What the entries of a calendar close. Made from their texts, as :class:`Calendar` has them.

    Raises :class:`Refused` (``bad_calendar``) for entries that cannot be read, and for a calendar that never
    opens: every hour is quiet, every day of the week is closed, or over a year in a row.
    """

    __slots__ = ("_ranges", "closed", "entries", "quiet")

    def __init__(self, closed: object, quiet: object) -> None:
        self.closed, self.entries = read_closed(closed, "closed")
        self.quiet, ranges = read_quiet(quiet, "quiet")
        self._ranges = merged(ranges)
        self._check_opens()

    def closes_day(self, day: int) -> bool:
        """Is a whole day closed?"""
        return self.entries.closes(day)

    def entry_of(self, day: int) -> str | None:
        """The entry that closes a day, the most exact one: a date, a day of the year, a day of the week."""
        there, entries = _date(day), self.entries
        if day in entries.days:
            return there.isoformat()
        if (there.month, there.day) in entries.yearly:
            return there.isoformat()[5:]
        weekday = (day + 4) % 7
        return WEEKDAYS[weekday] if weekday in entries.weekdays else None

    def hours_at(self, time: int) -> tuple[int, int, bool]:
        """The part of a day that holds a time of day: from, to, and whether it is quiet."""
        begin = 0
        for low, high in self._ranges:
            if time < low:
                return begin, low, False
            if time < high:
                return low, high, True
            begin = high
        return begin, DAY, False

    def quiet_at(self, time: int) -> str | None:
        """The entry of the quiet hours that holds a time of day."""
        for entry in self.quiet:
            if any(low <= time < high for low, high in read_quiet((entry,), "quiet")[1]):
                return entry
        return None

    def tail(self) -> int:
        """When the hours begin that are quiet to the end of the day; the end of the day where none are."""
        return self._ranges[-1][0] if self._ranges and self._ranges[-1][1] == DAY else DAY

    def last_date(self) -> str | None:
        """The last of the single dates that are closed, if there is any."""
        return _date(max(self.entries.days)).isoformat() if self.entries.days else None

    def next_open_day(self, day: int) -> int:
        """The first day after ``day`` that is not closed."""
        day += 1
        while self.entries.closes(day):
            day += 1
        return day

    def _check_opens(self) -> None:
        entries = self.entries
        if self._ranges == ((0, DAY),):
            raise wrong(
                "no hour of the day is left", "quiet", list(self.quiet), "bad_calendar", "leave a gap"
            )
        if len(entries.weekdays) == 7:
            hint = "leave one day of the week open"
            raise wrong("no day of the week is left", "closed", list(self.closed), "bad_calendar", hint)
        if len(entries.days) + len(entries.yearly) < _FEW:
            return
        for probe in range(_FIRST, _LAST, _STRIDE):  # a run that is too long meets two of them
            if entries.closes(probe) and (begin := self._too_long(probe)) is not None:
                since = _date(begin).isoformat()
                what = f"more than {LONGEST_CLOSED} days in a row are closed, from {since} on"
                raise wrong(what, "closed", since, "bad_calendar", "open a day between")

    def _too_long(self, day: int) -> int | None:
        """The first day of the closed run around a closed day, if the run is too long."""
        begin = end = day
        while end - begin < LONGEST_CLOSED and self.entries.closes(begin - 1):
            begin -= 1
        while end - begin < LONGEST_CLOSED and self.entries.closes(end + 1):
            end += 1
        return begin if end - begin >= LONGEST_CLOSED else None


def _date(day: int) -> date:
    return date.fromordinal(EPOCH.toordinal() + day)
