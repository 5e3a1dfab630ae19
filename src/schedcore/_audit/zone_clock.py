"""What the clock of a zone reads, asked of ``zoneinfo`` one wall time at a time.

All instants are microseconds since 1970 in UTC; a *wall* is a minute since 1970 as the zone's clock reads. The
zone files are those of the ``tzdata`` package, as everywhere in schedcore, opened here once more.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple
from zoneinfo import ZoneInfo

import tzdata  # type: ignore[import-untyped]  # it ships no types

__all__ = ["DAY_US", "MINUTE_US", "VERSION", "Readings", "ZoneClock", "zone_clock"]

VERSION: str = tzdata.IANA_VERSION
"""The version of the zone data that is installed."""

MINUTE_US = 60_000_000
DAY_US = 1_440 * MINUTE_US
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 a clock on a wall has no zone
_UTC = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_ZERO = _EPOCH.date()
_US = timedelta(microseconds=1)


class Readings(NamedTuple):
    """The instants at which a clock reads a wall time.

    One, or two where it is set back; none where it skips the time: ``reached`` is then the first instant at
    which it has passed it, and ``shifted`` where the time would have been without the skip. Otherwise both are
    ``None``.
    """

    instants: tuple[int, ...]
    reached: int | None = None
    shifted: int | None = None


class ZoneClock:
    """The clock of one zone."""

    def __init__(self, key: str) -> None:
        with files("tzdata.zoneinfo").joinpath(*key.split("/")).open("rb") as file:
            self._zone = ZoneInfo.from_file(file, key=key)
        self.plain_day = lru_cache(maxsize=4_096)(self._plain_day)

    def readings(self, wall_us: int) -> Readings:
        """When does the clock read this time, given in microseconds since 1970 on the wall?"""
        first, second = (wall_us - self._offset(wall_us, fold) for fold in (0, 1))
        if first == second:
            return Readings((first,))
        if first < second:
            return Readings((first, second))
        return Readings((), self._reached(wall_us, second, first), first)

    def _plain_day(self, day: int) -> int | None:
        """The instant at which a day (since 1970) begins, if no clock change touches it, else ``None``.

        Whatever changed the clock shows at one of its ends; at noon, if it was undone on the same day.
        """
        there, then = (_DAY_ZERO + timedelta(days=n) for n in (day, day + 1))
        marks = [
            datetime(at.year, at.month, at.day, hour, tzinfo=self._zone, fold=fold).utcoffset()
            for at, hour, fold in ((there, 0, 0), (there, 0, 1), (there, 12, 0), (then, 0, 0), (then, 0, 1))
        ]
        if marks.count(marks[0]) != len(marks):
            return None
        assert marks[0] is not None
        return day * DAY_US - marks[0] // _US

    def _offset(self, wall_us: int, fold: int) -> int:
        there = (_EPOCH + wall_us * _US).replace(tzinfo=self._zone, fold=fold)
        shift = there.utcoffset()
        assert shift is not None
        return shift // _US

    def _reached(self, wall_us: int, low: int, high: int) -> int:
        """The first instant in ``(low, high]`` at which the clock reads this time or a later one."""
        while high - low > 1:
            middle = (low + high) // 2
            if self.wall(middle) >= wall_us:
                high = middle
            else:
                low = middle
        return high

    def wall(self, us: int) -> int:
        """What the clock reads at an instant, in microseconds since 1970 on the wall."""
        local = (_UTC + us * _US).astimezone(self._zone)
        return (local.replace(tzinfo=None) - _EPOCH) // _US


@cache
def zone_clock(key: str) -> ZoneClock:
    """The clock of an IANA zone. Raises ``LookupError`` or ``OSError`` where there is none of that name."""
    if not key or key.startswith("/") or ".." in key:
        raise LookupError(key)
    return ZoneClock(key)
