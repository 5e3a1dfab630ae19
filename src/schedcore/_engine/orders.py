"""Orders about jobs and runs, as functions of a connection in a writing transaction.

Everything was checked before; what is refused here is what only the ledger's present state can tell. Every
order leaves an event with actor, reason and what changed (P-16), and is answered only after its commit (P-25).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._engine import moves
from schedcore._engine.opening import open_job
from schedcore._engine.ordered import differences
from schedcore._engine.state import Engine
from schedcore._engine.toolbox import needs_text
from schedcore._ledger import events, jobs
from schedcore._ledger.events import Actor
from schedcore._ledger.json_text import json_text
from schedcore.domain.at import At
from schedcore.domain.clock import text
from schedcore.domain.errors import Conflict, Refused
from schedcore.domain.job import JobOrder
from schedcore.domain.run import FINAL, RunState
from schedcore.domain.trigger import Trigger

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = [
    "edit",
    "revive",
]

_QUEUED, _RUNNING, _WAITING = RunState.QUEUED.value, RunState.RUNNING.value, RunState.WAITING.value
_FINAL = {s.value for s in FINAL}


def edit(
    e: Engine,
    c: Connection,
    job: dict[str, Any],
    order: JobOrder,
    actor: Actor,
    now: int,
    *,
    reason: str | None = None,
    stamp: str | None = None,
) -> dict[str, list[Any]]:
    """Change a locked job to what ``order`` says; answers what changed, old and new, field by field.

    ``stamp`` is that of the declaration it comes from, if it comes from one.

    An edit that leaves trigger and zone alone never moves a due slot; an edit of the trigger first opens what
    is due by the catch-up policy, and recomputes from the edit's instant (P-27).
    """
    if job["state"] == "retired":
        raise Conflict(f"job {job['key']!r} is retired", code="wrong_state", field="job", value=job["key"])
    current = jobs.definition(c, job["id"], job["definition"])
    changed, plain = differences(job, current, order)
    if not changed and not plain:
        return {}
    new = {name: pair[1] for name, pair in changed.items()}
    values: dict[str, Any] = {**plain, "declared": stamp, "updated_at": now}
    before = job["state"]
    if changed:
        more, before = _redefine(e, c, job, order, new, actor, now)
        values |= more
    jobs.update(c, job["id"], **values)
    if changed:
        moves.probe_again(e, c, job["id"], now)  # an open breaker goes on trying, as the new definition says
    told = {**changed, **{k: [job[k], v] for k, v in plain.items()}}
    if values.get("state", before) != before:
        told["state"] = [before, values["state"]]
    events.record(
        c,
        job["id"],
        now,
        actor,
        "edit",
        reason=reason,
        changes=json_text(told),
        digests=(job["digest"], order.digest()),
    )
    e.ledger.dialect.notify(c)
    return told


def _redefine(
    e: Engine,
    c: Connection,
    job: dict[str, Any],
    order: JobOrder,
    new: dict[str, str],
    actor: Actor,
    now: int,
) -> tuple[dict[str, Any], str]:
    """Close the job's definition and open the next; answers the columns of ``jobs`` that change with it, and
    the state in which that found the job.

    What was owed until now is decided first, by the definition that owed it: opened where the job is active,
    counted where it is paused and the trigger changes (G15). That may leave it done, or paused by a fault.
    """
    state, reason = job["state"], job["state_reason"]
    wakes = moves.invalid(reason)  # it can be read again
    due: dict[str, Any] = {}
    if state == "active":
        open_job(e, c, job["id"], job["lane"], now)
        job = jobs.lock(c, job["id"])
        state, reason = job["state"], job["state_reason"]
    elif "trigger" in new or wakes:
        _, due = moves.pass_by(e, c, job, now)
        job = {**job, **due}
    since = None
    if "trigger" in new:
        due = _from_now(job, order.trigger, now)
        since = due["anchor"]
        _refuse_before(c, job, order.trigger)
    if wakes or (state == "done" and due.get("next_run_at") is not None):
        state, reason = "active", None
    probes = state == "paused" and job["breaker_at"] is not None and not new.keys() & {"trigger", "policies"}
    if state != "active" and not probes:
        due["next_run_at"] = None
    number = moves.new_definition(
        c, job, now, since=since, digest=order.digest(), state=state, state_reason=reason, **new
    )
    lane = jobs.lane(c, needs_text(order.kind, order.policies))
    jobs.set_due(c, job["id"], **{**due, "definition": number, "faults": 0, "lane": lane})
    values: dict[str, Any] = {"definition": number, "kind": order.kind}
    if state != job["state"]:
        values |= {"state": state, "state_reason": reason, "state_at": now, "state_actor": actor.name}
        values |= {"state_before": job["state"]}
    return values, job["state"]


def _refuse_before(c: Connection, job: dict[str, Any], trigger: Trigger) -> None:
    """A one-shot of the minute before may be ordered, but not for a time when the job was another (G15)."""
    held = jobs.definition(c, job["id"], job["definition"])["valid_from"]
    at = trigger.rule.us if isinstance(trigger.rule, At) else None
    if at is not None and at < held:
        raise Refused(
            f"the job was changed at {text(held)}, after this instant",
            code="in_the_past",
            field="trigger.at",
            value=trigger.text,
            hint=f"give a later one, or start it with `schedcore run {job['key']}`",
        )


def _from_now(job: dict[str, Any], trigger: Trigger, now: int) -> dict[str, Any]:
    """The row of ``due`` of a job whose trigger is new from now on; ``last_slot`` never moves back."""
    anchor = trigger.owed_from(now)
    if job["last_slot"] is not None:
        anchor = max(anchor, job["last_slot"])
    left = trigger.remaining(0)
    after = anchor
    return {
        "anchor": anchor,
        "last_slot": anchor if job["last_slot"] is not None else None,
        "slots_left": left,
        "next_run_at": moves.next_due(job, trigger, after, left),
    }


def revive(e: Engine, c: Connection, job: dict[str, Any], order: JobOrder, actor: Actor, now: int) -> None:
    """A retired job whose source declares it again takes its former state (L-07)."""
    former = job["state_before"] or "active"
    to = order.state if former == "active" else former
    due: dict[str, Any] = _from_now(job, order.trigger, now) if to == "active" else {}
    moves.move(e.ledger, c, job, to, actor, "its source declares it again", now, action="revive", due=due)
