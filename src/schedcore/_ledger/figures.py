"""Figures about a ledger: counts, sizes, what is next, how late. All reads; none is asked on the hot path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import SCHEMA, definitions, due, jobs, metadata, runs

__all__ = ["build", "jobs_by_state", "latencies", "overdue", "rows", "sizes", "upcoming"]

_FRAME = 24
"""Bytes a WAL frame has beside its page."""


def build(c: sa.Connection, is_sqlite: bool, *, faulty: bool) -> dict[str, Any]:
    """The build of the database, and on SQLite how checkpoints are made (L-02)."""
    if not is_sqlite:
        version = c.exec_driver_sql("select current_setting('server_version')").scalar_one()
        return {"version": version, "wal_reset_fault": False, "checkpoints": "by the server"}
    version = c.exec_driver_sql("select sqlite_version()").scalar_one()
    rule = "under the writers' lock, at each beat" if faulty else "automatic"
    return {"version": version, "wal_reset_fault": faulty, "checkpoints": rule}


def jobs_by_state(c: sa.Connection) -> dict[str, int]:
    """How many jobs are in each state."""
    found = c.execute(sa.select(jobs.c.state, sa.func.count()).group_by(jobs.c.state)).all()
    return dict.fromkeys(("active", "paused", "pending", "done", "retired"), 0) | dict(found)


def upcoming(c: sa.Connection, limit: int) -> list[dict[str, Any]]:
    """The active jobs that are due next, with their triggers."""
    joined = due.join(jobs, jobs.c.id == due.c.job_id).join(
        definitions, sa.and_(definitions.c.job_id == jobs.c.id, definitions.c.number == jobs.c.definition)
    )
    query = (
        sa.select(jobs.c.key, due.c.next_run_at, definitions.c.trigger)
        .select_from(joined)
        .where(due.c.next_run_at.is_not(None), jobs.c.state == "active")
        .order_by(due.c.next_run_at, jobs.c.id)
        .limit(limit)
    )
    return [dict(r) for r in c.execute(query).mappings()]


def overdue(c: sa.Connection, before: int) -> int:
    """How many active jobs have a slot that was due before an instant and is not decided."""
    query = (
        sa.select(sa.func.count())
        .select_from(due.join(jobs, jobs.c.id == due.c.job_id))
        .where(due.c.next_run_at < before, jobs.c.state == "active")
    )
    return int(c.execute(query).scalar_one())


def latencies(c: sa.Connection, newest: int) -> list[dict[str, Any]]:
    """How late the newest runs began, those of slots only."""
    few = sa.select(runs.c.id, runs.c.latency_ms, runs.c.job_id).where(
        runs.c.latency_ms.is_not(None), runs.c.trigger == 0
    )
    inner = few.order_by(runs.c.id.desc()).limit(newest).subquery()
    query = sa.select(inner.c.id, inner.c.latency_ms, jobs.c.key).join(jobs, jobs.c.id == inner.c.job_id)
    return [dict(r) for r in c.execute(query).mappings()]


def rows(c: sa.Connection) -> dict[str, int]:
    """How many rows each table has."""
    tables = sorted(metadata.sorted_tables, key=lambda table: table.name)
    return {t.name: int(c.execute(sa.select(sa.func.count()).select_from(t)).scalar_one()) for t in tables}


def sizes(c: sa.Connection, path: Path | None) -> dict[str, int | None]:
    """Bytes of the ledger, of its WAL, and the frames that wait there. Files are looked at, never opened."""
    if path is None:
        query = (
            "select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c"
            f" join pg_namespace n on n.oid = c.relnamespace where n.nspname = '{SCHEMA}' and c.relkind = 'r'"
        )
        return {"bytes": c.exec_driver_sql(query).scalar_one(), "wal_bytes": None, "wal_frames": None}
    wal = Path(f"{path}-wal")
    waiting = os.stat(wal).st_size if wal.exists() else 0
    page = int(c.exec_driver_sql("pragma page_size").scalar_one())
    return {
        "bytes": os.stat(path).st_size,
        "wal_bytes": waiting,
        "wal_frames": max(0, waiting - 32) // (page + _FRAME),
    }
