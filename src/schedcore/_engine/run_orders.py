"""Orders about runs: run now, retry, backfill, cancel, release, as functions of a connection.

As :mod:`schedcore._engine.orders`: everything was checked before, and what is refused here is what only the ledger's
present state can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schedcore._engine import moves
from schedcore._engine.recovery import close_lost
from schedcore._engine.state import Engine
from schedcore._engine.toolbox import Compiled
from schedcore._ledger import events, jobs
from schedcore._ledger import runs as rows
from schedcore._ledger.events import Actor
from schedcore._ledger.json_text import json_text
from schedcore.domain.clock import MILLISECOND, text
from schedcore.domain.errors import Conflict
from schedcore.domain.outcome import Outcome
from schedcore.domain.overlap import Live, judge
from schedcore.domain.run import FINAL, RunState, RunTrigger
from schedcore.domain.trigger import Trigger

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection, Ledger

__all__ = [
    "backfill",
    "cancel",
    "final_run",
    "may_release",
    "may_run",
    "release",
    "replace_live",
    "run_now",
]

_QUEUED, _RUNNING, _WAITING = RunState.QUEUED.value, RunState.RUNNING.value, RunState.WAITING.value
_FINAL = {s.value for s in FINAL}


def may_run(
    e: Engine, c: Connection, job: dict[str, Any], now: int, *, overlap: str | None = None
) -> tuple[Compiled, str]:
    """May a manual run of the job open now? Its definition, and the verdict of the overlap rule; changes nothing.

    Raises :class:`Conflict` (``wrong_state``, ``invalid``, ``overlap``).
    """
    if job["state"] == "retired" or moves.invalid(job["state_reason"]) or job["state"] == "pending":
        raise Conflict(
            f"job {job['key']!r} is {job['state']}"
            + (f" ({job['state_reason']})" if job["state_reason"] else ""),
            code="wrong_state",
            field="job",
            value=job["key"],
        )
    key = (job["id"], job["definition"])
    compiled = e.compiler.of([key], lambda keys: e.ledger.hot.definitions(c, keys))[key]
    if isinstance(compiled, Exception):
        raise Conflict(
            f"job {job['key']!r} cannot be read: {compiled}", code="invalid", field="job", value=job["key"]
        )
    row = jobs.due_row(c, job["id"])
    live = Live(row[7] + row[8], row[9], 1 if row[10] is not None and row[10] > now else 0)
    verdict = judge(
        overlap or compiled.policies.overlap, 32 if overlap else compiled.policies.overlap_max, live
    )
    if verdict == "skip":
        raise Conflict(
            f"a run of {job['key']!r} is alive, and its overlap rule is {compiled.policies.overlap!r}",
            code="overlap",
            field="job",
            value=job["key"],
            hint="wait for it, cancel it, or add --overlap parallel",
        )
    return compiled, verdict


def run_now(
    e: Engine,
    c: Connection,
    job: dict[str, Any],
    actor: Actor,
    now: int,
    *,
    reason: str | None = None,
    overlap: str | None = None,
    retry_of: dict[str, Any] | None = None,
) -> int:
    """Open a manual run of a locked job; answers its id (A-15, P-07).

    Its instant is that of the order, or the next free millisecond. The overlap rule of the job holds unless
    the order overrides it, which is recorded. Raises :class:`Conflict` when the rule says skip.
    """
    compiled, verdict = may_run(e, c, job, now, overlap=overlap)
    if verdict == "replace":
        replace_live(e.ledger, c, [job["id"]], now)
    slot = _manual_instant(c, compiled, now)
    origin = json_text({"actor": actor.name, "actor_kind": actor.kind, "reason": reason, "overlap": overlap})
    delivery = retry_of["delivery_key"] if retry_of else None
    if retry_of is not None and delivery is None:
        delivery = _delivery_key(compiled, retry_of)
    (run_id,) = e.ledger.hot.insert_runs(
        c,
        [
            (
                job["id"],
                job["definition"],
                job["lane"],
                slot,
                RunTrigger.MANUAL.value,
                _QUEUED,
                0,
                0 if verdict == "open" else 1,
                now,
                now,
                None,
                origin,
                delivery,
                None,
                retry_of["id"] if retry_of else None,
                None,
            )
        ],
    )
    jobs.touch(c, [job["id"]])
    action = "retry" if retry_of else "run"
    changes = json_text({"overlap": [compiled.policies.overlap, overlap]}) if overlap else None
    events.record(c, job["id"], now, actor, action, reason=reason, run_id=run_id, changes=changes)
    e.ledger.dialect.notify(c)
    return int(run_id)


def _manual_instant(c: Connection, compiled: Compiled, now: int) -> int:
    """The order's own millisecond, or the next that neither has a run nor is a slot of the job (A-15)."""
    slot = rows.free_millisecond(c, compiled.job_id, -(-now // MILLISECOND) * MILLISECOND)
    while compiled.trigger is not None and compiled.trigger.is_slot(slot):
        slot = rows.free_millisecond(c, compiled.job_id, slot + MILLISECOND)
    return slot


def _delivery_key(compiled: Any, run: dict[str, Any]) -> str:
    from schedcore.domain.keys import render_key
    from schedcore.domain.run import run_key

    slot = run["scheduled_for"]
    key = run_key(compiled.uid, slot)
    template = compiled.policies.delivery_key
    return render_key(template, job_id=compiled.uid, run_key=key, scheduled_for=slot, zone=compiled.zone)


def backfill(
    e: Engine,
    c: Connection,
    job: dict[str, Any],
    trigger: Trigger,
    slots: Sequence[int],
    actor: Actor,
    now: int,
    reason: str | None,
) -> int:
    """Open slots that have no run yet, oldest first, one after another; answers how many.

    They are decided already, or were never owed: a backfill decides nothing (``docs/decisions/0019``).
    """
    taken = rows.answered(c, job["id"], slots)
    free = [s for s in slots if s not in taken]
    if free:
        e.ledger.hot.insert_runs(
            c,
            [
                (
                    job["id"],
                    job["definition"],
                    job["lane"],
                    slot,
                    RunTrigger.BACKFILL.value,
                    _QUEUED,
                    1,
                    1,
                    now,
                    now,
                    None,
                    None,
                    None,
                    None,
                    None,
                    None,
                )
                for slot in free
            ],
        )
        changes = json_text({"slots": [len(free), text(free[0]), text(free[-1])]})
        events.record(c, job["id"], now, actor, "backfill", reason=reason, changes=changes)
        e.ledger.dialect.notify(c)
    return len(free)


def replace_live(ledger: Ledger, c: Connection, job_ids: Sequence[int], now: int) -> None:
    """What runs of these jobs is stopped, what waits is taken out; both end ``cancelled: replaced``."""
    for job_id in job_ids:
        for run in rows.listed(c, job_id=job_id, states=(_QUEUED, _RUNNING, _WAITING), limit=200):
            if run["state"] == _RUNNING:
                rows.order_stop(c, run["id"], "replaced", "schedcore")
            elif _cancel_idle(c, run["id"], "replaced", now):
                events.post(c, now, "run.final", [(job_id, run["id"])])
    ledger.dialect.notify(c)


def _cancel_idle(c: Connection, run_id: int, reason: str, now: int) -> int:
    state, leaves = RunState.CANCELLED.value, (_QUEUED, _WAITING)
    return rows.settle_idle(
        c, [run_id], leaves, now, state=state, reason=reason, text=None, outcome="cancelled"
    )


def cancel(e: Engine, c: Connection, run: dict[str, Any], actor: Actor, reason: str, now: int) -> str:
    """Stop a run: queued and waiting ones end ``cancelled`` at once, running ones are stopped by their holder.

    Answers ``cancelled`` or ``stopping``. Raises :class:`Conflict` on a final run (F-11).
    """
    if run["state"] in _FINAL:
        raise final_run(run)
    jobs.lock(c, run["job_id"])
    told = "cancelled"
    if not _cancel_idle(c, run["id"], "operator", now):
        if not rows.order_stop(c, run["id"], "operator", actor.name):
            raise final_run(run)
        told = "stopping"
    events.record(c, run["job_id"], now, actor, "cancel", reason=reason, run_id=run["id"])
    if told == "cancelled":
        moves.ended_idle(e, c, [(run["job_id"], run["id"])], now)
    e.ledger.dialect.notify(c)
    return told


def release(e: Engine, c: Connection, run: dict[str, Any], actor: Actor, reason: str, now: int) -> None:
    """Take the lease of a run from a host believed dead and end it ``interrupted: released`` (F-11)."""
    may_release(run)
    job = jobs.lock(c, run["job_id"])
    outcome = Outcome("interrupted", "released", f"released by {actor.name}: {reason}")
    if not close_lost(e, c, run, job, outcome, now):
        raise Conflict(f"run {run['id']} ended meanwhile", code="lost_race", field="run", value=run["id"])
    rows.end_known(c, run["id"])
    events.record(c, run["job_id"], now, actor, "release", reason=reason, run_id=run["id"])
    e.ledger.dialect.notify(c)


def may_release(run: dict[str, Any]) -> None:
    """Raises :class:`Conflict` for a run that no host holds."""
    if run["state"] in _FINAL:
        raise final_run(run)
    if run["state"] != _RUNNING:
        raise Conflict(
            f"run {run['id']} is not held by any host", code="wrong_state", field="run", value=run["id"]
        )


def final_run(run: dict[str, Any]) -> Conflict:
    """The answer to an order about a run that is final."""
    word = RunState(run["state"]).word
    return Conflict(f"run {run['id']} is final ({word})", code="run_final", field="run", value=run["id"])
