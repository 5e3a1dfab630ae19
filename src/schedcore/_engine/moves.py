"""Moves of a job from state to state (L-07), as functions of a connection that holds the job's lock.

Each move closes a definition, opens the next, and appends an event with actor and reason; what must not fire
has no ``next_run_at``, so one index answers tick and wake-up.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schedcore._engine.passing import count_by, trigger_of
from schedcore._ledger import events, jobs, runs
from schedcore._ledger.events import Actor
from schedcore._ledger.json_text import json_text
from schedcore.domain.clock import SECOND
from schedcore.domain.errors import Conflict
from schedcore.domain.plan import Skip
from schedcore.domain.run import LIVE
from schedcore.domain.trigger import Trigger
from schedcore.domain.zones import tz_version

if TYPE_CHECKING:
    from schedcore._engine.state import Engine
    from schedcore._engine.toolbox import Compiled
    from schedcore._ledger.ledger import Connection, Ledger

__all__ = [
    "BREAKER",
    "MOVES",
    "current",
    "ended_idle",
    "finish_one_shot",
    "invalid",
    "line_of",
    "move",
    "new_definition",
    "next_due",
    "open_breaker",
    "pass_by",
    "pause",
    "pause_unreadable",
    "probe_again",
    "resume",
    "retire",
    "trigger_of",
    "went_by",
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


def next_due(job: dict[str, Any], trigger: Trigger | None, after: int, left: int | None) -> int | None:
    """When the next slot of an active job after an instant is due, its jitter added."""
    if trigger is None:
        return None
    slot = trigger.next_kept(after, left)
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
    changes = json_text({"state": [before, to]})
    events.record(c, job["id"], now, actor, action, reason=reason, changes=changes)
    if to in {"paused", "retired"}:
        events.post(c, now, f"job.{to}", [(job["id"], None)])
    ledger.dialect.notify(c)


def new_definition(
    c: Connection, job: dict[str, Any], now: int, *, since: int | None = None, **changed: Any
) -> int:
    """Close the job's definition and open the next with these columns changed; answers its number.

    What was decided stays with the definition that owed it: the next begins after ``last_slot``. Two changes
    in one microsecond give the first no slot at all, which is what happened.
    """
    current = jobs.definition(c, job["id"], job["definition"])
    decided = job["last_slot"] + 1 if job["last_slot"] is not None else 0
    since = max(now if since is None else since, current["valid_from"], decided)
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


def resume(e: Engine, c: Connection, job: dict[str, Any], actor: Actor, reason: str | None, now: int) -> int:
    """Resume a paused job: the slots between are one row, none of them runs (A-16). Answers how many."""
    count, due = pass_by(e, c, job, now)
    move(
        e.ledger,
        c,
        job | due,
        "active",
        actor,
        reason,
        now,
        action="resume",
        due=due,
        values={"streak": 0, "breaker_at": None},
    )
    if due and due["next_run_at"] is None:
        finish_one_shot(e.ledger, c, [job["id"]], now)
    return count


def pass_by(e: Engine, c: Connection, job: dict[str, Any], now: int) -> tuple[int, dict[str, Any]]:
    """Count the slots that went by while a locked job was paused; how many, and the row of ``due`` that follows."""
    lines, due = went_by(e, c, job, now)
    runs.skip(c, lines)
    return sum(line["slots"] for line in lines), due


def went_by(
    e: Engine, c: Connection, job: dict[str, Any], now: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The skipped rows for the slots that went by while a job was paused, and the row of ``due`` that follows.

    One row, or one for each definition that owed some of them.
    """
    last = job["last_slot"]
    start = last if last is not None else job["anchor"]
    found = count_by(
        jobs.definitions_since(c, job["id"], start),
        e.toolbox.triggers,
        last=last,
        start=start,
        now=now,
        left=job["slots_left"],
        word="breaker" if job["breaker_at"] is not None else "paused",
    )
    if found.trigger is None and not found.rows:
        return [], {}
    due = next_due(job, found.trigger, max(now, found.last or start), found.left)
    lines = [line_of(job, number, skip, now, job["state_actor"]) for number, skip in found.rows]
    return lines, {"next_run_at": due, "last_slot": found.last, "slots_left": found.left}


def current(c: Connection, job: dict[str, Any]) -> dict[str, Any]:
    """The definition of a job that is in force."""
    return jobs.definition(c, job["id"], job["definition"])


def line_of(job: dict[str, Any], number: int, skip: Skip, now: int, actor: str | None) -> dict[str, Any]:
    """The skipped row of a job that no opening wrote."""
    return {
        "job_id": job["id"],
        "definition": number,
        "first_slot": skip.first,
        "last_slot": skip.last,
        "slots": skip.count,
        "reason": skip.reason,
        "run_id": None,
        "decided_at": now,
        "host_id": None,
        "actor": actor,
    }


def retire(e: Engine, c: Connection, job: dict[str, Any], actor: Actor, reason: str | None, now: int) -> None:
    """Retire a job: no further slot, its history stays, its key is free (P-26).

    What was due and not opened yet is counted, like what goes by in a pause: it was owed, and does not run.
    """
    if job["state"] == "retired":
        raise Conflict(
            f"job {job['key']!r} is retired already", code="wrong_state", field="job", value=job["key"]
        )
    _, due = pass_by(e, c, job, now)
    move(
        e.ledger,
        c,
        job | due,
        "retired",
        actor,
        reason,
        now,
        action="retire",
        due=due | {"next_run_at": None},
    )


def open_breaker(
    e: Engine, c: Connection, job_id: int, compiled: Compiled, reason: str, now: int, *, was_probe: bool
) -> None:
    """Too many failed in a row: pause the job, with one probe slot after its cool-down, if it has one (A-11).

    A job that somebody paused or retired meanwhile stays what it is.
    """
    again = None
    if compiled.policies.breaker_cooldown and compiled.trigger is not None:
        again = compiled.trigger.next_kept(now + compiled.policies.breaker_cooldown * SECOND - 1)
    job = jobs.lock(c, job_id)
    if job["state"] == "active":
        pause(e.ledger, c, job_id, Actor(e.name, "machine"), reason, now, breaker_at=now, next_run_at=again)
    elif was_probe and job["state"] == "paused" and job["breaker_at"] is not None:
        jobs.update(c, job_id, breaker_at=now, updated_at=now)  # open again for the same time
        jobs.set_due(c, job_id, next_run_at=again)


def finish_one_shot(ledger: Ledger, c: Connection, job_ids: list[int], now: int) -> None:
    """Jobs without a further slot whose last run is final are ``done`` (L-07, P-33)."""
    for job_id in sorted(job_ids):
        job = jobs.lock(c, job_id)
        if job["state"] == "active" and job["next_run_at"] is None and not _living(c, job_id, 1):
            move(
                ledger,
                c,
                job,
                "done",
                Actor("schedcore", "machine"),
                "no slot is left, and its last run is final",
                now,
                action="done",
            )


def ended_idle(e: Engine, c: Connection, ended: Sequence[tuple[int, int]], now: int) -> None:
    """What follows when runs that nobody held have become final: listeners hear of it, one-shots are done, and
    a breaker gets its next probe. ``ended`` are pairs of (job id, run id)."""
    if not ended:
        return
    events.post(c, now, "run.final", ended)
    ids = sorted({job_id for job_id, _ in ended})
    finish_one_shot(e.ledger, c, ids, now)
    for job_id in ids:
        probe_again(e, c, job_id, now)


def probe_again(e: Engine, c: Connection, job_id: int, now: int) -> None:
    """A probe that told nothing leaves the breaker open for the next slot (A-11); one that lives is waited for."""
    job = jobs.lock(c, job_id)
    if job["state"] != "paused" or job["breaker_at"] is None or job["next_run_at"] is not None:
        return
    if any(run["probe"] for run in _living(c, job_id)):
        return
    key = (job_id, job["definition"])
    compiled = e.compiler.of([key], lambda keys: e.ledger.hot.definitions(c, keys))[key]
    if isinstance(compiled, Exception) or compiled.trigger is None or not compiled.policies.breaker_cooldown:
        return
    again = max(now, job["breaker_at"] + compiled.policies.breaker_cooldown * SECOND - 1)
    jobs.set_due(c, job_id, next_run_at=compiled.trigger.next_kept(again))


def _living(c: Connection, job_id: int, limit: int = 1000) -> list[dict[str, Any]]:
    return runs.listed(c, job_id=job_id, states=[s.value for s in LIVE], limit=limit)


def pause_unreadable(e: Engine, c: Connection, job_id: int, number: int, error: Exception, now: int) -> None:
    """A definition that storage holds in an unreadable form pauses its job, alone, and shows why (G16)."""
    reason = f"invalid: {error}"[:500]
    log.error("job %d cannot be read and is paused: %s", job_id, error)
    pause(e.ledger, c, job_id, Actor(e.name, "machine"), reason, now)
