"""The next slot: fifty expressions in five zones, warm, from instants of ten years and of days of clock change."""

from __future__ import annotations

import random
import statistics
import time
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from schedcore.domain.clock import HOUR, MINUTE, to_us
from schedcore.domain.trigger import Trigger

__all__ = ["next_slot"]

_ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]
_CHANGING = [_ZONES[1], _ZONES[2], _ZONES[4]]
_TEXTS = [
    "* * * * *", "*/5 * * * *", "*/15 * * * *", "*/7 * * * *", "0 * * * *", "30 * * * *", "15,45 * * * *",
    "0 */2 * * *", "0 */6 * * *", "5 0 * * *", "0 9 * * *", "0 9 * * 1-5", "30 8 * * 1-5", "0 17 * * 5",
    "0 0 * * 0", "0 12 * * 3", "0 0 1 * *", "0 6 1 * *", "0 9 1,15 * *", "30 2 1 * *", "0 0 1 1 *", "0 0 31 * *",
    "0 3 * * 6", "15 2 * * *", "30 1 * * *", "30 2 * * *", "0 2 * * 0", "59 23 * * *", "0 8-18 * * 1-5",
    "*/10 8-18 * * 1-5", "*/30 9-17 * * *", "0 0,12 * * *", "10 4 * * 2,4", "0 22 * * 1-5", "45 5 * * *",
    "0 7 1 */3 *", "0 10 15 * *", "20 14 28 * *", "0 5 * 6-8 *", "0 9 * 12 1-5", "1 0 1 * *", "*/20 * * * 6,0",
    "0 18 * * 1", "0 11 7 * *", "30 16 * * 5", "12 3 * * *", "0 1 * * *", "0 13 * * 2", "25 */3 * * *", "0 4 10 * *",
]  # fmt: skip


def next_slot(*, asks: int) -> dict[str, Any]:
    """Microseconds of single asks, on ordinary days and on those of clock change: the median by the clock, the
    worst by the processor's time of this thread, so that a neighbour's turn is not taken for ours."""
    chance = random.Random(7)
    first, last = (to_us(datetime(year, 1, 1, tzinfo=UTC)) for year in (2026, 2036))
    triggers = {z: [Trigger.from_dict({"cron": t, "zone": z}) for t in _TEXTS] for z in _ZONES}
    changes = {zone: _changes(zone) for zone in _CHANGING}

    def ordinary() -> tuple[Trigger, int]:
        return chance.choice(triggers[chance.choice(_ZONES)]), chance.randrange(first, last)

    def changing() -> tuple[Trigger, int]:
        zone = chance.choice(_CHANGING)
        at = chance.choice(changes[zone]) + chance.randrange(-12 * HOUR, 12 * HOUR)
        return chance.choice(triggers[zone]), at

    answer = {}
    for name, draw in (("ordinary", ordinary), ("changing", changing)):
        _timed([draw() for _ in range(asks // 4)])
        took, worked = _timed([draw() for _ in range(asks)])
        answer[name] = {"median": statistics.median(took), "worst": max(worked)}
    return answer


def _timed(asks: list[tuple[Trigger, int]]) -> tuple[list[float], list[float]]:
    took, worked = [], []
    now, work = time.perf_counter_ns, time.thread_time_ns
    for trigger, at in asks:
        before = work()
        began = now()
        trigger.next(at)
        ended = now()
        worked.append((work() - before) / 1000)
        took.append((ended - began) / 1000)
    return took, worked


def _changes(name: str) -> list[int]:
    """The instants of 2026 to 2035 at which the zone's offset changes, to the minute."""
    zone, found = ZoneInfo(name), []
    at = to_us(datetime(2026, 1, 1, tzinfo=UTC))
    end = to_us(datetime(2036, 1, 1, tzinfo=UTC))

    def offset(us: int) -> Any:
        return datetime.fromtimestamp(us / 1e6, zone).utcoffset()

    while at < end:
        following = at + 24 * HOUR
        if offset(at) != offset(following):
            low, high = at, following
            while high - low > MINUTE:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == offset(at) else (low, middle)
            found.append(high)
        at = following
    return found
