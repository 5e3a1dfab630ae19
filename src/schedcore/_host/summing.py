"""What happened since an instant, from the ledger alone: runs by state and skipped slots by reason, per job."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from schedcore._ledger import tallies
from schedcore.domain.clock import text
from schedcore.domain.run import RunState

if TYPE_CHECKING:
    from schedcore._host.control import Control

__all__ = ["summary"]


def summary(control: Control, since: int) -> dict[str, Any]:
    """``{"v": 1, since, runs: {state: n}, skipped: {reason: n}, jobs: {key: {runs, skipped}}}``."""
    with control.ledger.read() as c:
        ran = tallies.runs_by_state(c, since)
        passed = tallies.skipped_by_reason(c, since)
    jobs: dict[str, dict[str, dict[str, int]]] = {}
    states: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for key, state, count in ran:
        word = RunState(state).word
        jobs.setdefault(key, {"runs": {}, "skipped": {}})["runs"][word] = count
        states[word] += count
    for key, reason, count in passed:
        jobs.setdefault(key, {"runs": {}, "skipped": {}})["skipped"][reason] = count
        reasons[reason] += count
    return {
        "v": 1,
        "since": text(since),
        "runs": dict(states),
        "skipped": dict(reasons),
        "jobs": dict(sorted(jobs.items())),
    }
