"""The slots that a calendar lets run, where it drops the others: a view of a line of slots (F-15).

The line itself goes on having all of them, since each that is dropped is owed a decision, a skipped row of
the reason ``calendar``. Closed time is passed over in pieces, so a question costs what its days cost and not
what its slots cost.
"""

from __future__ import annotations

from schedcore.domain.clock import DAY
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.open_hours import OpenHours
from schedcore.domain.slots import SlotRule

__all__ = ["HORIZON", "Kept"]

HORIZON = 50 * 366 * DAY
"""How far ahead an open slot is looked for, in microseconds: as far as a cron slot is (T-02)."""


class Kept:
    """The open slots of a line."""

    __slots__ = ("_hours", "_line")

    def __init__(self, line: SlotRule, hours: OpenHours) -> None:
        self._line, self._hours = line, hours

    def next(self, after_us: int) -> int | None:
        """The first open slot later than an instant; ``None`` if none comes within 50 years of the first slot."""
        slot = self._line.next(after_us)
        last = None if slot is None else slot + HORIZON
        while slot is not None and last is not None and slot <= last:
            piece = self._hours.piece(slot)
            if piece.open:
                return slot
            slot = self._line.next(piece.until - 1)
        return None

    def count_between(self, after_us: int, until_us: int) -> int:
        """How many open slots are in ``(after, until]``."""
        total = 0
        while (slot := self._line.next(after_us)) is not None and slot <= until_us:
            piece = self._hours.piece(slot)
            end = min(piece.until - 1, until_us)
            if piece.open:
                total += self._line.count_between(after_us, end)
            after_us = end
        return total

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """The newest ``n`` open slots in ``(after, until]``, oldest first."""
        found: list[int] = []
        while len(found) < n and (last := self._line.newest(after_us, until_us, 1)):
            piece = self._hours.piece(last[0])
            begin = max(after_us, piece.start - 1)
            if piece.open:
                found = [*self._line.newest(begin, until_us, n - len(found)), *found]
            until_us = begin
        return found

    def touched(self, us: int) -> ClockNote | None:
        """See :class:`SlotRule`."""
        return self._line.touched(us)
