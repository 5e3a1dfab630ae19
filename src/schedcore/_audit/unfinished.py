"""Runs that are not final, job by job: no more of them than the overlap rule allows (I11, ``docs/decisions/0011``).

What runs is counted as it is. Of what waits in the queue the present counts, and slots that one catch-up plan
opened together count once, since they start one after another; late ones and backfills wait beside them. A
manual run whose order overrode the rule is not counted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from schedcore._audit.policies import Policies
from schedcore._audit.report import Notebook
from schedcore._audit.snapshot import Snapshot
from schedcore._audit.words import STATES

__all__ = ["audit_unfinished"]

_LIVE = (
    "select job_id,id,definition,scheduled_for,state,late,opened_at,origin from {s}runs where state<3"
    " order by job_id,id"
)
_CURRENT = "select definition from {s}jobs where id=?"
_MORE = {"queue_one": 1, "replace": 1}
"""Runs that may wait beside the one that runs."""


class _Live(NamedTuple):
    job_id: int
    id: int
    definition: int
    slot: int
    state: int
    late: int
    opened_at: int
    origin: str | None


def audit_unfinished(snapshot: Snapshot, note: Notebook, policies: Policies) -> None:
    """Judge every job that has a run which is not final."""
    for job_id, found in groupby(map(_Live._make, snapshot.stream(_LIVE)), key=lambda run: run.job_id):
        note.checks("I11")
        runs = [run for run in found if not _overridden(run.origin)]
        if len(runs) > 1:
            numbers = {run.definition for run in runs} | {snapshot.value(_CURRENT, job_id)}
            _judge(note, job_id, runs, [policies.overlap(job_id, n) for n in numbers if n is not None])


def _judge(note: Notebook, job_id: int, runs: Sequence[_Live], rules: Sequence[tuple[str, int]]) -> None:
    """By the most generous of the rules that were in force while the runs were opened."""
    most = max(n for _, n in rules)
    running = [run for run in runs if STATES[run.state] == "running"]
    if len(running) > most:
        _finds(note, job_id, running, f"{len(running)} runs at once ({_ids(running)}), and {most} may")
        return
    present = [run for run in runs if not run.late]
    plans = {run.opened_at for run in present}
    allowed = most + max(_MORE.get(rule, 0) for rule, _ in rules)
    if len(plans) > allowed:
        words = ", ".join(sorted({rule for rule, _ in rules}))
        what = f"{len(plans)} runs are unfinished ({_ids(present)}), and under {words} {allowed} may be"
        _finds(note, job_id, present, what)


def _finds(note: Notebook, job_id: int, runs: Sequence[_Live], what: str) -> None:
    note.finds("I11", what, job=job_id, slot=runs[-1].slot, run=runs[-1].id)


def _ids(runs: Sequence[_Live]) -> str:
    shown = ", ".join(str(run.id) for run in runs[:5])
    return shown + (" …" if len(runs) > 5 else "")


def _overridden(origin: str | None) -> bool:
    if origin is None:
        return False
    try:
        data = json.loads(origin)
    except ValueError:
        return False
    return isinstance(data, dict) and data.get("overlap") is not None
