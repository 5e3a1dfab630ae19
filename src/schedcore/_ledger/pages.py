"""Whole tables in pages, by id, each row with the rows that are part of it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import attempts, definitions, due, events, jobs, runs, skipped

__all__ = ["ends", "page"]

_TABLES = {"jobs": jobs, "runs": runs, "skipped": skipped, "events": events}
_PARTS = {
    "definitions": (definitions, definitions.c.job_id, definitions.c.number),
    "attempts": (attempts, attempts.c.run_id, attempts.c.number),
}
_HIDDEN = {"lease_end", "token"}


def ends(c: sa.Connection) -> dict[str, int]:
    """The highest id of each table."""
    return {
        name: int(c.execute(sa.select(sa.func.coalesce(sa.func.max(t.c.id), 0))).scalar_one())
        for name, t in _TABLES.items()
    }


def page(
    c: sa.Connection, table: str, part: str | None, after: int, end: int, limit: int
) -> tuple[list[dict[str, Any]], dict[int, list[dict[str, Any]]]]:
    """The rows with ids in (after, end], oldest first, and by their ids the rows of ``part``."""
    t = _TABLES[table]
    columns = [column for column in t.c if column.name not in _HIDDEN]
    query = sa.select(*columns)
    if table == "jobs":
        more = [due.c[n] for n in ("next_run_at", "last_slot", "anchor", "slots_left", "fired")]
        query = sa.select(*columns, *more).select_from(jobs.outerjoin(due, due.c.job_id == jobs.c.id))
    query = query.where(t.c.id > after, t.c.id <= end).order_by(t.c.id).limit(limit)
    found = [dict(r) for r in c.execute(query).mappings()]
    inner: dict[int, list[dict[str, Any]]] = defaultdict(list)
    if part is not None and found:
        p, owner, number = _PARTS[part]
        query = sa.select(p).where(owner >= found[0]["id"], owner <= found[-1]["id"])
        for row in c.execute(query.order_by(owner, number)).mappings():
            inner[row[owner.name]].append(dict(row))
    return found, inner
