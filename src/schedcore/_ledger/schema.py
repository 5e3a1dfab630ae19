"""The tables.

Instants are integer microseconds since 1970 (L-04); lease ends are *not* instants but lease time of the
ledger; states are small integers (:mod:`schedcore.domain.run`). JSON is text that we dump ourselves, since a
type decorator on a hot column costs more than the database does (``docs/decisions/0004``).

What moves at each slot stands in the narrow table ``due`` beside ``jobs``, so that the row rewritten at every
fire carries no payload. ``due`` is also the lock of its job: whoever opens a run of a job holds that row.

A *lane* is what decides which hosts may claim a run: its kind of work, the tags and environment it requires,
its groups. Due slots and queued runs are indexed by lane first, so that a full group or a kind nobody offers
never stands in the way of the rest, whatever waits behind it.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

__all__ = ["SCHEMA", "metadata"]

SCHEMA = "schedcore"

metadata = sa.MetaData(
    schema=SCHEMA,
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    },
)

_Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_Us = sa.BigInteger
_C = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")  # text order is byte order on both


def _id() -> sa.Column[int]:
    return sa.Column("id", _Id, sa.Identity(), primary_key=True)


def _job(*, hot: bool = False, **kw: Any) -> sa.Column[int]:
    """The column ``job_id``. Hot tables have no foreign key: it costs a lookup (SQLite) or a row lock
    (PostgreSQL) per run; ``fsck`` checks them instead (``docs/decisions/0005``)."""
    refers = () if hot else (sa.ForeignKey(f"{SCHEMA}.jobs.id"),)
    return sa.Column("job_id", _Id, *refers, nullable=False, **kw)


ledger = sa.Table(
    "ledger",
    metadata,
    sa.Column("one", sa.SmallInteger, primary_key=True),
    sa.Column("ledger_id", _C, nullable=False),
    sa.Column("incarnation", sa.Integer, nullable=False),
    sa.Column("created_at", _Us, nullable=False),
)

jobs = sa.Table(
    "jobs",
    metadata,
    _id(),
    sa.Column("uid", _C, nullable=False, unique=True),
    sa.Column("key", _C, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", _C, nullable=False),
    sa.Column("state", _C, nullable=False),
    sa.Column("state_reason", sa.Text),
    sa.Column("state_actor", sa.Text),
    sa.Column("state_at", _Us, nullable=False),
    sa.Column("state_before", _C),
    sa.Column("definition", sa.Integer, nullable=False),
    sa.Column("digest", _C, nullable=False),
    sa.Column("streak", sa.Integer, nullable=False, server_default="0"),
    sa.Column("breaker_at", _Us),
    sa.Column("source", _C),
    sa.Column("external_id", _C),
    sa.Column("declared", _C),
    sa.Column("owner", sa.Text),
    sa.Column("scope", sa.Text),
    sa.Column("labels", sa.Text),
    sa.Column("creator", sa.Text, nullable=False),
    sa.Column("creator_kind", _C, nullable=False),
    sa.Column("why_so", sa.Text),
    sa.Column("archived_through", _Us),
    sa.Column("created_at", _Us, nullable=False),
    sa.Column("updated_at", _Us, nullable=False),
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
    _job(primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("valid_from", _Us, nullable=False),
    sa.Column("valid_to", _Us),
    sa.Column("state", _C, nullable=False),
    sa.Column("state_reason", sa.Text),
    sa.Column("kind", _C, nullable=False),
    sa.Column("trigger", sa.Text, nullable=False),
    sa.Column("policies", sa.Text, nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("toolset", sa.Text),
    sa.Column("tz_version", _C, nullable=False),
    sa.Column("digest", _C, nullable=False),
)

due = sa.Table(
    "due",
    metadata,
    sa.Column("job_id", _Id, primary_key=True, autoincrement=False),
    sa.Column("lane", sa.Integer, nullable=False),
    sa.Column("next_run_at", _Us),
    sa.Column("last_slot", _Us),
    sa.Column("anchor", _Us, nullable=False),
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

hosts = sa.Table(
    "hosts",
    metadata,
    _id(),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("boot_id", _C, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("state", _C, nullable=False),
    sa.Column("started_at", _Us, nullable=False),
    sa.Column("stopped_at", _Us),
    sa.Column("beat_at", _Us),
    sa.Column("beats", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("beat_every", _Us, nullable=False),
    sa.Column("pulse", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("pulse_lease", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("last_write", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("tags", sa.Text, nullable=False),
    sa.Column("environment", sa.Text),
    sa.Column("kinds", sa.Text, nullable=False),
    sa.Column("versions", sa.Text, nullable=False),
    sa.Column("status", sa.Text),
    sa.Column("order_text", _C),
)
sa.Index("ix_hosts_live", hosts.c.state)

kinds = sa.Table(
    "kinds",
    metadata,
    sa.Column("kind", _C, primary_key=True),
    sa.Column("version", _C, nullable=False),
    sa.Column("schema", sa.Text, nullable=False),
    sa.Column("limit_s", sa.Integer, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("retry_lost", sa.SmallInteger, nullable=False),
    sa.Column("seen_at", _Us, nullable=False),
)

runs = sa.Table(
    "runs",
    metadata,
    _id(),
    _job(hot=True),
    sa.Column("definition", sa.Integer, nullable=False),
    sa.Column("lane", sa.Integer, nullable=False),
    sa.Column("scheduled_for", _Us, nullable=False),
    sa.Column("trigger", sa.SmallInteger, nullable=False),
    sa.Column("state", sa.SmallInteger, nullable=False),
    sa.Column("late", sa.SmallInteger, nullable=False, server_default="0"),
    sa.Column("alone", sa.SmallInteger, nullable=False, server_default="0"),
    sa.Column("start_at", _Us, nullable=False),
    sa.Column("attempts", sa.SmallInteger, nullable=False, server_default="0"),
    sa.Column("fence", sa.Integer, nullable=False, server_default="0"),
    sa.Column("host_id", _Id),
    sa.Column("lease_end", sa.BigInteger),
    sa.Column("opened_at", _Us, nullable=False),
    sa.Column("started_at", _Us),
    sa.Column("finished_at", _Us),
    sa.Column("duration_ms", sa.BigInteger),
    sa.Column("latency_ms", sa.BigInteger),
    sa.Column("outcome", _C),
    sa.Column("reason", _C),
    sa.Column("text", sa.Text),
    sa.Column("next_attempt_at", _Us),
    sa.Column("gave_up", sa.SmallInteger),
    sa.Column("exit_code", sa.Integer),
    sa.Column("stop_reason", _C),
    sa.Column("stop_actor", sa.Text),
    sa.Column("lost_until", _Us),
    sa.Column("coalesced", sa.BigInteger),
    sa.Column("probe", sa.SmallInteger),
    sa.Column("asks", sa.SmallInteger),
    sa.Column("origin", sa.Text),
    sa.Column("delivery_key", _C),
    sa.Column("parent_run_id", _Id),
    sa.Column("retry_of_id", _Id),
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

lanes = sa.Table(
    "lanes",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("needs", _C, nullable=False, unique=True),
)

attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("run_id", _Id, primary_key=True, autoincrement=False),
    sa.Column("number", sa.SmallInteger, primary_key=True),
    sa.Column("fence", sa.Integer, nullable=False),
    sa.Column("host_id", _Id, nullable=False),
    sa.Column("claimed_at", _Us, nullable=False),
    sa.Column("started_at", _Us),
    sa.Column("finished_at", _Us),
    sa.Column("outcome", _C),
    sa.Column("reason", _C),
    sa.Column("text", sa.Text),
    sa.Column("exit_code", sa.Integer),
    sa.Column("repair", sa.Text),
    sqlite_with_rowid=False,
)

skipped = sa.Table(
    "skipped",
    metadata,
    _id(),
    _job(hot=True),
    sa.Column("definition", sa.Integer, nullable=False),
    sa.Column("first_slot", _Us, nullable=False),
    sa.Column("last_slot", _Us, nullable=False),
    sa.Column("slots", sa.BigInteger, nullable=False),
    sa.Column("reason", _C, nullable=False),
    sa.Column("run_id", _Id),
    sa.Column("decided_at", _Us, nullable=False),
    sa.Column("host_id", _Id),
    sa.Column("actor", sa.Text),
    sa.UniqueConstraint("job_id", "first_slot"),
)
sa.Index("ix_skipped_last", skipped.c.job_id, skipped.c.last_slot)

places = sa.Table(
    "places",
    metadata,
    sa.Column("group_name", _C, primary_key=True),
    sa.Column("run_id", _Id, primary_key=True, autoincrement=False),
)
sa.Index("ix_places_run", places.c.run_id)

groups = sa.Table(
    "groups",
    metadata,
    sa.Column("name", _C, primary_key=True),
    sa.Column("places", sa.Integer, nullable=False),
    sa.Column("rate", sa.Integer),
    sa.Column("rate_window", _Us),
)

starts = sa.Table(
    "starts",
    metadata,
    _id(),
    sa.Column("group_name", _C, nullable=False),
    sa.Column("at", _Us, nullable=False),
)
sa.Index("ix_starts_at", starts.c.group_name, starts.c.at)

leases = sa.Table(
    "leases",
    metadata,
    sa.Column("name", _C, primary_key=True),
    sa.Column("host_id", _Id),
    sa.Column("fence", sa.Integer, nullable=False),
    sa.Column("lease_end", sa.BigInteger),
)

holds = sa.Table(
    "holds",
    metadata,
    _id(),
    sa.Column("reason", _C, nullable=False),
    sa.Column("text", sa.Text),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("since", _Us, nullable=False),
    sa.Column("until", _Us),
    sa.Column("lifted_by", sa.Text),
)
sa.Index(
    "ix_holds_open",
    holds.c.reason,
    sqlite_where=sa.text("until is null"),
    postgresql_where=sa.text("until is null"),
)

events = sa.Table(
    "events",
    metadata,
    _id(),
    sa.Column("job_id", _Id, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("at", _Us, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("actor_kind", _C, nullable=False),
    sa.Column("action", _C, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("changes", sa.Text),
    sa.Column("digest_before", _C),
    sa.Column("digest_after", _C),
    sa.Column("run_id", _Id),
    sa.Column("token", _C),
    sa.UniqueConstraint("job_id", "number"),
)

outbox = sa.Table(
    "outbox",
    metadata,
    _id(),
    sa.Column("at", _Us, nullable=False),
    sa.Column("topic", _C, nullable=False),
    sa.Column("job_id", _Id, nullable=False),
    sa.Column("run_id", _Id),
    sa.Column("data", sa.Text),
)

marks = sa.Table(
    "marks",
    metadata,
    sa.Column("listener", _C, primary_key=True),
    sa.Column("through", _Id, nullable=False),
    sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
    sa.Column("last_error", sa.Text),
    sa.Column("next_try_at", _Us),
)

shelves = sa.Table(
    "shelves",
    metadata,
    sa.Column("plugin", _C, primary_key=True),
    sa.Column("key", _C, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("updated_at", _Us, nullable=False),
)

archive = sa.Table(
    "archive",
    metadata,
    _id(),
    _job(),
    sa.Column("month", _C, nullable=False),
    sa.Column("first_slot", _Us, nullable=False),
    sa.Column("last_slot", _Us, nullable=False),
    sa.Column("runs", sa.Integer, nullable=False),
    sa.Column("chunk", sa.LargeBinary, nullable=False),
)
sa.Index("ix_archive_job", archive.c.job_id, archive.c.last_slot)
