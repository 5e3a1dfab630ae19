"""Jobs: what they promise, what of them is due, and the lanes in which that stands."""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger.tables.base import Id, Text, Us, metadata, of_job, own_id

__all__ = ["definitions", "due", "jobs", "lanes"]

jobs = sa.Table(
    "jobs",
    metadata,
    own_id(),
    sa.Column("uid", Text, nullable=False, unique=True),
    sa.Column("key", Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", Text, nullable=False),
    sa.Column("state", Text, nullable=False),
    sa.Column("state_reason", sa.Text),
    sa.Column("state_actor", sa.Text),
    sa.Column("state_at", Us, nullable=False),
    sa.Column("state_before", Text),
    sa.Column("definition", sa.Integer, nullable=False),
    sa.Column("digest", Text, nullable=False),
    sa.Column("streak", sa.Integer, nullable=False, server_default="0"),
    sa.Column("breaker_at", Us),
    sa.Column("source", Text),
    sa.Column("external_id", Text),
    sa.Column("declared", Text),
    sa.Column("owner", sa.Text),
    sa.Column("scope", sa.Text),
    sa.Column("labels", sa.Text),
    sa.Column("creator", sa.Text, nullable=False),
    sa.Column("creator_kind", Text, nullable=False),
    sa.Column("why_so", sa.Text),
    sa.Column("archived_through", Us),
    sa.Column("created_at", Us, nullable=False),
    sa.Column("updated_at", Us, nullable=False),
    sa.Column("extra", sa.Text),
)
sa.Index(
    "uq_jobs_live_key",
    jobs.c.key,
    unique=True,
    sqlite_where=sa.text("state <> 'retired'"),
    postgresql_where=sa.text("state <> 'retired'"),
)
sa.Index(
    "ix_jobs_retired",
    jobs.c.key,
    sqlite_where=sa.text("state = 'retired'"),
    postgresql_where=sa.text("state = 'retired'"),
)
sa.Index(
    "ix_jobs_streak",
    jobs.c.id,
    sqlite_where=sa.text("streak <> 0"),
    postgresql_where=sa.text("streak <> 0"),
)
sa.Index(
    "uq_jobs_source",
    jobs.c.source,
    jobs.c.external_id,
    unique=True,
    sqlite_where=sa.text("source is not null"),
    postgresql_where=sa.text("source is not null"),
)

definitions = sa.Table(
    "definitions",
    metadata,
    of_job(primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("valid_from", Us, nullable=False),
    sa.Column("valid_to", Us),
    sa.Column("state", Text, nullable=False),
    sa.Column("state_reason", sa.Text),
    sa.Column("kind", Text, nullable=False),
    sa.Column("trigger", sa.Text, nullable=False),
    sa.Column("policies", sa.Text, nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("toolset", sa.Text),
    sa.Column("tz_version", Text, nullable=False),
    sa.Column("digest", Text, nullable=False),
)

due = sa.Table(
    "due",
    metadata,
    sa.Column("job_id", Id, primary_key=True, autoincrement=False),
    sa.Column("lane", sa.Integer, nullable=False),
    sa.Column("next_run_at", Us),
    sa.Column("last_slot", Us),
    sa.Column("anchor", Us, nullable=False),
    sa.Column("definition", sa.Integer, nullable=False),
    sa.Column("slots_left", sa.Integer),
    sa.Column("fired", sa.Integer, nullable=False, server_default="0"),
    sa.Column("faults", sa.SmallInteger, nullable=False, server_default="0"),
)
sa.Index(
    "ix_due_next",
    due.c.lane,
    due.c.next_run_at,
    due.c.job_id,  # the order of the tick to the last column, so that PostgreSQL sorts nothing
    sqlite_where=sa.text("next_run_at is not null"),
    postgresql_where=sa.text("next_run_at is not null"),
)

lanes = sa.Table(
    "lanes",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("needs", Text, nullable=False, unique=True),
)
