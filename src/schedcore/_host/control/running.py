"""Orders about runs: now, again, of the past, and not any more (A-15, F-11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._engine import moves, orders
from schedcore._host.control import find, reading
from schedcore._host.control.instants import instant_of
from schedcore._host.control.ordering import clean_reason, now_of, required_reason
from schedcore._host.control.ordering import order as ordered
from schedcore._host.control.views import instants
from schedcore._ledger import runs
from schedcore.domain.clock import text as utc
from schedcore.domain.errors import Conflict, Refused, nearest
from schedcore.domain.run import FINAL, RunState, run_key

if TYPE_CHECKING:
    from schedcore._host.control.door import Control
    from schedcore._ledger.events import Actor
    from schedcore._ledger.ledger import Connection

__all__ = ["backfill", "cancel", "release", "retry", "run"]

_FINAL = {s.value for s in FINAL}
_OVERRIDES = ("parallel",)
_MOST = 10_000


def run(
    control: Control, text: str, *, reason: str | None, overlap: str | None, dry_run: bool
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
            _, verdict = orders.may_run(engine, c, job, now_of(control, c), overlap=overlap)
            return _told(control, c, job, None) | {"would": verdict, "dry_run": True}

    def deed(c: Connection, actor: Actor, now: int) -> int:
        job = find.locked_job(c, text)
        return orders.run_now(engine, c, job, actor, now, reason=reason, overlap=overlap)

    return _opened(control, ordered(control, deed))


def retry(control: Control, number: int | str, reason: str | None, *, dry_run: bool) -> dict[str, Any]:
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
            _, verdict = orders.may_run(control.engine, c, job, now_of(control, c))
            return _told(control, c, job, None) | {"would": verdict, "retry_of": found["id"], "dry_run": True}

    def deed(c: Connection, actor: Actor, now: int) -> int:
        found, job = find.locked_run(c, number)
        check(found)
        return orders.run_now(control.engine, c, job, actor, now, reason=reason, retry_of=found)

    return _opened(control, ordered(control, deed))


def _opened(control: Control, run_id: int) -> dict[str, Any]:
    with control.ledger.read() as c:
        found = find.run_of(c, run_id)
        told = _told(control, c, find.job_of(c, found["uid"]), found)
    return told | {"retry_of": found["retry_of_id"], "dry_run": False}


def _told(
    control: Control, c: Connection, job: dict[str, Any], found: dict[str, Any] | None
) -> dict[str, Any]:
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


def cancel(control: Control, number: int | str, reason: str | None, *, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.cancel`."""
    why = required_reason(reason)
    if dry_run:
        with control.ledger.read() as c:
            found = find.run_of(c, number)
        if found["state"] in _FINAL:
            raise orders.final_run(found)
        now = "stopping" if found["state"] == RunState.RUNNING.value else "cancelled"
        return {"run": found["id"], "key": found["key"], "now": now, "dry_run": True}

    def deed(c: Connection, actor: Actor, now: int) -> tuple[dict[str, Any], str]:
        found, _ = find.locked_run(c, number)
        return found, orders.cancel(control.engine, c, found, actor, why, now)

    found, told = ordered(control, deed)
    return {"run": found["id"], "key": found["key"], "now": told, "dry_run": False}


def release(control: Control, number: int | str, reason: str | None, *, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.release`."""
    why = required_reason(reason)
    if dry_run:
        with control.ledger.read() as c:
            found = find.run_of(c, number)
        orders.may_release(found)
        return {"run": found["id"], "key": found["key"], "host": found["host"], "dry_run": True}

    def deed(c: Connection, actor: Actor, now: int) -> dict[str, Any]:
        found, _ = find.locked_run(c, number)
        orders.release(control.engine, c, found, actor, why, now)
        return found

    found = ordered(control, deed)
    return {"run": found["id"], "key": found["key"], "host": found["host"], "dry_run": False}


def backfill(
    control: Control, text: str, from_: str, to: str, *, limit: int, reason: str | None, dry_run: bool
) -> dict[str, Any]:
    """See :meth:`Control.backfill`."""
    reason = clean_reason(reason)
    if isinstance(limit, bool) or not 1 <= limit <= _MOST:
        raise Refused(f"{limit} slots", code="out_of_range", field="limit", value=limit, hint=f"1 to {_MOST}")

    def look(c: Connection, job: dict[str, Any], now: int) -> tuple[Any, list[int], int, int]:
        if job["state"] in {"retired", "pending"} or moves.invalid(job["state_reason"]):
            raise Conflict(
                f"job {job['key']!r} is {job['state']}", code="wrong_state", field="job", value=job["key"]
            )
        trigger = moves.trigger_of(moves.current(c, job), control.kinds())
        if trigger is None:
            raise Conflict(f"job {job['key']!r} has no trigger", code="wrong_state", field="job")
        first = instant_of(from_, trigger.zone, "from")
        last = instant_of(to, trigger.zone, "to")
        _bounds(job, first, last, now)
        return _free(c, job, trigger, first, last, limit)

    if dry_run:
        with control.ledger.read() as c:
            job = find.job_of(c, text)
            _, free, answered, left = look(c, job, now_of(control, c))
        return _filled(job, free, answered, left, dry_run=True)

    def deed(c: Connection, actor: Actor, now: int) -> tuple[dict[str, Any], list[int], int, int]:
        job = find.locked_job(c, text)
        trigger, free, answered, left = look(c, job, now)
        orders.backfill(control.engine, c, job, trigger, free, actor, now, reason)
        return job, free, answered, left

    return _filled(*ordered(control, deed), dry_run=False)


def _bounds(job: dict[str, Any], first: int, last: int, now: int) -> None:
    if last < first:
        raise Refused("the end lies before the start", code="contradiction", field="to", value=utc(last))
    if last > now:
        raise Refused(
            f"{utc(last)} is still to come",
            code="in_the_future",
            field="to",
            value=utc(last),
            hint="only slots of the past are filled",
        )
    archived = job["archived_through"]
    if archived is not None and first <= archived:
        raise Refused(
            f"runs up to {utc(archived)} are archived; what ran before cannot be told apart here",
            code="archived",
            field="from",
            value=utc(first),
        )


def _free(
    c: Connection, job: dict[str, Any], trigger: Any, first: int, last: int, limit: int
) -> tuple[Any, list[int], int, int]:
    """The oldest slots without a run, how many have one, and how many are left for another order."""
    free: list[int] = []
    answered = 0
    at = first - 1
    undecided = job["last_slot"] if job["last_slot"] is not None else job["anchor"]
    while len(free) < limit:
        batch: list[int] = []
        while len(batch) < 500 and (slot := trigger.next(at)) is not None and slot <= last:
            batch.append(slot)
            at = slot
        if not batch:
            break
        taken = runs.answered(c, job["id"], batch)
        waiting = {s for s in batch if s > undecided}  # the next tick, or the resume, decides them
        answered += len(taken | waiting)
        free += [s for s in batch if s not in taken and s not in waiting]
    if len(free) > limit:
        at = free[limit - 1]
        free = free[:limit]
        answered = trigger.count_between(first - 1, at) - limit
    return trigger, free, answered, trigger.count_between(at, last)


def _filled(
    job: dict[str, Any], free: list[int], answered: int, left: int, *, dry_run: bool
) -> dict[str, Any]:
    return {
        "id": job["uid"],
        "key": job["key"],
        "opened": len(free),
        "slots": [utc(slot) for slot in free],
        "answered": answered,
        "left": left,
        "definition": job["definition"],
        "note": f"these runs do what definition {job['definition']} says, which is today's",
        "dry_run": dry_run,
    }
