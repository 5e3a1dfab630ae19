"""A zone as a row of segments with one offset each, so that the hot path is one comparison.

A segment is ``[start, until)`` on the UTC line. The transitions come from the compiled zone file; behind the
last of them the file only has a rule for the years to come, and those years are probed when somebody asks.
All numbers are integer microseconds; ``wall`` numbers are microseconds of the zone's own clock, counted from
1970 as if it were UTC.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from schedcore.domain.clock import SECOND
from schedcore.domain.zones import on_new_data, zone, zone_bytes

__all__ = ["ALWAYS", "NEVER", "Part", "Timeline", "timeline"]

#: Before and after all instants.
ALWAYS = -(2**62)
NEVER = 2**62

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_YEAR, _LAST_YEAR = 1968, 2262
_MONTH = 30 * 86_400
_AHEAD = 13 * _MONTH


class Part(NamedTuple):
    """One segment and what its neighbours have done to the clock."""

    number: int
    start: int
    until: int
    offset: int
    #: offset of the segment before (its own for the first)
    before: int
    #: wall time that the segments before have reached, exclusive: the high-water mark of the clock
    high: int
    #: lowest wall time that one of the next two segments starts at
    low: int


class _Known(NamedTuple):
    """What is known so far. Replaced as a whole, so that threads need no lock."""

    starts: tuple[int, ...]
    offsets: tuple[int, ...]
    highs: tuple[int, ...]
    year: int  # first year that was not looked at; above _LAST_YEAR: all is known
    ruled: int = 0  # how many of the last changes come from the rule behind the file's own


class Timeline:
    """The segments of one zone from 1968 to 2262."""

    __slots__ = ("_known", "_origin", "_zone", "key")

    def __init__(self, key: str, info: ZoneInfo, file: bytes) -> None:
        self.key = key
        self._zone = info
        self._origin = datetime(1970, 1, 1, tzinfo=info)
        changes, rule = _transitions(file)
        first = _seconds(_FIRST_YEAR)
        changes = [(at, offset) for at, offset in changes if at > first]
        year = _LAST_YEAR + 1
        if rule:
            year = (_EPOCH + timedelta(seconds=changes[-1][0])).year if changes else _FIRST_YEAR
        base = _Known((ALWAYS,), (self._offset(first) * SECOND,), (ALWAYS,), year)
        self._known = _joined(base, changes, year)

    def segment(self, us: int) -> tuple[int, int, int]:
        """``(from, until, offset)`` of the segment that holds an instant; all in microseconds."""
        part = self.part(self.index(us))
        return part.start, part.until, part.offset

    def offset(self, us: int) -> int:
        """The zone's offset from UTC at an instant, in microseconds."""
        return self.part(self.index(us)).offset

    def index(self, us: int) -> int:
        """The number of the segment that holds an instant."""
        return bisect_right(self._seen(us).starts, us) - 1

    def part(self, index: int) -> Part:
        """A segment by number; the last one ends at :data:`NEVER`. ``IndexError`` past it."""
        known = self._known
        while index + 3 > len(known.starts) and known.year <= _LAST_YEAR:
            known = self._look_further(known, known.year + 1)
        starts, offsets = known.starts, known.offsets
        start, offset = starts[index], offsets[index]
        until = starts[index + 1] if index + 1 < len(starts) else NEVER
        later = range(index + 1, min(index + 3, len(starts)))
        low = min((starts[n] + offsets[n] for n in later), default=NEVER)
        return Part(index, start, until, offset, offsets[max(index - 1, 0)], known.highs[index], low)

    def reach(self, wall: int) -> int:
        """The first instant at which the zone's clock has reached or passed ``wall`` (rule, line 2)."""
        known = self._seen(wall + 3 * 86_400 * SECOND)
        index = bisect_right(known.highs, wall) - 1
        return max(wall - known.offsets[index], known.starts[index])

    def _seen(self, us: int) -> _Known:
        known = self._known
        if known.year <= _LAST_YEAR and us >= _seconds(known.year) * SECOND:
            year = (
                (_EPOCH + timedelta(microseconds=us)).year
                if us < _seconds(_LAST_YEAR) * SECOND
                else _LAST_YEAR
            )
            known = self._look_further(known, year)
        return known

    def _look_further(self, known: _Known, year: int) -> _Known:
        """Find the changes up to the end of ``year``: a guess from the year before, else month by month."""
        changes: list[tuple[int, int]] = []
        ruled = [start // SECOND for start in known.starts[len(known.starts) - known.ruled :]][-2:]
        offset = known.offsets[-1] // SECOND
        at = max(known.starts[-1] // SECOND, _seconds(known.year))
        end = _seconds(year + 1)
        while at < end:
            change = self._guessed(ruled, offset) or self._searched(at, offset)
            if change is None:
                at += _AHEAD
                continue
            if change >= end:
                break
            at, offset = change, self._offset(change)
            changes.append((at, offset))
            ruled = [*ruled[-1:], at]
        known = _joined(known, changes, year + 1, ruled=known.ruled + len(changes))
        self._known = known
        return known

    def _guessed(self, ruled: list[int], offset: int) -> int | None:
        """The next change if it is on the weekday of the last but one, 52 or 53 weeks later."""
        if len(ruled) == 2:
            for weeks in (52, 53):
                guess = ruled[0] + weeks * 7 * 86_400
                if self._offset(guess - 1) == offset != self._offset(guess):
                    return guess
        return None

    def _searched(self, at: int, offset: int) -> int | None:
        """The first change at most ``_AHEAD`` behind ``at``; a rule has at most one in 30 days."""
        for then in range(at + _MONTH, at + _AHEAD + 1, _MONTH):
            if self._offset(then) != offset:
                low, high = then - _MONTH, then
                while high - low > 1:
                    middle = (low + high) // 2
                    if self._offset(middle) == offset:
                        low = middle
                    else:
                        high = middle
                return high
        return None

    def _offset(self, seconds: int) -> int:
        shift = self._zone.fromutc(self._origin + timedelta(seconds=seconds)).utcoffset()
        assert shift is not None
        return shift.days * 86_400 + shift.seconds


def timeline(key: str) -> Timeline:
    """The segments of a zone, by IANA key; made once. Raises :class:`Refused` as :func:`zones.zone` does."""
    zone(key)
    return _timeline(key)


@lru_cache(maxsize=700)
def _timeline(key: str) -> Timeline:
    return Timeline(key, zone(key), zone_bytes(key))


on_new_data(_timeline.cache_clear)


def _joined(known: _Known, changes: list[tuple[int, int]], year: int, ruled: int = 0) -> _Known:
    """``known`` with later changes put behind it; a change of the name alone is no change."""
    starts, offsets, highs = list(known.starts), list(known.offsets), list(known.highs)
    for at, offset in changes:
        if offset * SECOND != offsets[-1]:
            highs.append(max(highs[-1], at * SECOND + offsets[-1]))
            starts.append(at * SECOND)
            offsets.append(offset * SECOND)
    return _Known(tuple(starts), tuple(offsets), tuple(highs), year, ruled)


def _transitions(file: bytes) -> tuple[list[tuple[int, int]], bool]:
    """``(instant, offset)`` in seconds of a compiled zone file (RFC 9636); does a rule follow them?"""
    counts = struct.unpack_from(">6l", file, 20)
    isut, isstd, leap, times, types, chars = counts
    at = 44 + times * 5 + types * 6 + chars + leap * 8 + isstd + isut  # behind the 32-bit block
    isut, isstd, leap, times, types, chars = struct.unpack_from(">6l", file, at + 20)
    at += 44
    instants = struct.unpack_from(f">{times}q", file, at)
    which = file[at + times * 8 : at + times * 9]
    at += times * 9
    shifts = [struct.unpack_from(">l", file, at + 6 * n)[0] for n in range(types)]
    at += types * 6 + chars + leap * 12 + isstd + isut
    footer = file[at:].strip(b"\n")
    return [(when, shifts[n]) for when, n in zip(instants, which, strict=True)], b"," in footer


@cache
def _seconds(year: int, month: int = 1) -> int:
    return int((datetime(year, month, 1, tzinfo=UTC) - _EPOCH).total_seconds())
