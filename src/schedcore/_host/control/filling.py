"""Opening slots of the past that have no run: oldest first, at most so many an order (A-15).

What was decided about them stands, and what is not decided yet is left to the tick (``docs/decisions/0019``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._engine import moves, run_orders
from schedcore._host.control import find
from schedcore._host.control.instants import instant_of
from schedcore._host.control.ordering import clean_reason, now_of
from schedcore._host.control.ordering import order as ordered
from schedcore._host.progress import Progress
from schedcore._ledger import runs
from schedcore.domain.clock import text as utc
from schedcore.domain.errors import Conflict, Refused

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.events import Actor
    from schedcore._ledger.ledger import Connection

__all__ = ["backfill"]

_MOST = 10_000


def backfill(
    control: Asker,
    text: str,
    from_: str,
    to: str,
    *,
    limit: int,
    reason: str | None,
    dry_run: bool,
    progress: Progress | None = None,
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
        return _free(c, job, trigger, first, last, limit, progress)

    if dry_run:
        with control.ledger.read() as c:
            job = find.job_of(c, text)
            _, free, answered, left = look(c, job, now_of(control, c))
        return _filled(job, free, answered, left, dry_run=True)

    def deed(c: Connection, actor: Actor, now: int) -> tuple[dict[str, Any], list[int], int, int]:
        job = find.locked_job(c, text)
        trigger, free, answered, left = look(c, job, now)
        run_orders.backfill(control.engine, c, job, trigger, free, actor, now, reason)
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
    c: Connection,
    job: dict[str, Any],
    trigger: Any,
    first: int,
    last: int,
    limit: int,
    progress: Progress | None,
) -> tuple[Any, list[int], int, int]:
    """The oldest slots without a run, how many have one, and how many are left for another order; none that a
    calendar drops."""
    free: list[int] = []
    answered = 0
    at = first - 1
    undecided = job["last_slot"] if job["last_slot"] is not None else job["anchor"]
    while len(free) < limit:
        if progress is not None:
            progress("looking", len(free), limit)
        batch: list[int] = []
        while len(batch) < 500 and (slot := trigger.kept.next(at)) is not None and slot <= last:
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
        answered = trigger.kept.count_between(first - 1, at) - limit
    return trigger, free, answered, trigger.kept.count_between(at, last)


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
