"""What a doctor asks of jobs and runs: ends that were bad, slots nobody decided, jobs that stand still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import due, jobs, runs

__all__ = ["bad_ends", "overdue", "stopped", "without_next"]

_JOINED = jobs.join(due, due.c.job_id == jobs.c.id)


def bad_ends(c: sa.Connection, since: int, states: Sequence[int]) -> list[dict[str, Any]]:
    """By job and state, the runs that ended so since an instant: how many, the newest, and its reason."""
    ended = (runs.c.state.in_(states), runs.c.finished_at >= since)
    grouped = (
        sa.select(
            runs.c.job_id, runs.c.state, sa.func.count().label("runs"), sa.func.max(runs.c.id).label("newest")
        )
        .where(*ended)
        .group_by(runs.c.job_id, runs.c.state)
        .subquery()
    )
    newest = runs.alias("newest_run")
    query = (
        sa.select(jobs.c.key, grouped.c.state, grouped.c.runs, grouped.c.newest, newest.c.reason)
        .select_from(
            grouped.join(jobs, jobs.c.id == grouped.c.job_id).join(newest, newest.c.id == grouped.c.newest)
        )
        .order_by(jobs.c.key, grouped.c.state)
    )
    return _rows(c, query)


def overdue(c: sa.Connection, before: int) -> list[dict[str, Any]]:
    """Active jobs with a slot that was due before an instant and is not decided."""
    query = sa.select(jobs.c.key, due.c.next_run_at).select_from(_JOINED)
    query = query.where(due.c.next_run_at < before, jobs.c.state == "active")
    return _rows(c, query.order_by(due.c.next_run_at).limit(1000))


def stopped(c: sa.Connection) -> list[dict[str, Any]]:
    """Paused jobs."""
    query = sa.select(jobs.c.key, jobs.c.state_reason, jobs.c.breaker_at, jobs.c.streak)
    return _rows(c, query.where(jobs.c.state == "paused").order_by(jobs.c.key))


def without_next(c: sa.Connection) -> list[dict[str, Any]]:
    """Active jobs that have no next slot and no run that lives."""
    alive = sa.exists(sa.select(runs.c.id).where(runs.c.job_id == jobs.c.id, runs.c.state < 3))
    query = sa.select(jobs.c.key).select_from(_JOINED)
    query = query.where(jobs.c.state == "active", due.c.next_run_at.is_(None), sa.not_(alive))
    return _rows(c, query.order_by(jobs.c.key))


def _rows(c: sa.Connection, query: sa.Select[Any]) -> list[dict[str, Any]]:
    return [dict(row) for row in c.execute(query).mappings()]
