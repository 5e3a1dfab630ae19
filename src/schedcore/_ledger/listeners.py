"""The outbox and the marks of those who read it (F-05)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import jobs, marks, outbox, runs
from schedcore._ledger.upsert import upsert

__all__ = ["advance", "fault", "listed", "register", "trim", "unread"]


def register(c: sa.Connection, names: Sequence[str]) -> None:
    """Give new listeners a mark at the end of the outbox: they hear of what comes from now on."""
    newest = c.execute(sa.select(sa.func.coalesce(sa.func.max(outbox.c.id), 0))).scalar_one()
    for name in names:
        query = upsert(c, marks).values(listener=name, through=newest)
        c.execute(query.on_conflict_do_nothing(index_elements=["listener"]))


def unread(c: sa.Connection, listener: str, now: int, limit: int = 100) -> list[dict[str, Any]]:
    """What a listener has not been told, oldest first; empty while it waits after a fault."""
    mark = c.execute(sa.select(marks).where(marks.c.listener == listener)).mappings().one()
    if mark["next_try_at"] and mark["next_try_at"] > now:
        return []
    query = (
        sa.select(
            outbox, jobs.c.key, jobs.c.uid, runs.c.scheduled_for, runs.c.state, runs.c.outcome, runs.c.reason
        )
        .select_from(
            outbox.join(jobs, jobs.c.id == outbox.c.job_id).outerjoin(runs, runs.c.id == outbox.c.run_id)
        )
        .where(outbox.c.id > mark["through"])
        .order_by(outbox.c.id)
        .limit(limit)
    )
    return [dict(r) for r in c.execute(query).mappings()]


def advance(c: sa.Connection, listener: str, through: int) -> None:
    """The listener was told of everything up to here."""
    values = {"through": through, "failures": 0, "last_error": None, "next_try_at": None}
    c.execute(sa.update(marks).where(marks.c.listener == listener).values(**values))


def fault(c: sa.Connection, listener: str, error: str, next_try_at: int) -> None:
    """The listener raised; it is told again from ``next_try_at`` on."""
    values = {"failures": marks.c.failures + 1, "last_error": error[:2000], "next_try_at": next_try_at}
    c.execute(sa.update(marks).where(marks.c.listener == listener).values(**values))


def listed(c: sa.Connection) -> list[dict[str, Any]]:
    """Marks, failures and lag of all listeners."""
    newest = c.execute(sa.select(sa.func.coalesce(sa.func.max(outbox.c.id), 0))).scalar_one()
    return [{**r, "lag": newest - r["through"]} for r in c.execute(sa.select(marks)).mappings()]


def trim(c: sa.Connection) -> int:
    """Drop what every listener has been told, but for the newest row: an emptied table would count from 1 again."""
    lowest = c.execute(sa.select(sa.func.min(marks.c.through))).scalar()
    if lowest is None:
        return 0
    newest = sa.select(sa.func.max(outbox.c.id)).scalar_subquery()
    return c.execute(sa.delete(outbox).where(outbox.c.id <= lowest, outbox.c.id < newest)).rowcount
