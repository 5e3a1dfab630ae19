"""Counts for a summary: runs by state and skipped slots by reason, per job, since an instant."""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger.schema import jobs, runs, skipped

__all__ = ["runs_by_state", "skipped_by_reason"]


def runs_by_state(c: sa.Connection, since: int) -> list[tuple[str, int, int]]:
    """(key, state, how many) of runs that were opened, tried or ended since then."""
    moved = sa.or_(runs.c.opened_at >= since, runs.c.started_at >= since, runs.c.finished_at >= since)
    query = (
        sa.select(jobs.c.key, runs.c.state, sa.func.count())
        .select_from(runs.join(jobs, jobs.c.id == runs.c.job_id))
        .where(moved)
        .group_by(jobs.c.key, runs.c.state)
        .order_by(jobs.c.key, runs.c.state)
    )
    return [(row[0], row[1], row[2]) for row in c.execute(query)]


def skipped_by_reason(c: sa.Connection, since: int) -> list[tuple[str, str, int]]:
    """(key, reason, how many slots) of skipped rows decided since then."""
    query = (
        sa.select(jobs.c.key, skipped.c.reason, sa.func.sum(skipped.c.slots))
        .select_from(skipped.join(jobs, jobs.c.id == skipped.c.job_id))
        .where(skipped.c.decided_at >= since)
        .group_by(jobs.c.key, skipped.c.reason)
        .order_by(jobs.c.key, skipped.c.reason)
    )
    return [(row[0], row[1], int(row[2])) for row in c.execute(query)]
