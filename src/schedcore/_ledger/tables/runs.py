"""Runs and their attempts, slots that got none, and what limits runs across hosts."""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger.tables.base import Id, Text, Us, metadata, of_job, own_id

__all__ = ["attempts", "groups", "in_state", "places", "runs", "skipped", "starts"]

runs = sa.Table(
    "runs",
    metadata,
    own_id(),
    of_job(hot=True),
    sa.Column("definition", sa.Integer, nullable=False),
    sa.Column("lane", sa.Integer, nullable=False),
    sa.Column("scheduled_for", Us, nullable=False),
    sa.Column("trigger", sa.SmallInteger, nullable=False),
    sa.Column("state", sa.SmallInteger, nullable=False),
    sa.Column("late", sa.SmallInteger, nullable=False, server_default="0"),
    sa.Column("alone", sa.SmallInteger, nullable=False, server_default="0"),
    sa.Column("start_at", Us, nullable=False),
    sa.Column("attempts", sa.SmallInteger, nullable=False, server_default="0"),
    sa.Column("fence", sa.Integer, nullable=False, server_default="0"),
    sa.Column("host_id", Id),
    sa.Column("lease_end", sa.BigInteger),
    sa.Column("opened_at", Us, nullable=False),
    sa.Column("started_at", Us),
    sa.Column("finished_at", Us),
    sa.Column("duration_ms", sa.BigInteger),
    sa.Column("latency_ms", sa.BigInteger),
    sa.Column("outcome", Text),
    sa.Column("reason", Text),
    sa.Column("text", sa.Text),
    sa.Column("next_attempt_at", Us),
    sa.Column("gave_up", sa.SmallInteger),
    sa.Column("exit_code", sa.Integer),
    sa.Column("stop_reason", Text),
    sa.Column("stop_actor", sa.Text),
    sa.Column("lost_until", Us),
    sa.Column("coalesced", sa.BigInteger),
    sa.Column("probe", sa.SmallInteger),
    sa.Column("asks", sa.SmallInteger),
    sa.Column("origin", sa.Text),
    sa.Column("delivery_key", Text),
    sa.Column("parent_run_id", Id),
    sa.Column("retry_of_id", Id),
    sa.Column("stdout_tail", sa.Text),
    sa.Column("stderr_tail", sa.Text),
    sa.Column("output_ref", sa.Text),
    sa.Column("assert_exit", sa.Integer),
    sa.Column("assert_ms", sa.BigInteger),
    sa.Column("assert_output", sa.Text),
    sa.Column("usage", sa.Text),
    sa.Column("detail", sa.Text),
    sa.UniqueConstraint("job_id", "scheduled_for"),
)
sa.Index(
    "ix_runs_live",
    runs.c.state,
    runs.c.job_id,
    sqlite_where=sa.text("state < 3"),
    postgresql_where=sa.text("state < 3"),
)
sa.Index(
    "ix_runs_queued",
    runs.c.lane,
    runs.c.late,
    runs.c.start_at,
    runs.c.id,
    sqlite_where=sa.text("state = 0"),
    postgresql_where=sa.text("state = 0"),
)
sa.Index(
    "ix_runs_lost",
    runs.c.job_id,
    sqlite_where=sa.text("lost_until is not null"),
    postgresql_where=sa.text("lost_until is not null"),
)


def in_state(*states: int) -> sa.ColumnElement[bool]:
    """Runs in one of these states, none of them final.

    The numbers stand in the text: a plan that is kept for any number does not use an index over some of them.
    """
    numbers: list[sa.ColumnClause[int]] = [sa.literal_column(str(int(state))) for state in states]
    return sa.and_(runs.c.state.in_(numbers), runs.c.state < sa.literal_column("3"))


attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("run_id", Id, primary_key=True, autoincrement=False),
    sa.Column("number", sa.SmallInteger, primary_key=True),
    sa.Column("fence", sa.Integer, nullable=False),
    sa.Column("host_id", Id, nullable=False),
    sa.Column("claimed_at", Us, nullable=False),
    sa.Column("started_at", Us),
    sa.Column("finished_at", Us),
    sa.Column("outcome", Text),
    sa.Column("reason", Text),
    sa.Column("text", sa.Text),
    sa.Column("exit_code", sa.Integer),
    sa.Column("repair", sa.Text),
    sqlite_with_rowid=False,
)

skipped = sa.Table(
    "skipped",
    metadata,
    own_id(),
    of_job(hot=True),
    sa.Column("definition", sa.Integer, nullable=False),
    sa.Column("first_slot", Us, nullable=False),
    sa.Column("last_slot", Us, nullable=False),
    sa.Column("slots", sa.BigInteger, nullable=False),
    sa.Column("reason", Text, nullable=False),
    sa.Column("run_id", Id),
    sa.Column("decided_at", Us, nullable=False),
    sa.Column("host_id", Id),
    sa.Column("actor", sa.Text),
    sa.UniqueConstraint("job_id", "first_slot"),
)
sa.Index("ix_skipped_last", skipped.c.job_id, skipped.c.last_slot)

groups = sa.Table(
    "groups",
    metadata,
    sa.Column("name", Text, primary_key=True),
    sa.Column("places", sa.Integer, nullable=False),
    sa.Column("rate", sa.Integer),
    sa.Column("rate_window", Us),
)

places = sa.Table(
    "places",
    metadata,
    sa.Column("group_name", Text, primary_key=True),
    sa.Column("run_id", Id, primary_key=True, autoincrement=False),
)
sa.Index("ix_places_run", places.c.run_id)

starts = sa.Table(
    "starts",
    metadata,
    own_id(),
    sa.Column("group_name", Text, nullable=False),
    sa.Column("at", Us, nullable=False),
)
sa.Index("ix_starts_at", starts.c.group_name, starts.c.at)
