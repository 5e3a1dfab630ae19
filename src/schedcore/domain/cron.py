"""Cron in a zone: the next firing, their number, and the newest of them, under the five-line rule (P-03).

:mod:`cron_pieces` says what each segment of the zone fires; the rest is arithmetic on the wall calendar, so a
question costs what its segments cost and not what its firings cost.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from schedcore.domain.clock import DAY, MINUTE
from schedcore.domain.clock_note import ClockNote, wall_day, wall_time
from schedcore.domain.cron_grammar import read_fields
from schedcore.domain.cron_pieces import Pieces
from schedcore.domain.cron_wall import LAST_WALL, wall_set
from schedcore.domain.errors import Refused, nearest, shown
from schedcore.domain.timeline import ALWAYS, NEVER, Timeline, timeline
from schedcore.domain.zones import on_new_data

__all__ = ["FOLDS", "GAPS", "Cron", "parse_cron"]

#: What a fixed-time job does with a wall time that is skipped, and with one that comes twice. The first of
#: each is the default.
GAPS = ("at_once", "shift", "skip")
FOLDS = ("first", "second", "both")

_MINUTES = DAY // MINUTE
_HORIZON = 50 * 366  # days
_LOOK_BACK = 8


class Cron:
    """A cron expression in a zone. Made by :func:`parse_cron`; shared between threads."""

    __slots__ = ("_hot", "_pieces", "_walls", "fixed", "fold", "gap", "text", "zone")

    def __init__(self, text: str, line: Timeline, gap: str, fold: str) -> None:
        fields = read_fields(text)
        _check_choice("gap", gap, GAPS, fields.fixed)
        _check_choice("fold", fold, FOLDS, fields.fixed)
        self.text, self.zone, self.gap, self.fold, self.fixed = text, line.key, gap, fold, fields.fixed
        self._walls = wall_set(fields)
        self._pieces = Pieces(line, self._walls, fields.fixed, gap, fold)
        self._hot = self._pieces.at(0)

    def next(self, after_us: int) -> int | None:
        """The first firing strictly later than an instant; ``None`` if there is none within 50 years."""
        piece = self._hot
        if not piece.start <= after_us < piece.until:
            self._hot = piece = self._pieces.holding(after_us)
        first = self._walls.first
        wall = max((after_us + piece.offset) // MINUTE + 1, piece.low)
        limit = wall // _MINUTES + _HORIZON
        missed = False
        while True:
            found = first(wall, piece.high, limit)
            us = NEVER if found is None else found * MINUTE - piece.offset
            if piece.extra and after_us < piece.extra[-1]:
                us = min(us, piece.extra[bisect_right(piece.extra, after_us)])
            if us != NEVER:
                return us
            if piece.until == NEVER or piece.high // _MINUTES > limit:
                return None
            number = piece.number + 1
            if missed:
                number = max(number, self._ahead(piece.high, limit))
            piece, missed = self._pieces.at(number), True
            wall = piece.low

    def count_between(self, after_us: int, until_us: int) -> int:
        """How many firings are in ``(after, until]``, by arithmetic."""
        total = 0
        if until_us <= after_us:
            return total
        line = self._pieces.line
        for index in range(line.index(after_us), line.index(until_us) + 1):
            piece = self._pieces.at(index)
            low = max(piece.low, (after_us + piece.offset) // MINUTE + 1)
            high = min(piece.high, (until_us + piece.offset) // MINUTE + 1)
            total += self._walls.count(low, high)
            if piece.extra:
                total += bisect_right(piece.extra, until_us) - bisect_right(piece.extra, after_us)
        return total

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """The newest ``n`` firings in ``(after, until]``, oldest first, without walking the others."""
        found: list[int] = []
        if until_us <= after_us:
            return found
        line = self._pieces.line
        for index in range(line.index(until_us), line.index(after_us) - 1, -1):
            piece = self._pieces.at(index)
            low = max(piece.low, (after_us + piece.offset) // MINUTE + 1)
            high = min(piece.high, (until_us + piece.offset) // MINUTE + 1)
            extra = [us for us in piece.extra if after_us < us <= until_us]
            while len(found) < n:
                wall = self._walls.last(low, high)
                us = ALWAYS if wall is None else wall * MINUTE - piece.offset
                if extra and extra[-1] > us:
                    us = extra.pop()
                elif wall is None:
                    break
                else:
                    high = wall
                found.append(us)
        return found[::-1]

    def touched(self, us: int) -> ClockNote | None:
        """What a clock change did to a slot, if one did (P-12). ``us`` must be a firing of this job."""
        line = self._pieces.line
        part = line.part(line.index(us))
        wall_us = us + part.offset
        wall = wall_us // MINUTE
        if self.fixed and self.gap != "skip" and (skipped := self._pieces.skipped(part)):
            if self.gap == "at_once" and us == part.start:
                return _note("gap_at_once", skipped, wall)
            if self.gap == "shift" and (us + part.before) // MINUTE in skipped:
                return _note("gap_shift", [(us + part.before) // MINUTE], wall)
        if wall_us < part.high:
            return _note("fold_second", [wall], wall)
        if wall_us >= part.low:
            return _note("fold_first", [wall], wall)
        if not self.fixed or self.gap == "skip":
            return self._skipped_before(us, part.number, wall)
        return None

    def same_times(self, other: Cron) -> bool:
        """Do both fire at the same instants, however they are written?"""
        mine = (self.zone, self.gap, self.fold, self.fixed)
        return mine == (other.zone, other.gap, other.fold, other.fixed) and self._walls.same(other._walls)

    def _ahead(self, wall: int, limit: int) -> int:
        """The segment before which a rare job cannot fire, so that the years between are not visited.

        No clock was ever moved by more than a day; two are allowed for.
        """
        slot = self._walls.first(wall - 2 * _MINUTES, LAST_WALL, limit)
        return self._pieces.line.index(((limit * _MINUTES if slot is None else slot) - 2 * _MINUTES) * MINUTE)

    def _skipped_before(self, us: int, index: int, wall: int) -> ClockNote | None:
        """A gap between the firing before and this one that passed over slots."""
        for number in range(index, max(index - _LOOK_BACK, 0), -1):
            part = self._pieces.line.part(number)
            if self.count_between(part.start - 1, us - 1):
                return None
            if skipped := self._pieces.skipped(part):
                return _note("gap_skipped", skipped, wall)
        return None


def parse_cron(text: str, zone: str = "UTC", *, gap: str = "at_once", fold: str = "first") -> Cron:
    """A cron expression in a zone.

    Raises :class:`Refused`: ``bad_cron`` and ``never_fires`` for the text, ``unknown_zone``, and for ``gap``
    and ``fold`` (with that field) ``bad_choice``, or ``not_fixed`` for a job with ``*`` in minute or hour.
    (T-02, T-05, P-03)
    """
    if not _short(text):
        read_fields(text)  # raises; nothing long is kept
    _check_choice("gap", gap, GAPS, True)
    _check_choice("fold", fold, FOLDS, True)
    timeline(zone)
    return _parsed(text, zone, gap, fold)


def _short(text: object) -> bool:
    return isinstance(text, str) and len(text) <= 256


@lru_cache(maxsize=2048)
def _parsed(text: str, zone: str, gap: str, fold: str) -> Cron:
    return Cron(text, timeline(zone), gap, fold)


on_new_data(_parsed.cache_clear)


def _note(code: str, walls: list[int], fires: int) -> ClockNote:
    until = wall_time(walls[-1]) if len(walls) > 1 else ""
    return ClockNote(code, wall_day(walls[0]), wall_time(walls[0]), until, wall_time(fires))


def _check_choice(name: str, value: str, known: tuple[str, ...], fixed: bool) -> None:
    if value not in known:
        hint = nearest(str(value), known) or "one of " + ", ".join(known)
        raise Refused(f"{shown(value)} is no choice", code="bad_choice", field=name, value=value, hint=hint)
    if not fixed and value != known[0]:
        raise Refused(
            "only a job of fixed times may choose it: minute and hour without '*'",
            code="not_fixed",
            field=name,
            value=value,
            hint=f"take {name} away; at a clock change a '*' follows the clock",
        )
