"""Events: numbered lines of a job's history, append only, without a gap (P-16).

Job 0 is the ledger itself: halts, clock steps, hosts. The outbox beside them is what listeners read; a row is
written only where somebody listens, which the statement itself asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from schedcore._ledger import batches
from schedcore._ledger.schema import events, jobs, marks, outbox

__all__ = [
    "LEDGER",
    "Actor",
    "found",
    "guard",
    "history",
    "line",
    "of_run",
    "post",
    "record",
    "record_first",
    "record_many",
    "tail",
]

LEDGER = 0


@dataclass(frozen=True, slots=True)
class Actor:
    """Who gave an order: a name, and the kind of actor (``person``, ``model``, ``run``, ``source``, ``machine``).

    ``token`` marks the events of one order, so that it can be read back when its commit is unknown (G5).
    """

    name: str
    kind: str
    token: str | None = None


def record(
    c: sa.Connection,
    job_id: int,
    at: int,
    actor: Actor,
    action: str,
    *,
    reason: str | None = None,
    changes: str | None = None,
    digests: tuple[str | None, str | None] = (None, None),
    run_id: int | None = None,
    token: str | None = None,
) -> int:
    """Append one event; answers its number. The caller holds the job's lock, so numbers have no gap."""
    row = line(job_id, at, actor, action, reason=reason, changes=changes, digests=digests, run_id=run_id)
    return record_many(c, [row if token is None else row | {"token": token}])


def line(
    job_id: int,
    at: int,
    actor: Actor,
    action: str,
    *,
    reason: str | None = None,
    changes: str | None = None,
    digests: tuple[str | None, str | None] = (None, None),
    run_id: int | None = None,
) -> dict[str, Any]:
    """The row of one event, without its number."""
    return {
        "job_id": job_id,
        "at": at,
        "actor": actor.name,
        "actor_kind": actor.kind,
        "action": action,
        "reason": reason,
        "changes": changes,
        "digest_before": digests[0],
        "digest_after": digests[1],
        "run_id": run_id,
        "token": actor.token,
    }


def record_first(c: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
    """The first event of each of several new jobs."""
    batches.insert(c, events, [row | {"number": 1} for row in rows])


def record_many(c: sa.Connection, rows: Sequence[dict[str, Any]]) -> int:
    """Append events, one statement for all; answers the number of the last."""
    ids = {row["job_id"] for row in rows}
    if LEDGER in ids and c.dialect.name == "postgresql":
        c.exec_driver_sql("select pg_advisory_xact_lock(727002)")  # job 0 has no row of ``due`` to lock
    newest = sa.select(sa.func.max(events.c.number)).where(events.c.job_id == jobs.c.id).scalar_subquery()
    last = dict(c.execute(sa.select(jobs.c.id, newest).where(jobs.c.id.in_(ids - {LEDGER}))).all())
    if LEDGER in ids:
        last[LEDGER] = c.execute(
            sa.select(sa.func.max(events.c.number)).where(events.c.job_id == LEDGER)
        ).scalar()
    numbered = []
    for row in rows:
        number = (last.get(row["job_id"]) or 0) + 1
        last[row["job_id"]] = number
        numbered.append({**row, "number": number})
    c.execute(sa.insert(events), numbered)
    return number


def guard(c: sa.Connection, token: str) -> None:
    """Hold the order's token until the transaction ends: whoever reads it back waits for that end."""
    if c.dialect.name == "postgresql":  # on SQLite the writers' lock does it
        c.execute(sa.select(sa.func.pg_advisory_xact_lock(int(token, 16) - 2**63)))


def found(c: sa.Connection, token: str) -> bool:
    """Is the order with this token in the ledger? Asked in a transaction of its own that holds the token."""
    guard(c, token)
    return c.execute(sa.select(events.c.id).where(events.c.token == token).limit(1)).first() is not None


def history(c: sa.Connection, job_id: int, *, limit: int = 200, after: int = 0) -> list[dict[str, Any]]:
    """Events of one job, oldest first."""
    query = (
        sa.select(events)
        .where(events.c.job_id == job_id, events.c.number > after)
        .order_by(events.c.number.desc())
        .limit(limit)
    )
    return [dict(r) for r in c.execute(query).mappings()][::-1]


def of_run(c: sa.Connection, job_id: int, run_id: int) -> list[dict[str, Any]]:
    """The events of a job that concern one run, in order."""
    query = sa.select(events).where(events.c.job_id == job_id, events.c.run_id == run_id)
    return [dict(r) for r in c.execute(query.order_by(events.c.number)).mappings()]


def tail(c: sa.Connection, *, after: int = 0, limit: int = 200, newest: bool = False) -> list[dict[str, Any]]:
    """Events of all jobs with their keys, in the order they were written."""
    query = sa.select(events, jobs.c.key).select_from(events.outerjoin(jobs, jobs.c.id == events.c.job_id))
    query = (
        query.where(events.c.id > after).order_by(events.c.id.desc() if newest else events.c.id).limit(limit)
    )
    rows = [dict(r) for r in c.execute(query).mappings()]
    return rows[::-1] if newest else rows


def post(
    c: sa.Connection, at: int, topic: str, pairs: Sequence[tuple[int, int | None]], data: str | None = None
) -> None:
    """Put one row per (job id, run id) into the outbox, if any listener has a mark."""
    if pairs and c.execute(_HEARD).first() is not None:
        told = [{"at": at, "topic": topic, "job_id": job, "run_id": run, "data": data} for job, run in pairs]
        c.execute(sa.insert(outbox), told)


_HEARD = sa.select(marks.c.listener).limit(1)
