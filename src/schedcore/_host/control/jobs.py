"""Looking at jobs: the list, one job whole, its history (L-05, P-16)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._host.control import find, reading
from schedcore._host.control.ordering import now_of
from schedcore._host.control.views import event, instants, last_run, run_line, trigger_words
from schedcore._ledger import events, jobs, runs
from schedcore.domain.clock import SECOND
from schedcore.domain.errors import Refused, SchedcoreError
from schedcore.domain.names import JOB_STATES, POLICY_FIELDS
from schedcore.domain.preview import preview

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection
    from schedcore.domain.trigger import Trigger

__all__ = ["MOST", "history", "listed", "show"]

MOST = 100_000
_LAST = 5


def listed(
    control: Asker,
    states: Sequence[str],
    kind: str | None,
    label: str | None,
    text: str | None,
    limit: int,
    *,
    all_states: bool,
) -> list[dict[str, Any]]:
    """See :meth:`Control.jobs`."""
    wanted = [JOB_STATES.read(state, "state") for state in states]
    if not 1 <= limit <= MOST:
        raise Refused(f"{limit} jobs", code="out_of_range", field="limit", value=limit, hint=f"1 to {MOST}")
    with control.ledger.read() as c:
        now = now_of(control, c)
        found = jobs.listed(
            c, states=wanted, kind=kind, label=label, text=text, limit=limit, all_states=all_states
        )
        last = runs.last_of(c, [row["id"] for row in found])
    return [_line(control, row, last.get(row["id"]), now) for row in found]


def _line(control: Asker, row: dict[str, Any], last: dict[str, Any] | None, now: int) -> dict[str, Any]:
    words, zone = trigger_words(control, row["trigger"])
    due = row["next_run_at"]
    ran = (last["started_at"] or last["scheduled_for"]) if last else None
    return {
        "id": row["uid"],
        "key": row["key"],
        "name": row["name"],
        "kind": row["kind"],
        "state": row["state"],
        "state_reason": row["state_reason"],
        **instants(zone, next_run_at=due),
        "left": None if due is None else (due - now) // SECOND,
        "last": last_run(last, zone),
        "passed": None if ran is None else (now - ran) // SECOND,
        "trigger": words,
        "zone": zone,
        "labels": orjson.loads(row["labels"] or "{}"),
        "streak": row["streak"],
        "source": row["source"],
    }


def show(control: Asker, text: str) -> dict[str, Any]:
    """See :meth:`Control.show`."""
    with control.ledger.read() as c:
        now = now_of(control, c)
        job = find.job_of(c, text)
        current = jobs.definition(c, job["id"], job["definition"])
        known = reading.offer(control, c, now)
        latest = runs.listed(c, job_id=job["id"], limit=_LAST)
        counted = runs.counts(c, job["id"])
        measured = runs.last_latency(c, job["id"])
    words, zone = trigger_words(control, current["trigger"])
    stored = orjson.loads(current["trigger"])
    extra = orjson.loads(job["extra"] or "{}")
    return {
        "v": 1,
        "id": job["uid"],
        "key": job["key"],
        "name": job["name"],
        "description": extra.get("description"),
        "kind": job["kind"],
        "trigger": stored,
        "trigger_words": words,
        "zone": zone,
        "payload": orjson.loads(current["payload"]),
        "toolset": orjson.loads(current["toolset"] or "[]"),
        "policies": _policies(control, current, known),
        "notify": extra.get("notify"),
        "deliver_to": extra.get("deliver_to"),
        "state": job["state"],
        "state_reason": job["state_reason"],
        "state_actor": job["state_actor"],
        **instants(zone, state_at=job["state_at"], next_run_at=job["next_run_at"]),
        **instants(zone, last_slot=job["last_slot"], breaker_at=job["breaker_at"]),
        "overdue": job["next_run_at"] is not None and job["next_run_at"] < now - _beat(control),
        "slots": _slots(control, current["trigger"], job, now),
        "slots_left": job["slots_left"],
        "last": last_run(latest[0], zone) if latest else None,
        "last_runs": [run_line(row, zone) for row in latest],
        "streak": job["streak"],
        "run_count": counted,
        "last_dispatch_latency_ms": measured,
        "reason": job["why_so"],
        "source": job["source"],
        "external_id": job["external_id"],
        "owner": job["owner"],
        "scope": job["scope"],
        "labels": orjson.loads(job["labels"] or "{}"),
        "creator": job["creator"],
        "creator_kind": job["creator_kind"],
        "digest": job["digest"],
        "definition": job["definition"],
        "definitions": job["definition"],
        "tz_version": current["tz_version"],
        **instants(zone, archived_through=job["archived_through"]),
        **instants(zone, created_at=job["created_at"], updated_at=job["updated_at"]),
    }


def _beat(control: Asker) -> int:
    return int(control.engine.settings.beat * SECOND)


def _policies(control: Asker, current: dict[str, Any], known: reading.Offer) -> dict[str, Any]:
    try:
        resolved = reading.policies_of(control, current["policies"], current["kind"], known)
    except SchedcoreError as error:
        return {"unreadable": {"value": str(error), "origin": "job"}}
    shown = {}
    for name in POLICY_FIELDS.own:
        value = resolved.value(name)
        if hasattr(value, "to_dict"):
            value = value.to_dict()
        elif isinstance(value, tuple):
            value = list(value)
        shown[name] = {"value": value, "origin": resolved.origin[name]}
    return shown


def _slots(control: Asker, stored: str, job: dict[str, Any], now: int) -> list[dict[str, str | None]]:
    if job["state"] != "active":
        return []
    try:
        trigger: Trigger | None = control.engine.compiler.trigger(stored)
    except Exception:  # shown as unreadable
        return []
    if trigger is None:
        return []
    after = job["last_slot"] if job["last_slot"] is not None else job["anchor"]
    return [
        slot.as_dict() for slot in preview(trigger, after, 5, remaining=job["slots_left"], lang=control.lang)
    ]


def zone_by_job(control: Asker, c: Connection, ids: Sequence[int]) -> dict[int, str]:
    """The zones of jobs."""
    found = jobs.triggers(c, sorted(set(ids)))
    return {job_id: find.zone_of(control, stored) for job_id, stored in found.items()}


def history(control: Asker, text: str, *, limit: int, after: int) -> list[dict[str, Any]]:
    """See :meth:`Control.history`."""
    with control.ledger.read() as c:
        job = find.job_of(c, text)
        zone = zone_by_job(control, c, [job["id"]]).get(job["id"], "UTC")
        found = events.history(c, job["id"], limit=limit, after=after)
    return [event(row, zone) for row in found]
