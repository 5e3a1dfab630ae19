"""What a clock change does to a cron job: which wall minutes each segment of the zone fires (P-03).

Each segment lets one range of wall minutes fire at ``wall - offset``; a skipped hour may add a few instants
of its own. A wildcard job fires all that the segment reads. A fixed-time job keeps the clock's high-water
mark: what was reached before does not fire again (``fold``), and what was jumped over fires after the jump
(``gap``).
"""

from __future__ import annotations

from typing import NamedTuple

from schedcore.domain.clock import MINUTE
from schedcore.domain.cron_wall import FIRST_WALL, LAST_WALL, WallSet
from schedcore.domain.timeline import NEVER, Part, Timeline

__all__ = ["Piece", "Pieces"]

_KEPT = 16


class Piece(NamedTuple):
    """What one segment fires: wall minutes ``[low, high)`` at ``wall - offset``, and ``extra`` instants."""

    start: int
    until: int
    offset: int
    low: int
    high: int
    extra: tuple[int, ...]
    number: int


class Pieces:
    """The pieces of one expression in one zone, made when asked for."""

    __slots__ = ("_known", "fixed", "fold", "gap", "line", "walls")

    def __init__(self, line: Timeline, walls: WallSet, fixed: bool, gap: str, fold: str) -> None:
        self.line, self.walls = line, walls
        self.fixed, self.gap, self.fold = fixed, gap, fold
        self._known: dict[int, Piece] = {}

    def holding(self, us: int) -> Piece:
        """The piece of an instant."""
        return self.at(self.line.index(us))

    def at(self, index: int) -> Piece:
        """A piece by the number of its segment."""
        piece = self._known.get(index)
        if piece is None:
            piece = self._made(self.line.part(index))
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[index] = piece
        return piece

    def skipped(self, part: Part) -> list[int]:
        """The slots that the jump at the start of a segment passes over, as wall minutes."""
        if not part.number:
            return []
        return self.walls.all(_up(max(part.high, part.start + part.before)), _up(part.start + part.offset))

    def _made(self, part: Part) -> Piece:
        low, high = part.start + part.offset, part.until + part.offset
        if self.fixed and self.fold == "first":
            low = max(low, part.high)
        elif self.fixed and self.fold == "second":
            high = min(high, part.low)
        first = max(_up(low), FIRST_WALL)
        end = LAST_WALL if part.until == NEVER else min(_up(high), LAST_WALL)
        extra: tuple[int, ...] = ()
        if self.fixed and self.gap != "skip" and (skipped := self.skipped(part)):
            moved = [part.start]
            if self.gap == "shift":
                moved = [wall * MINUTE - part.before for wall in skipped]
            extra = tuple(us for us in moved if not self._reads(us + part.offset, first, end))
        return Piece(part.start, part.until, part.offset, first, end, extra, part.number)

    def _reads(self, wall_us: int, low: int, high: int) -> bool:
        """Does the piece fire there anyhow? Two slots on one instant are one firing (rule, line 4)."""
        wall, rest = divmod(wall_us, MINUTE)
        return not rest and low <= wall < high and self.walls.first(wall, wall + 1) is not None


def _up(us: int) -> int:
    return -(-us // MINUTE)
