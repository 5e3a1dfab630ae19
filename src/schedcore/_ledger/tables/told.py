"""What is told and kept: events, the outbox, shelves of plugins, the archive."""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger.tables.base import Id, Text, Us, metadata, of_job, own_id

__all__ = ["archive", "events", "marks", "outbox", "shelves"]

events = sa.Table(
    "events",
    metadata,
    own_id(),
    sa.Column("job_id", Id, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("at", Us, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("actor_kind", Text, nullable=False),
    sa.Column("action", Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("changes", sa.Text),
    sa.Column("digest_before", Text),
    sa.Column("digest_after", Text),
    sa.Column("run_id", Id),
    sa.Column("token", Text),
    sa.UniqueConstraint("job_id", "number"),
)

outbox = sa.Table(
    "outbox",
    metadata,
    own_id(),
    sa.Column("at", Us, nullable=False),
    sa.Column("topic", Text, nullable=False),
    sa.Column("job_id", Id, nullable=False),
    sa.Column("run_id", Id),
    sa.Column("data", sa.Text),
)

marks = sa.Table(
    "marks",
    metadata,
    sa.Column("listener", Text, primary_key=True),
    sa.Column("through", Id, nullable=False),
    sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
    sa.Column("last_error", sa.Text),
    sa.Column("next_try_at", Us),
)

shelves = sa.Table(
    "shelves",
    metadata,
    sa.Column("plugin", Text, primary_key=True),
    sa.Column("key", Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("updated_at", Us, nullable=False),
)

archive = sa.Table(
    "archive",
    metadata,
    own_id(),
    of_job(),
    sa.Column("month", Text, nullable=False),
    sa.Column("first_slot", Us, nullable=False),
    sa.Column("last_slot", Us, nullable=False),
    sa.Column("runs", sa.Integer, nullable=False),
    sa.Column("chunk", sa.LargeBinary, nullable=False),
)
sa.Index("ix_archive_job", archive.c.job_id, archive.c.last_slot)
