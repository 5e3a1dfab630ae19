"""The second pass: every run beside its attempts, in the order of their numbers (I5 to I10, I14, I17, L2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from schedcore._audit.clock_of_ledger import LedgerClock
from schedcore._audit.policies import Policies
from schedcore._audit.report import Notebook
from schedcore._audit.snapshot import Snapshot
from schedcore._audit.tries import Run, Try, judge, set_back, went_well
from schedcore._audit.words import FINAL
from schedcore.domain.clock import SECOND, text

__all__ = ["audit_attempts"]

_RUNS = (
    "select id,job_id,definition,scheduled_for,trigger,state,attempts,fence,lease_end,opened_at,started_at,"
    "finished_at,outcome,reason,next_attempt_at from {s}runs where id>=? order by id"
)
_TRIES = (
    "select run_id,number,fence,claimed_at,started_at,finished_at,outcome,reason from {s}attempts where run_id>=?"
    " order by run_id,number"
)
_TWICE = (
    "select r.id,r.job_id,r.scheduled_for from {s}runs r join (select run_id from {s}outbox where topic=?"
    " group by run_id having count(*)>1) o on o.run_id=r.id where r.id>=? order by r.id"
)
_LONGEST_GRACE_S, _LONGEST_LEASE_S = 300, 900
"""Neither is in the ledger, so the longest that a host may be told are taken; likewise the judge's wait (G8)."""
_CLOCK = "its instants show that the ledger's clock was set back meanwhile"


def audit_attempts(
    snapshot: Snapshot,
    note: Notebook,
    clock: LedgerClock,
    policies: Policies,
    first: int,
    tick: Callable[[int], None],
) -> None:
    """Judge every run from the number ``first`` on. ``tick`` is told of runs that were read."""
    runs = attempts = final = lost = 0
    for run, tries in _beside(snapshot, first):
        runs += 1
        attempts += len(tries)
        final += run.state in FINAL
        if not went_well(run, tries):
            lost += sum(one.outcome == "interrupted" for one in tries)
            _judge(note, clock, policies, run, tries)
        if runs % 1_000 == 0:
            tick(1_000)
    tick(runs % 1_000)
    for rule, checked in {
        "I5": runs,
        "I6": attempts,
        "I7": runs,
        "I8": runs,
        "I9": final,
        "I10": lost,
    }.items():
        note.checks(rule, checked)
    note.checks("I14", attempts)
    note.checks("I17", final)
    for run_id, job_id, slot in snapshot.stream(_TWICE, "run.final", first):
        note.finds("I8", f"run {run_id}: its end was told twice", job=job_id, slot=slot, run=run_id)


def _beside(snapshot: Snapshot, first: int) -> Iterator[tuple[Run, list[Try]]]:
    """Runs with their attempts. Attempts of no run are passed over; I20 names them."""
    stream = map(Try._make, snapshot.stream(_TRIES, first))
    following = next(stream, None)
    for row in snapshot.stream(_RUNS, first):
        run = Run._make(row)
        while following is not None and following.run_id < run.id:
            following = next(stream, None)
        mine: list[Try] = []
        while following is not None and following.run_id == run.id:
            mine.append(following)
            following = next(stream, None)
        yield run, mine


def _judge(note: Notebook, clock: LedgerClock, policies: Policies, run: Run, tries: list[Try]) -> None:
    again = any(one.outcome == "interrupted" for one in tries[:-1])
    retries = policies.retries_lost(run.job_id, run.definition) if again else None
    for rule, what in judge(run, tries, retries):
        note.finds(rule, f"run {run.id}: {what}", job=run.job_id, slot=run.slot, run=run.id)
    if set_back(run, tries):
        note.leaves("I5", _CLOCK)
    if tries and tries[-1].finished_at is None:
        _open(note, clock, policies, run, tries[-1])


def _open(note: Notebook, clock: LedgerClock, policies: Policies, run: Run, last: Try) -> None:
    """An attempt that is open: for how long by the ledger's clock? (L2)"""
    if clock.now is None or clock.host is None:
        note.leaves("L2", "no host lives that has beaten")
        return
    if clock.stepped_at is not None and clock.stepped_at >= last.claimed_at:
        note.leaves("L2", "the ledger's clock was stepped while it was open")
        return
    note.checks("L2")
    until = last.claimed_at + (policies.limit_s(run.job_id, run.definition) + _LONGEST_GRACE_S) * SECOND
    if clock.host.awake_since(until) > _LONGEST_LEASE_S * SECOND + 2 * clock.host.beat_every:
        what = f"run {run.id}: attempt {last.number} is open since {text(last.claimed_at)}, and should have ended"
        note.finds("L2", f"{what} by {text(until)}", job=run.job_id, slot=run.slot, run=run.id)


def first_since(snapshot: Snapshot, table: str, stamp: str, since: int | None) -> int:
    """The lowest number of a row that was written at an instant or later; numbers rise with time."""
    if since is None:
        return 0
    low, high = 0, 1 + int(snapshot.value(f"select coalesce(max(id),0) from {{s}}{table}"))
    while low < high:
        middle = (low + high) // 2
        found: Any = snapshot.rows(
            f"select {stamp} from {{s}}{table} where id>=? order by id limit 1", middle
        )
        if found and found[0][0] < since:
            low = middle + 1
        else:
            high = middle
    return low
