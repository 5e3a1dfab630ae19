"""Calendars of jobs beside those that are declared: what a host makes of changes, once, at its start (F-15).

A definition holds its calendar whole, so every host decides alike and the past keeps what held then. A calendar
that says something else now opens a new definition from now on, as new zone data do; a job whose calendar
nobody declares any more is paused as ``invalid``, and goes on when it is declared again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._engine import moves
from schedcore._engine.opening import open_job
from schedcore._ledger import calendars, events, jobs, runs
from schedcore._ledger.events import Actor
from schedcore._ledger.json_text import json_text
from schedcore.domain.calendar import Calendar
from schedcore.domain.clock import MILLISECOND
from schedcore.domain.plan import passed
from schedcore.domain.trigger import Trigger

if TYPE_CHECKING:
    from schedcore._engine.state import Engine
    from schedcore._ledger.ledger import Connection

__all__ = ["GONE", "count_dropped", "digests", "follow_calendars", "gone"]

log = logging.getLogger("schedcore.host")
GONE = "invalid: its calendar "
"""How the reason begins of a job whose calendar is gone, or leaves it no slot."""
_STATES = ("active", "paused", "pending")


def digests(declared: Mapping[str, Calendar]) -> dict[str, str]:
    """What a host announces of its calendars: a short hash of each, by name."""
    return {
        name: sha256(json_text(one.to_dict()).encode()).hexdigest()[:12] for name, one in declared.items()
    }


def gone(reason: str | None) -> bool:
    """Is this the reason of a job whose calendar is gone, or leaves it no slot?"""
    return bool(reason) and str(reason).startswith(GONE)


def follow_calendars(e: Engine) -> int:
    """Bring the jobs that name a calendar up to what is declared now, each in a transaction of its own.

    Answers how many were changed; those whose calendar says what it said are only read.
    """
    declared = {name: one.to_dict() for name, one in e.toolbox.calendars.items()}
    with e.ledger.read() as c:
        elsewhere = calendars.declared_by_live(c, e.ledger.times.now(c)) or set()
        found = [
            job_id
            for job_id, trigger, state, reason in calendars.with_calendar(c, _STATES)
            if _asks(trigger, state, reason, declared, elsewhere)
        ]
    changed = 0
    for job_id in found:
        with e.ledger.write() as c:
            job = jobs.lock(c, job_id)
            definition = moves.current(c, job)
            try:
                trigger = moves.trigger_of(definition, e.toolbox.triggers)
            except Exception as error:  # whatever storage holds: opening it pauses the job (G16)
                log.warning("job %s: its calendar cannot be followed: %s", job["key"], error)
                continue
            if trigger is not None and trigger.calendar is not None:
                changed += _follow(e, c, job, trigger, trigger.calendar, elsewhere, e.ledger.times.now(c))
    return changed


def _asks(
    trigger: str, state: str, reason: str | None, declared: Mapping[str, Any], elsewhere: set[str]
) -> bool:
    """May there be something to do about a job?"""
    try:
        held = orjson.loads(trigger)["calendar"]
        name = held["name"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return False  # opening it says that it cannot be read (G16)
    if name not in declared:
        return state == "active" and name not in elsewhere
    return bool(declared[name] != held) or gone(reason)


def count_dropped(
    e: Engine, c: Connection, job: dict[str, Any], trigger: Trigger, now: int
) -> dict[str, Any]:
    """Decide the dropped slots of a locked job that came before any that is kept, since its definition ends now;
    answers the job as it is then."""
    if not trigger.drops:
        return job
    start = job["anchor"] if job["last_slot"] is None else job["last_slot"]
    following = trigger.next_kept(start, job["slots_left"])
    until = now if following is None else min(now, following - 1)
    row = passed(trigger, start, until, "calendar", left=job["slots_left"])
    if row is None:
        return job
    runs.skip(c, [moves.line_of(job, job["definition"], row, now, actor=None)])
    left = None if job["slots_left"] is None else job["slots_left"] - row.count
    jobs.set_due(c, job["id"], last_slot=row.last, slots_left=left)
    return {**job, "last_slot": row.last, "slots_left": left}


def _follow(
    e: Engine,
    c: Connection,
    job: dict[str, Any],
    trigger: Trigger,
    held: Calendar,
    elsewhere: set[str],
    now: int,
) -> bool:
    name = held.name
    declared = e.toolbox.calendars.get(name)
    actor = Actor(e.name, "machine")
    if declared is None:
        if name in elsewhere or job["state"] != "active":
            return False
        reason = f"{GONE}{name!r} is declared by no host; declare it again, or edit the job"
        log.error("job %s is paused: calendar %r is declared by no host", job["key"], name)
        moves.pause(e.ledger, c, job["id"], actor, reason, now)
        return True
    changed = declared != held
    if changed:
        trigger = replace(trigger, calendar=declared)
        job = _redefine(e, c, job, trigger, actor, now)
    idle = job["state"] == "paused" and gone(job["state_reason"])
    if idle and trigger.next_kept(now, job["slots_left"]) is not None:
        moves.resume(e, c, job, actor, f"calendar {name!r} is declared again", now)
        return True
    return changed


def _redefine(
    e: Engine, c: Connection, job: dict[str, Any], trigger: Trigger, actor: Actor, now: int
) -> dict[str, Any]:
    """A new definition from now on; what was owed until now is decided first, by the one that owed it (G15)."""
    if job["state"] == "active":
        open_job(e, c, job["id"], job["lane"], now)
        job = jobs.lock(c, job["id"])  # a trigger that raised may have paused it
    due: dict[str, Any] = {}
    if job["state"] == "active":
        start = max(now, job["last_slot"] or 0)
        due["anchor" if job["last_slot"] is None else "last_slot"] = start
        due["next_run_at"] = moves.next_due(job, trigger, start, job["slots_left"])
    elif job["next_run_at"] is not None:  # the probe of an open breaker
        due["next_run_at"] = trigger.next_kept(job["next_run_at"] - MILLISECOND)
    before, after = moves.current(c, job)["trigger"], json_text(trigger.to_dict())
    number = moves.new_definition(c, job, now, trigger=after)
    jobs.update(c, job["id"], definition=number, updated_at=now)
    jobs.set_due(c, job["id"], definition=number, **due)
    assert trigger.calendar is not None
    name = trigger.calendar.name
    reason, changes = f"calendar {name!r} says something else now", json_text({"trigger": [before, after]})
    events.record(c, job["id"], now, actor, "calendar", reason=reason, changes=changes)
    e.ledger.dialect.notify(c)
    job = jobs.lock(c, job["id"])
    ends = job["state"] == "active" and job["next_run_at"] is None and job["slots_left"] != 0
    if ends and trigger.next(now) is not None:  # it would end in silence: it says why instead
        reason = f"{GONE}{name!r} drops every slot that is left; edit the job or the calendar"
        log.error("job %s is paused: %s", job["key"], reason)
        moves.pause(e.ledger, c, job["id"], actor, reason, now)
        job = jobs.lock(c, job["id"])
    return job
