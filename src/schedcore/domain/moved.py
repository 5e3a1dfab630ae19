"""A line of slots whose closed ones are moved out of closed time: the moved instants are the slots (F-15).

Each slot of the line goes where :meth:`OpenHours.moved` says; those that meet are one slot. The answer to a
question is found cell by cell: a cell is the stretch between two evenings of open days, and whatever is moved
stays in its cell. See ``docs/decisions/0020``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from schedcore.domain.clock import DAY
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.open_hours import OpenHours, Piece
from schedcore.domain.slots import SlotRule

__all__ = ["Moved"]

_KEPT = 64
_DENSE = 8
_EARLIEST = -400 * DAY  # no slot is earlier


@dataclass(frozen=True, slots=True)
class _Cell:
    """``[low, high)``: the pieces in which slots stay where they are, and the instants to which closed ones are
    moved and at which the line has no slot, each with the first slot that goes there."""

    low: int
    high: int
    open: tuple[tuple[int, int], ...]
    extra: tuple[int, ...]
    origin: tuple[int, ...]


class Moved:
    """The slots of ``line`` with closed ones moved. ``even`` says that days on which the line has the same
    first slot, last slot and number of slots have the same slots, as those of a cron or an interval have."""

    __slots__ = ("_cells", "_even", "_hours", "_last", "line")

    def __init__(self, line: SlotRule, hours: OpenHours, *, even: bool) -> None:
        self.line, self._hours, self._even = line, hours, even
        self._cells: dict[int, _Cell] = {}
        self._last: _Cell | None = None

    def next(self, after_us: int) -> int | None:
        """See :class:`SlotRule`."""
        cell = self._cell(after_us + 1)
        after_us = max(after_us, cell.low - 1)
        while (found := self._first(cell, after_us)) is None:
            slot = self.line.next(max(cell.high - 1, after_us))
            if slot is None:
                return None
            cell = self._cell(slot)
        return found

    def count_between(self, after_us: int, until_us: int) -> int:
        """See :class:`SlotRule`. It costs what the days cost that have slots in closed time."""
        total = 0
        for cell in self._cells_between(after_us, until_us):
            total += bisect_right(cell.extra, until_us) - bisect_right(cell.extra, after_us)
            for begin, end in cell.open:
                low, high = max(begin - 1, after_us), min(end - 1, until_us)
                if low < high:
                    total += self.line.count_between(low, high)
        return total

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """See :class:`SlotRule`."""
        found: list[int] = []
        if after_us >= until_us:
            return found
        cell = self._cell(until_us)
        first = self._cell(after_us + 1).low
        while len(found) < n:
            found = self._newest(cell, after_us, until_us, n - len(found)) + found
            before = self.line.newest(first - 1, cell.low - 1, 1)
            if not before or len(found) >= n:
                break
            cell = self._cell(before[0])
        return found

    def touched(self, us: int) -> ClockNote | None:
        """See :class:`SlotRule`."""
        return self.line.touched(us) if self.line.next(us - 1) == us else None

    def origin(self, us: int) -> int | None:
        """The first slot of the line that was moved to a slot; ``None`` if the line has one there itself."""
        cell = self._cell(us)
        at = bisect_right(cell.extra, us) - 1
        return cell.origin[at] if at >= 0 and cell.extra[at] == us else None

    def destination(self, us: int) -> int | None:
        """Where a slot of the line is moved to; ``None`` for an open one, and for what is no slot of it."""
        if self.line.next(us - 1) != us:
            return None
        there = self._hours.moved(us)
        return None if there == us else there

    def _first(self, cell: _Cell, after_us: int) -> int | None:
        at = bisect_right(cell.extra, after_us)
        found = cell.extra[at] if at < len(cell.extra) else None
        for begin, end in cell.open:
            if end - 1 <= after_us or (found is not None and begin > found):
                continue
            slot = self.line.next(max(begin - 1, after_us))
            if slot is not None and slot < end:
                return slot if found is None else min(slot, found)
        return found

    def _newest(self, cell: _Cell, after_us: int, until_us: int, n: int) -> list[int]:
        found = [us for us in cell.extra if after_us < us <= until_us][-n:]
        for begin, end in reversed(cell.open):
            low, high = max(begin - 1, after_us), min(end - 1, until_us)
            if low < high:
                found = sorted([*self.line.newest(low, high, n), *found])[-n:]
        return found

    def _cells_between(self, after_us: int, until_us: int) -> Iterator[_Cell]:
        """The cells that hold a slot of the line, from that of ``after_us`` to that of ``until_us``."""
        if after_us >= until_us:
            return
        cell = self._cell(after_us + 1)
        yield cell
        while (slot := self.line.next(cell.high - 1)) is not None and slot <= until_us:
            cell = self._cell(slot)
            yield cell

    def _cell(self, us: int) -> _Cell:
        us = max(us, _EARLIEST)
        cell = self._last
        if cell is not None and cell.low <= us < cell.high:
            return cell
        low, high = self._edges(us)
        cell = self._cells.get(low)
        if cell is None:
            cell = self._made(low, high)
            if len(self._cells) >= _KEPT:
                self._cells.clear()
            self._cells[low] = cell
        self._last = cell
        return cell

    def _edges(self, us: int) -> tuple[int, int]:
        """The evenings around an instant: the last one that is not after it, the first one that is."""
        today = self._hours.day_of(us)
        day = today + 1
        while (low := self._hours.cut(day)) is None or low > us:
            day -= 1
        day = today - 1
        while (high := self._hours.cut(day)) is None or high <= us:
            day += 1
        return low, high

    def _made(self, low: int, high: int) -> _Cell:
        pieces: list[Piece] = []
        us = low
        while us < high:
            pieces.append(self._hours.piece(us))
            us = pieces[-1].until
        extra: dict[int, int] = {}
        alike: set[tuple[int, ...]] | None = None
        for piece in pieces:
            if piece.open:
                continue
            if not piece.quiet and (look := self._look(piece)):
                alike = self._looks_of_open(pieces) if alike is None else alike
                look = (self._hours.time.next_open_day(piece.day), *look)
                if look in alike:
                    continue  # its slots land where others are, or land too
                alike.add(look)
            for slot in self._slots(piece):
                there = self._hours.moved(slot)
                if there not in extra and self.line.next(there - 1) != there:
                    extra[there] = slot
                if piece.quiet:
                    break  # all of them go to the end of the quiet hours
        where = tuple(sorted(extra))
        open_ = tuple((piece.start, piece.until) for piece in pieces if piece.open)
        return _Cell(low, high, open_, where, tuple(extra[us] for us in where))

    def _looks_of_open(self, pieces: list[Piece]) -> set[tuple[int, ...]]:
        """How the open pieces look, by day; on a day of a clock change one time of day may be two instants."""
        found = ((p.day, self._look(p)) for p in pieces if p.open and self._hours.cut(p.day) is not None)
        return {(day, *look) for day, look in found if look}

    def _slots(self, piece: Piece) -> Iterator[int]:
        us = piece.start - 1
        while (slot := self.line.next(us)) is not None and slot < piece.until:
            yield slot
            us = slot

    def _look(self, piece: Piece) -> tuple[int, ...]:
        """What two pieces have in common whose slots are at the same times of day; empty where that is not
        known or not worth knowing."""
        if not self._even:
            return ()
        begin, end = piece.start - 1, piece.until - 1
        number = self.line.count_between(begin, end)
        if number < _DENSE:
            return ()
        first, last = self.line.next(begin), self.line.newest(begin, end, 1)[0]
        assert first is not None
        size = piece.until - piece.start
        return (piece.low, size, number, first - piece.start, last - piece.start)
