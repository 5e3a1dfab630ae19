"""Orders about runs: now, again, and not any more (A-15, F-11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._engine import run_orders
from schedcore._host.control import find, reading
from schedcore._host.control.ordering import clean_reason, now_of, required_reason
from schedcore._host.control.ordering import order as ordered
from schedcore._host.control.views import instants
from schedcore.domain.errors import Conflict, Refused, nearest
from schedcore.domain.run import FINAL, RunState, run_key

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.events import Actor
    from schedcore._ledger.ledger import Connection

__all__ = ["cancel", "release", "retry", "run"]

_FINAL = {s.value for s in FINAL}
_OVERRIDES = ("parallel",)


def run(
    control: Asker, text: str, *, reason: str | None, overlap: str | None, dry_run: bool
) -> dict[str, Any]:
    """See :meth:`Control.run`."""
    reason = clean_reason(reason)
    if overlap is not None and overlap not in _OVERRIDES:
        raise Refused(
            f"{overlap!r} does not override an overlap rule",
            code="unknown_value",
            field="overlap",
            value=overlap,
            hint=nearest(overlap, _OVERRIDES) or "parallel",
        )
    engine = control.engine
    if dry_run:
        with control.ledger.read() as c:
            job = find.job_of(c, text)
            _, verdict = run_orders.may_run(engine, c, job, now_of(control, c), overlap=overlap)
            return _told(control, c, job, None) | {"would": verdict, "dry_run": True}

    def deed(c: Connection, actor: Actor, now: int) -> int:
        job = find.locked_job(c, text)
        return run_orders.run_now(engine, c, job, actor, now, reason=reason, overlap=overlap)

    return _opened(control, ordered(control, deed))


def retry(control: Asker, number: int | str, reason: str | None, *, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.retry`."""
    reason = clean_reason(reason)

    def check(found: dict[str, Any]) -> None:
        if found["state"] not in _FINAL:
            raise Conflict(
                f"run {found['id']} is {RunState(found['state']).word}; only a final run is tried again",
                code="wrong_state",
                field="run",
                value=found["id"],
            )

    if dry_run:
        with control.ledger.read() as c:
            found = find.run_of(c, number)
            check(found)
            job = find.job_of(c, found["uid"])
            _, verdict = run_orders.may_run(control.engine, c, job, now_of(control, c))
            return _told(control, c, job, None) | {"would": verdict, "retry_of": found["id"], "dry_run": True}

    def deed(c: Connection, actor: Actor, now: int) -> int:
        found, job = find.locked_run(c, number)
        check(found)
        return run_orders.run_now(control.engine, c, job, actor, now, reason=reason, retry_of=found)

    return _opened(control, ordered(control, deed))


def _opened(control: Asker, run_id: int) -> dict[str, Any]:
    with control.ledger.read() as c:
        found = find.run_of(c, run_id)
        told = _told(control, c, find.job_of(c, found["uid"]), found)
    return told | {"retry_of": found["retry_of_id"], "dry_run": False}


def _told(control: Asker, c: Connection, job: dict[str, Any], found: dict[str, Any] | None) -> dict[str, Any]:
    live = reading.offer(control, c, now_of(control, c)).live
    warnings = []
    if not any(job["kind"] in host["kinds"] for host in live):
        warnings.append(f"no live host offers {job['kind']!r} now; the run waits until one does")
    slot = found["scheduled_for"] if found else None
    return {
        "run": found["id"] if found else None,
        "job": job["uid"],
        "key": job["key"],
        "run_key": run_key(job["uid"], slot) if slot is not None else None,
        **instants(None, scheduled_for=slot),
        "warnings": warnings,
    }


def cancel(control: Asker, number: int | str, reason: str | None, *, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.cancel`."""
    why = required_reason(reason)
    if dry_run:
        with control.ledger.read() as c:
            found = find.run_of(c, number)
        if found["state"] in _FINAL:
            raise run_orders.final_run(found)
        now = "stopping" if found["state"] == RunState.RUNNING.value else "cancelled"
        return {"run": found["id"], "key": found["key"], "now": now, "dry_run": True}

    def deed(c: Connection, actor: Actor, now: int) -> tuple[dict[str, Any], str]:
        found, _ = find.locked_run(c, number)
        return found, run_orders.cancel(control.engine, c, found, actor, why, now)

    found, told = ordered(control, deed)
    return {"run": found["id"], "key": found["key"], "now": told, "dry_run": False}


def release(control: Asker, number: int | str, reason: str | None, *, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.release`."""
    why = required_reason(reason)
    if dry_run:
        with control.ledger.read() as c:
            found = find.run_of(c, number)
        run_orders.may_release(found)
        return {"run": found["id"], "key": found["key"], "host": found["host"], "dry_run": True}

    def deed(c: Connection, actor: Actor, now: int) -> dict[str, Any]:
        found, _ = find.locked_run(c, number)
        run_orders.release(control.engine, c, found, actor, why, now)
        return found

    found = ordered(control, deed)
    return {"run": found["id"], "key": found["key"], "host": found["host"], "dry_run": False}
