"""When runs start: lateness at a steady pace, and what becomes of punctuality when very many are due at once."""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.filling import filling
from benchmarks.ours import SWITCH_S, busy, checked, emptied, host, reading, soon, spare
from schedcore.domain.clock import SECOND

__all__ = ["burst", "lateness"]

_PAGE = os.sysconf("SC_PAGE_SIZE")


def lateness(
    url: str, folder: str, lead: float, *, rate: int, seconds: float, neighbour: bool
) -> dict[str, Any]:
    """How late runs start, in microseconds, at ``rate`` slots a second; each job has one of its own."""
    sys.setswitchinterval(SWITCH_S)
    n, slot = round(rate * seconds), soon(lead)
    with filling(url) as fill:
        fill.jobs(1, n, slot, apart_us=SECOND // rate)
    one, _ = host(url, folder)
    one.start()
    if (left := spare(slot)) < 0:
        one.stop(0)
        return {"spare": left}
    with busy(wanted=neighbour):
        emptied(one, n, slot, every=0.1)  # who looks on takes part in the contest for the interpreter
    one.stop()
    checked(url, n)
    late = "started_at-scheduled_for"
    with reading(url) as (ask, prefix):
        found = [
            ask(
                f"select {late} from {prefix}runs order by {late} limit 1 offset {min(n - 1, n * share // 100)}"
            )
            for share in (50, 99, 100)
        ]
        early = ask(
            f"select count(*) from {prefix}runs where started_at<scheduled_for or opened_at<scheduled_for"
        )
    return {"n": n, "p50": found[0], "p99": found[1], "most": found[2], "early": early, "spare": left}


def resident() -> int:
    """Bytes of this process in memory now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE


def burst(url: str, folder: str, lead: float, *, n: int) -> dict[str, Any]:
    """``n`` jobs due at one instant; a second later one more of the same kind, and one of a group of its own."""
    sys.setswitchinterval(SWITCH_S)
    slot = soon(lead)
    later = slot + SECOND
    with filling(url) as fill:
        fill.jobs(1, n, slot)
        fill.jobs(n + 1, n + 1, later)
        fill.jobs(n + 2, n + 2, later, groups=["apart"])
    one, _ = host(url, folder, groups={"apart": 1})
    one.start()
    if (left := spare(slot)) < 0:
        one.stop(0)
        return {"spare": left}
    time.sleep(max(0.0, left - 0.05))
    gc.collect()
    before = resident()
    sizes = [before]
    _, seen = emptied(one, n + 2, slot, lambda: sizes.append(max(sizes.pop(), resident())))
    one.stop()
    checked(url, n + 2)
    with reading(url) as (ask, prefix):
        drained = ask(f"select max(finished_at) from {prefix}runs where job_id<={n}") - slot
        waits = [
            ask(f"select started_at-scheduled_for from {prefix}runs where job_id={job}")
            for job in (n + 1, n + 2)
        ]
    end = seen[-1][0]
    window = min(SECOND, end // 2)
    first = _settled_by(seen, window)
    last = n + 2 - _settled_by(seen, end - window)
    return {
        "n": n,
        "seconds": drained / SECOND,
        "first": first * SECOND / window,
        "last": last * SECOND / window,
        "growth": sizes[0] - before,
        "later_s": waits[0] / SECOND,
        "apart_s": waits[1] / SECOND,
        "spare": left,
        "curve": [(round(t / SECOND, 3), settled) for t, settled in seen[:: max(1, len(seen) // 60)]],
    }


def _settled_by(seen: list[tuple[int, int]], at: int) -> float:
    """How many were settled by then, between two looks in proportion."""
    before = (0, 0)
    for point in seen:
        if point[0] >= at:
            t0, n0 = before
            t1, n1 = point
            return n0 + (n1 - n0) * (at - t0) / max(1, t1 - t0)
        before = point
    return before[1]
