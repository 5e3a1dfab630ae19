"""Why a slot ran, or did not: answered from the ledger and the code that fires, and from nothing else (P-02)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._engine import moves
from schedcore._host.control import find
from schedcore._host.control.instants import instant_of
from schedcore._host.control.ordering import now_of
from schedcore._host.control.views import instants, run_line, skip_line
from schedcore._host.control.why_words import say
from schedcore._ledger import holds, hosts, jobs, runs
from schedcore.domain.describe import describe_closing
from schedcore.domain.run import RunTrigger
from schedcore.domain.trigger import Trigger

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["why"]

_ASLEEP = {"paused", "pending", "done", "retired"}


def why(control: Asker, text: str, instant: str) -> dict[str, Any]:
    """See :meth:`Control.why`."""
    with control.ledger.read() as c:
        job = find.job_of(c, text)
        stored = jobs.triggers(c, [job["id"]]).get(job["id"], "null")
        zone = find.zone_of(control, stored)
        at = instant_of(instant, zone, "instant")
        now = now_of(control, c)
        found = _look(control, c, job, at, now)
        run = found.pop("row", None)
        whole = runs.one(c, run["id"]) if run else None
        skip = found.pop("skip", None)
    answer = {
        "v": 1,
        "job": job["uid"],
        "key": job["key"],
        **instants(zone, instant=at),
        "verdict": found["verdict"],
        "reason": found.get("reason"),
        "actor": found.get("actor"),
        "definition": found.get("definition"),
        "run": run_line(whole, zone) if whole else None,
        "skipped": skip_line(skip, zone) if skip else None,
        **instants(zone, nearest=found.get("nearest")),
    }
    return answer | {"sentence": say(answer, found.get("more", {}))}


def _look(control: Asker, c: Connection, job: dict[str, Any], at: int, now: int) -> dict[str, Any]:
    run, skip = runs.decided(c, job["id"], at)
    if skip is not None and not _counts(control, c, job, skip, at):
        skip = None
    backfilled = run is not None and run["trigger"] == RunTrigger.BACKFILL.value
    if run is not None and not (backfilled and skip is not None):
        more = _judged(control, c, job, run["definition"], at)
        found = {"verdict": "run", "row": run, "definition": run["definition"], "more": more}
        return found | {"reason": run["reason"]}
    if skip is not None:  # a backfill decides nothing: what was decided stands, its run is named beside it
        more = _judged(control, c, job, skip["definition"], at)
        found = {"verdict": "skipped", "skip": skip, "definition": skip["definition"], "more": more}
        row = run or _stands_for(c, skip)
        return found | {"reason": skip["reason"], "actor": skip["actor"], "row": row}
    archived = job["archived_through"]
    if archived is not None and at <= archived:
        return {"verdict": "archived"}
    current = jobs.definition_at(c, job["id"], at)
    if current is None:
        return {"verdict": "before_creation", "nearest": job["created_at"]}
    found = {"definition": current["number"]}
    try:
        trigger = moves.trigger_of(current, control.kinds())
    except Exception as error:  # whatever storage holds: it is said, not raised
        return found | {"verdict": "undecided", "reason": "invalid", "more": {"error": str(error)[:200]}}
    if trigger is None or not trigger.is_slot(at):
        return found | _no_slot(trigger, at)
    return found | _undecided(control, c, job, current, trigger, at, now)


def _counts(control: Asker, c: Connection, job: dict[str, Any], skip: dict[str, Any], at: int) -> bool:
    """Does a range row count this instant, or does it only lie between two slots?"""
    if at in (skip["first_slot"], skip["last_slot"]):
        return True
    try:
        definition = jobs.definition(c, job["id"], skip["definition"])
        trigger = moves.trigger_of(definition, control.kinds())
    except Exception:  # the row stands, though its rule can no longer be read
        return True
    return trigger is None or trigger.is_slot(at)


def _judged(control: Asker, c: Connection, job: dict[str, Any], number: int, at: int) -> dict[str, Any]:
    """What the calendar of a definition did to a slot, in words."""
    try:
        trigger = moves.trigger_of(jobs.definition(c, job["id"], number), control.kinds())
        closing = trigger.closing(at) if trigger is not None else None
    except Exception:  # the row stands, though its rule can no longer be read
        return {}
    return {"closing": describe_closing(closing, trigger.zone)} if trigger and closing else {}


def _no_slot(trigger: Trigger | None, at: int) -> dict[str, Any]:
    closing = trigger.closing(at) if trigger is not None else None
    if trigger is not None and closing is not None:  # it would have been one, and is moved away
        return {
            "verdict": "not_a_slot",
            "reason": "calendar",
            "nearest": closing.other,
            "more": {"closing": describe_closing(closing, trigger.zone)},
        }
    return {"verdict": "not_a_slot", "nearest": trigger.next(at) if trigger else None}


def _stands_for(c: Connection, skip: dict[str, Any]) -> dict[str, Any] | None:
    return runs.one(c, skip["run_id"]) if skip["run_id"] is not None else None


def _undecided(
    control: Asker,
    c: Connection,
    job: dict[str, Any],
    current: dict[str, Any],
    trigger: Trigger,
    at: int,
    now: int,
) -> dict[str, Any]:
    """A slot of the definition then in force that has no row."""
    state = current["state"] if at <= now else job["state"]
    decided = job["last_slot"] if job["last_slot"] is not None else job["anchor"]
    if state in {"done", "retired"}:
        return {"verdict": "not_a_slot", "reason": state, "actor": job["state_actor"]}
    if at <= decided:  # it coincides with the creation, or with an edit of the trigger
        return {"verdict": "not_a_slot", "reason": "anchor", "nearest": trigger.next(at)}
    left = job["slots_left"]
    if left is not None and trigger.count_between(decided, at) > left:
        return {"verdict": "not_a_slot", "reason": "count"}
    if state in _ASLEEP:
        word = "to_come" if at > now else "undecided"
        reason = current["state_reason"] if at <= now else job["state_reason"]
        return {"verdict": word, "reason": state, "actor": job["state_actor"], "more": {"why": reason}}
    closing = trigger.closing(at)
    if closing is not None and closing.code == "dropped":
        word = "to_come" if at > now else "undecided"
        told = {"closing": describe_closing(closing, trigger.zone)}
        return {"verdict": word, "reason": "calendar", "more": told}
    due = at + trigger.jitter_of(job["uid"], at)
    opened = [h["reason"] for h in holds.opened(c)]
    if due > now:
        more = {"holds": opened, "due": due}
        return {"verdict": "to_come", "reason": "jitter" if at <= now else None, "more": more}
    if opened:
        return {"verdict": "undecided", "reason": "hold", "more": {"holds": opened}}
    if job["state"] in _ASLEEP:
        return {"verdict": "undecided", "reason": job["state"], "actor": job["state_actor"]}
    live = hosts.live(c, now)
    offered = any(job["kind"] in host["kinds"] for host in live)
    return {"verdict": "undecided", "reason": "late" if offered else "no_host", "more": {"live": len(live)}}
