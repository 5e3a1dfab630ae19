"""Moves of a job from state to state (L-07), as functions of a connection that holds the job's lock.

Each move closes a definition, opens the next, and appends an event with actor and reason; what must not fire
has no ``next_run_at``, so one index answers tick and wake-up.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._ledger import events, jobs, runs
from schedcore._ledger.events import Actor
from schedcore.domain.errors import Conflict
from schedcore.domain.plan import passed
from schedcore.domain.trigger import Trigger
from schedcore.domain.zones import tz_version

if TYPE_CHECKING:
    from schedcore._engine.state import Engine
    from schedcore._ledger.ledger import Connection, Ledger

__all__ = [
    "BREAKER",
    "MOVES",
    "finish_one_shot",
    "invalid",
    "move",
    "new_definition",
    "next_due",
    "pause",
    "pause_unreadable",
    "resume",
    "retire",
    "trigger_of",
]

log = logging.getLogger("schedcore.jobs")
BREAKER = "max_consecutive_failures"
MOVES = {
    ("pending", "active"),
    ("active", "paused"),
    ("paused", "active"),
    ("active", "done"),
    ("paused", "done"),
    ("done", "active"),
    ("active", "pending"),
    ("paused", "pending"),
}


def invalid(reason: str | None) -> bool:
    """Is this the reason of a job that storage holds in an unreadable form?"""
    return bool(reason) and str(reason).startswith("invalid:")


def trigger_of(definition: dict[str, Any]) -> Trigger | None:
    """The trigger of a stored definition; ``None`` for a job without one. Raises what reading it raises."""
    data = orjson.loads(definition["trigger"])
    return Trigger.from_dict(data) if data is not None else None


def next_due(job: dict[str, Any], trigger: Trigger | None, after: int, left: int | None) -> int | None:
    """When the next slot of an active job after an instant is due, its jitter added."""
    if trigger is None or left == 0:
        return None
    slot = trigger.next(after)
    return None if slot is None else slot + trigger.jitter_of(job["uid"], slot)


def move(
    ledger: Ledger,
    c: Connection,
    job: dict[str, Any],
    to: str,
    actor: Actor,
    reason: str | None,
    now: int,
    *,
    action: str,
    due: dict[str, Any] | None = None,
    values: dict[str, Any] | None = None,
) -> None:
    """Put a locked job into another state; anything outside L-07 is :class:`Conflict`."""
    before = job["state"]
    if to != "retired" and before != "retired" and (before, to) not in MOVES:
        raise Conflict(
            f"job {job['key']!r} is {before}; it cannot become {to}",
            code="wrong_state",
            field="job",
            value=job["key"],
        )
    number = new_definition(c, job, now, state=to, state_reason=reason)
    jobs.update(
        c,
        job["id"],
        state=to,
        state_reason=reason,
        state_actor=actor.name,
        state_at=now,
        state_before=before,
        definition=number,
        updated_at=now,
        **(values or {}),
    )
    jobs.set_due(c, job["id"], definition=number, faults=0, **(due or {}))
    changes = orjson.dumps({"state": [before, to]}).decode()
    events.record(c, job["id"], now, actor, action, reason=reason, changes=changes)
    if to in {"paused", "retired"}:
        events.post(c, now, f"job.{to}", [(job["id"], None)])
    ledger.dialect.notify(c)


def new_definition(c: Connection, job: dict[str, Any], now: int, **changed: Any) -> int:
    """Close the job's definition and open the next with these columns changed; answers its number.

    Two changes in one microsecond give the first no slot at all, which is what happened.
    """
    current = jobs.definition(c, job["id"], job["definition"])
    since = max(now, current["valid_from"])
    jobs.close_definition(c, job["id"], current["number"], since)
    following = {**current, "valid_to": None, "valid_from": since, "number": current["number"] + 1}
    following["tz_version"] = tz_version()
    following.update(changed)
    jobs.open_definition(c, following)
    return int(following["number"])


def pause(
    ledger: Ledger, c: Connection, job_id: int, actor: Actor, reason: str, now: int, **values: Any
) -> dict[str, Any]:
    """Pause an active job: no slot opens until it is resumed. Answers the job as it was."""
    job = jobs.lock(c, job_id)
    if job["state"] == "active":
        due = {"next_run_at": values.pop("next_run_at", None)}
        move(ledger, c, job, "paused", actor, reason, now, action="pause", due=due, values=values)
    return job


def resume(
    ledger: Ledger, c: Connection, job: dict[str, Any], actor: Actor, reason: str | None, now: int
) -> int:
    """Resume a paused job: the slots between are one row, none of them runs (A-16). Answers how many."""
    current = jobs.definition(c, job["id"], job["definition"])
    trigger = trigger_of(current)
    word = "breaker" if job["breaker_at"] is not None else "paused"
    count, due = _pass(c, job, trigger, word, now, actor)
    move(
        ledger,
        c,
        job,
        "active",
        actor,
        reason,
        now,
        action="resume",
        due=due,
        values={"streak": 0, "breaker_at": None},
    )
    return count


def _pass(
    c: Connection, job: dict[str, Any], trigger: Trigger | None, word: str, now: int, actor: Actor
) -> tuple[int, dict[str, Any]]:
    """Count the slots that went by into one skipped row; the row of ``due`` that follows."""
    if trigger is None:
        return 0, {}
    start = job["last_slot"] if job["last_slot"] is not None else job["anchor"]
    skip = passed(trigger, start, now, word, left=job["slots_left"])
    left, last = job["slots_left"], job["last_slot"]
    if skip is not None:
        left = left if left is None else left - skip.count
        last = skip.last
        line = {
            "job_id": job["id"],
            "definition": job["definition"],
            "first_slot": skip.first,
            "last_slot": skip.last,
        }
        line |= {"slots": skip.count, "reason": word, "run_id": None, "decided_at": now, "host_id": None}
        runs.skip(c, [{**line, "actor": job["state_actor"]}])
    due = next_due(job, trigger, max(now, last or start), left)
    return (skip.count if skip else 0), {"next_run_at": due, "last_slot": last, "slots_left": left}


def retire(
    ledger: Ledger, c: Connection, job: dict[str, Any], actor: Actor, reason: str | None, now: int
) -> None:
    """Retire a job: no further slot, its history stays, its key is free (P-26)."""
    if job["state"] == "retired":
        raise Conflict(
            f"job {job['key']!r} is retired already", code="wrong_state", field="job", value=job["key"]
        )
    move(ledger, c, job, "retired", actor, reason, now, action="retire", due={"next_run_at": None})


def finish_one_shot(ledger: Ledger, c: Connection, job_ids: list[int], now: int) -> None:
    """Jobs without a further slot whose last run is final are ``done`` (L-07, P-33)."""
    for job_id in sorted(job_ids):
        job = jobs.lock(c, job_id)
        if job["state"] == "active" and job["next_run_at"] is None and not _lives(c, job_id):
            move(
                ledger,
                c,
                job,
                "done",
                Actor("schedcore", "machine"),
                "its last slot has run",
                now,
                action="done",
            )


def _lives(c: Connection, job_id: int) -> bool:
    from schedcore.domain.run import LIVE

    return bool(runs.listed(c, job_id=job_id, states=[s.value for s in LIVE], limit=1))


def pause_unreadable(e: Engine, c: Connection, job_id: int, number: int, error: Exception, now: int) -> None:
    """A definition that storage holds in an unreadable form pauses its job, alone, and shows why (G16)."""
    reason = f"invalid: {error}"[:500]
    log.error("job %d cannot be read and is paused: %s", job_id, error)
    pause(e.ledger, c, job_id, Actor(e.name, "machine"), reason, now)
