"""Pausing, resuming, retiring: each a move of L-07, with actor and reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from schedcore._engine import moves, run_orders
from schedcore._host.control import find
from schedcore._host.control.ordering import clean_reason, now_of
from schedcore._host.control.ordering import order as ordered
from schedcore._host.control.views import instants
from schedcore._ledger import calendars, jobs, runs
from schedcore.domain.errors import Conflict, Refused, nearest
from schedcore.domain.run import LIVE, RunState

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.events import Actor
    from schedcore._ledger.ledger import Connection

__all__ = ["pause", "remove", "resume"]

_MODES = ("drain", "stop")
_LIVE = tuple(s.value for s in LIVE)


def pause(control: Asker, text: str, *, reason: str | None, mode: str, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.pause`."""
    reason = clean_reason(reason)
    if mode not in _MODES:
        hint = nearest(mode, _MODES) or "drain or stop"
        raise Refused(
            f"{mode!r} is no way to pause", code="unknown_value", field="mode", value=mode, hint=hint
        )

    def check(job: dict[str, Any]) -> None:
        if job["state"] != "active":
            raise _wrong(job, "only an active job is paused")

    def deed(c: Connection, actor: Actor, now: int) -> tuple[int, list[dict[str, Any]]]:
        job = find.locked_job(c, text)
        check(job)
        moves.pause(control.ledger, c, job["id"], actor, reason or "paused by " + actor.name, now)
        told = []
        for run in _live(c, job["id"]):
            what = RunState(run["state"]).word
            if mode == "stop":
                what = run_orders.cancel(control.engine, c, run, actor, reason or "its job was paused", now)
            told.append({"run": run["id"], "now": what})
        return job["id"], told

    if dry_run:
        with control.ledger.read() as c:
            job = find.job_of(c, text)
            check(job)
            told = [{"run": r["id"], "now": _would(r, mode)} for r in _live(c, job["id"])]
            return _answer(job, "paused", dry_run=True) | {"mode": mode, "runs": told}
    job_id, told = ordered(control, deed)
    return _after(control, job_id) | {"mode": mode, "runs": told}


def _live(c: Connection, job_id: int) -> list[dict[str, Any]]:
    return runs.listed(c, job_id=job_id, states=_LIVE, limit=1000)


def _would(run: dict[str, Any], mode: str) -> str:
    if mode == "drain":
        return RunState(run["state"]).word
    return "stopping" if run["state"] == RunState.RUNNING.value else "cancelled"


def resume(control: Asker, text: str, *, reason: str | None, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.resume`."""
    reason = clean_reason(reason)

    def check(c: Connection, job: dict[str, Any]) -> None:
        if job["state"] != "paused":
            raise _wrong(job, "only a paused job is resumed")
        if moves.invalid(job["state_reason"]):
            raise Conflict(
                f"job {job['key']!r} cannot be read ({job['state_reason']})",
                code="invalid",
                field="job",
                value=job["key"],
                hint="edit what is wrong with it; that resumes it",
            )
        _refuse_gone(control, c, job)

    def deed(c: Connection, actor: Actor, now: int) -> tuple[int, int]:
        job = find.locked_job(c, text)
        check(c, job)
        return job["id"], moves.resume(control.engine, c, job, actor, reason, now)

    if dry_run:
        with control.ledger.read() as c:
            job = find.job_of(c, text)
            check(c, job)
            lines, due = moves.went_by(control.engine, c, job, now_of(control, c))
        zone = _zone(control, job["id"])
        passed = sum(line["slots"] for line in lines)
        shown = instants(zone, next_run_at=due.get("next_run_at"))
        return _answer(job, "active", dry_run=True) | {"passed": passed, **shown}
    job_id, passed = ordered(control, deed)
    return _after(control, job_id) | {"passed": passed}


def _refuse_gone(control: Asker, c: Connection, job: dict[str, Any]) -> None:
    """Refuse a job whose calendar no live host declares: the next start would pause it again (F-15)."""
    stored = orjson.loads(moves.current(c, job)["trigger"])
    calendar = stored.get("calendar") if isinstance(stored, dict) else None
    if not isinstance(calendar, dict) or calendar.get("name") in control.engine.toolbox.calendars:
        return
    live = calendars.declared_by_live(c, now_of(control, c))
    if live is not None and calendar.get("name") not in live:
        raise Conflict(
            f"no live host declares calendar {calendar.get('name')!r} of job {job['key']!r}",
            code="unknown_calendar",
            field="job",
            value=job["key"],
            hint="declare it again, or give the job another",
        )


def remove(control: Asker, text: str, *, reason: str | None, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.remove`."""
    reason = clean_reason(reason)

    def deed(c: Connection, actor: Actor, now: int) -> tuple[int, int]:
        job = find.locked_job(c, text)
        moves.retire(control.engine, c, job, actor, reason, now)
        return job["id"], len(_live(c, job["id"]))

    if dry_run:
        with control.ledger.read() as c:
            job = find.job_of(c, text)
            if job["state"] == "retired":
                raise _wrong(job, "it is so already")
            return _answer(job, "retired", dry_run=True) | {"live": len(_live(c, job["id"]))}
    job_id, live = ordered(control, deed)
    return _after(control, job_id) | {"live": live}


def _wrong(job: dict[str, Any], why: str) -> Conflict:
    return Conflict(
        f"job {job['key']!r} is {job['state']}; {why}", code="wrong_state", field="job", value=job["key"]
    )


def _answer(job: dict[str, Any], state: str, *, dry_run: bool) -> dict[str, Any]:
    return {"id": job["uid"], "key": job["key"], "was": job["state"], "state": state, "dry_run": dry_run}


def _after(control: Asker, job_id: int) -> dict[str, Any]:
    """The job as it is after the order's commit."""
    with control.ledger.read() as c:
        job = jobs.by_ids(c, [job_id])[job_id]
    return {
        "id": job["uid"],
        "key": job["key"],
        "was": job["state_before"],
        "state": job["state"],
        "reason": job["state_reason"],
        **instants(_zone(control, job_id), next_run_at=job["next_run_at"]),
        "dry_run": False,
    }


def _zone(control: Asker, job_id: int) -> str:
    with control.ledger.read() as c:
        stored = jobs.triggers(c, [job_id])
    return find.zone_of(control, stored[job_id]) if job_id in stored else "UTC"
