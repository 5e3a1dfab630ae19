"""The overlap rule: what a further run of a job may do while others of it live (T-15).

It counts over all hosts, manual runs and lost runs of unknown end included (P-06).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["OVERLAPS", "Live", "Verdict", "judge"]

OVERLAPS = ("skip", "queue_one", "replace", "parallel")
Verdict = Literal["open", "open_alone", "replace", "skip"]


@dataclass(frozen=True, slots=True)
class Live:
    """How many runs of one job live: claimed ones, queued ones, and lost ones whose end is unknown.

    A run whose host died counts as lost for at most its time limit; the caller drops it after that.
    """

    running: int = 0
    waiting_line: int = 0
    lost: int = 0


def judge(overlap: str, overlap_max: int, live: Live) -> Verdict:
    """What one further run may do.

    ``open``: it may start. ``open_alone``: it is queued, and starts when nothing of the job runs any more.
    ``replace``: what runs is stopped, what waits is taken out, both end ``cancelled: replaced``, and the new
    one starts when nothing runs. ``skip``: it gets a row ``overlap``. A lost run cannot be stopped, so
    ``replace`` waits for it. Slots that one catch-up plan opens together do not count against one another.
    """
    alive = live.running + live.lost
    if alive + live.waiting_line == 0:
        return "open"
    if overlap == "parallel":
        return "open" if alive + live.waiting_line < overlap_max else "skip"
    if overlap == "replace":
        return "replace" if live.running or live.waiting_line else "open_alone"
    if overlap == "queue_one" and (live.waiting_line == 0 or (alive == 0 and live.waiting_line == 1)):
        return "open_alone"
    return "skip"
