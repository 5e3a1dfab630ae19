"""What a calendar does to slots, worked out minute by minute from what a zone's clock reads; it shares no code."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import accumulate

from schedcore.domain.zones import zone

MINUTE = 60_000_000
_DAY = 1_440
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Window:
    """Some days from an instant on, minute by minute, as a zone's clock reads them, under a calendar."""

    def __init__(self, key: str, begin: int, days: int, closed: Iterable[str], quiet: Iterable[str]) -> None:
        self.begin, self.end = begin, begin + days * _DAY * MINUTE
        self.walls = _read(key, begin, days)
        self._reached = list(accumulate(self.walls, max))
        self._closed, self._quiet = set(closed), [_minutes(one) for one in quiet]
        self._days: dict[int, bool] = {}

    def kept(self, slots: Sequence[int]) -> list[int]:
        """The slots that are in open time."""
        return [slot for slot in slots if self._open(self._number(slot))]

    def moved(self, slots: Sequence[int]) -> list[int]:
        """Where the slots go, those that meet once; what leaves the window is left out."""
        there = {self._moved(self._number(slot)) for slot in slots}
        return sorted(self.begin + n * MINUTE for n in there if n is not None)

    def _number(self, slot: int) -> int:
        number, rest = divmod(slot - self.begin, MINUTE)
        assert rest == 0
        return number

    def _open(self, n: int) -> bool:
        return not self._is_quiet(self.walls[n]) and not self._is_closed(self.walls[n] // _DAY)

    def _moved(self, n: int) -> int | None:
        while n < len(self.walls):
            wall = self.walls[n]
            if self._is_quiet(wall):
                n += 1
            elif self._is_closed(wall // _DAY):
                n = self._on_an_open_day(n)
            else:
                return n
        return None

    def _on_an_open_day(self, n: int) -> int:
        day, time = divmod(self.walls[n], _DAY)
        while True:
            day += 1
            if self._is_closed(day):
                continue
            there = bisect_left(self._reached, day * _DAY + time)
            if there > n:
                return there

    def _is_closed(self, day: int) -> bool:
        if day not in self._days:
            there = date(1970, 1, 1) + timedelta(days=day)
            words = {there.isoformat(), there.isoformat()[5:], _NAMES[there.weekday()]}
            self._days[day] = bool(words & self._closed)
        return self._days[day]

    def _is_quiet(self, wall: int) -> bool:
        time = wall % _DAY
        return any(
            low <= time < high if low < high else time >= low or time < high for low, high in self._quiet
        )


@lru_cache(64)
def _read(key: str, begin: int, days: int) -> list[int]:
    info = zone(key)
    first = _EPOCH + timedelta(microseconds=begin)
    read = (first + timedelta(minutes=n) for n in range(days * _DAY))
    return [(at.astimezone(info).replace(tzinfo=UTC) - _EPOCH) // timedelta(minutes=1) for at in read]


def _minutes(text: str) -> tuple[int, int]:
    begin, end = (int(part[:2]) * 60 + int(part[3:]) for part in text.split("-"))
    return begin, end
