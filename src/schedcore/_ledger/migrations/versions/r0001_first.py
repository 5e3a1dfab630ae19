"""The first schema of the ledger."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from schedcore._ledger.migrations.views import create_views

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

C = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create every table, index and reading view."""
    sqlite = op.get_context().dialect.name == "sqlite"
    schema = None if sqlite else "schedcore"
    prefix = "" if sqlite else "schedcore."
    op.create_table(
        "attempts",
        sa.Column("run_id", ID, autoincrement=False, nullable=False),
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("host_id", ID, nullable=False),
        sa.Column("claimed_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("outcome", C, nullable=True),
        sa.Column("reason", C, nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("repair", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_attempts")),
        schema=schema,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "due",
        sa.Column("job_id", ID, autoincrement=False, nullable=False),
        sa.Column("lane", sa.Integer(), nullable=False),
        sa.Column("next_run_at", sa.BigInteger(), nullable=True),
        sa.Column("last_slot", sa.BigInteger(), nullable=True),
        sa.Column("anchor", sa.BigInteger(), nullable=False),
        sa.Column("definition", sa.Integer(), nullable=False),
        sa.Column("slots_left", sa.Integer(), nullable=True),
        sa.Column("fired", sa.Integer(), server_default="0", nullable=False),
        sa.Column("faults", sa.SmallInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_due")),
        schema=schema,
    )
    op.create_index(
        "ix_due_next",
        "due",
        ["lane", "next_run_at", "job_id"],
        unique=False,
        schema=schema,
        sqlite_where=sa.text("next_run_at is not null"),
        postgresql_where=sa.text("next_run_at is not null"),
    )
    op.create_table(
        "events",
        sa.Column("id", ID, sa.Identity(always=False), nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("actor_kind", C, nullable=False),
        sa.Column("action", C, nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("changes", sa.Text(), nullable=True),
        sa.Column("digest_before", C, nullable=True),
        sa.Column("digest_after", C, nullable=True),
        sa.Column("run_id", ID, nullable=True),
        sa.Column("token", C, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.UniqueConstraint("job_id", "number", name=op.f("uq_events_job_id_number")),
        schema=schema,
    )
    op.create_table(
        "groups",
        sa.Column("name", C, nullable=False),
        sa.Column("places", sa.Integer(), nullable=False),
        sa.Column("rate", sa.Integer(), nullable=True),
        sa.Column("rate_window", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_groups")),
        schema=schema,
    )
    op.create_table(
        "holds",
        sa.Column("id", ID, sa.Identity(always=False), nullable=False),
        sa.Column("reason", C, nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("lifted_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_holds")),
        schema=schema,
    )
    op.create_index(
        "ix_holds_open",
        "holds",
        ["reason"],
        unique=False,
        schema=schema,
        sqlite_where=sa.text("until is null"),
        postgresql_where=sa.text("until is null"),
    )
    op.create_table(
        "hosts",
        sa.Column("id", ID, sa.Identity(always=False), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("boot_id", C, nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("state", C, nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("stopped_at", sa.BigInteger(), nullable=True),
        sa.Column("beat_at", sa.BigInteger(), nullable=True),
        sa.Column("beats", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("beat_every", sa.BigInteger(), nullable=False),
        sa.Column("pulse", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("pulse_lease", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_write", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=True),
        sa.Column("kinds", sa.Text(), nullable=False),
        sa.Column("versions", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("order_text", C, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosts")),
        schema=schema,
    )
    op.create_index("ix_hosts_live", "hosts", ["state"], unique=False, schema=schema)
    op.create_table(
        "jobs",
        sa.Column("id", ID, sa.Identity(always=False), nullable=False),
        sa.Column("uid", C, nullable=False),
        sa.Column("key", C, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", C, nullable=False),
        sa.Column("state", C, nullable=False),
        sa.Column("state_reason", sa.Text(), nullable=True),
        sa.Column("state_actor", sa.Text(), nullable=True),
        sa.Column("state_at", sa.BigInteger(), nullable=False),
        sa.Column("state_before", C, nullable=True),
        sa.Column("definition", sa.Integer(), nullable=False),
        sa.Column("digest", C, nullable=False),
        sa.Column("streak", sa.Integer(), server_default="0", nullable=False),
        sa.Column("breaker_at", sa.BigInteger(), nullable=True),
        sa.Column("source", C, nullable=True),
        sa.Column("external_id", C, nullable=True),
        sa.Column("declared", C, nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("scope", sa.Text(), nullable=True),
        sa.Column("labels", sa.Text(), nullable=True),
        sa.Column("creator", sa.Text(), nullable=False),
        sa.Column("creator_kind", C, nullable=False),
        sa.Column("why_so", sa.Text(), nullable=True),
        sa.Column("archived_through", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("uid", name=op.f("uq_jobs_uid")),
        schema=schema,
    )
    op.create_index(
        "ix_jobs_retired",
        "jobs",
        ["key"],
        unique=False,
        schema=schema,
        sqlite_where=sa.text("state = 'retired'"),
        postgresql_where=sa.text("state = 'retired'"),
    )
    op.create_index(
        "ix_jobs_streak",
        "jobs",
        ["id"],
        unique=False,
        schema=schema,
        sqlite_where=sa.text("streak <> 0"),
        postgresql_where=sa.text("streak <> 0"),
    )
    op.create_index(
        "uq_jobs_live_key",
        "jobs",
        ["key"],
        unique=True,
        schema=schema,
        sqlite_where=sa.text("state <> 'retired'"),
        postgresql_where=sa.text("state <> 'retired'"),
    )
    op.create_index(
        "uq_jobs_source",
        "jobs",
        ["source", "external_id"],
        unique=True,
        schema=schema,
        sqlite_where=sa.text("source is not null"),
        postgresql_where=sa.text("source is not null"),
    )
    op.create_table(
        "kinds",
        sa.Column("kind", C, nullable=False),
        sa.Column("version", C, nullable=False),
        sa.Column("schema", sa.Text(), nullable=False),
        sa.Column("limit_s", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("retry_lost", sa.SmallInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", name=op.f("pk_kinds")),
        schema=schema,
    )
    op.create_table(
        "lanes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("needs", C, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lanes")),
        sa.UniqueConstraint("needs", name=op.f("uq_lanes_needs")),
        schema=schema,
    )
    op.create_table(
        "leases",
        sa.Column("name", C, nullable=False),
        sa.Column("host_id", ID, nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("lease_end", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
        schema=schema,
    )
    op.create_table(
        "ledger",
        sa.Column("one", sa.SmallInteger(), nullable=False),
        sa.Column("ledger_id", C, nullable=False),
        sa.Column("incarnation", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_ledger")),
        schema=schema,
    )
    op.create_table(
        "marks",
        sa.Column("listener", C, nullable=False),
        sa.Column("through", ID, nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("next_try_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("listener", name=op.f("pk_marks")),
        schema=schema,
    )
    op.create_table(
        "outbox",
        sa.Column("id", ID, sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("topic", C, nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=True),
        sa.Column("data", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        schema=schema,
    )
    op.create_table(
        "places",
        sa.Column("group_name", C, nullable=False),
        sa.Column("run_id", ID, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("group_name", "run_id", name=op.f("pk_places")),
        schema=schema,
    )
    op.create_index("ix_places_run", "places", ["run_id"], unique=False, schema=schema)
    op.create_table(
        "runs",
        sa.Column("id", ID, sa.Identity(always=False), nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("definition", sa.Integer(), nullable=False),
        sa.Column("lane", sa.Integer(), nullable=False),
        sa.Column("scheduled_for", sa.BigInteger(), nullable=False),
        sa.Column("trigger", sa.SmallInteger(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("late", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("alone", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("start_at", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("fence", sa.Integer(), server_default="0", nullable=False),
        sa.Column("host_id", ID, nullable=True),
        sa.Column("lease_end", sa.BigInteger(), nullable=True),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), nullable=True),
        sa.Column("latency_ms", sa.BigInteger(), nullable=True),
        sa.Column("outcome", C, nullable=True),
        sa.Column("reason", C, nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("next_attempt_at", sa.BigInteger(), nullable=True),
        sa.Column("gave_up", sa.SmallInteger(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("stop_reason", C, nullable=True),
        sa.Column("stop_actor", sa.Text(), nullable=True),
        sa.Column("lost_until", sa.BigInteger(), nullable=True),
        sa.Column("coalesced", sa.BigInteger(), nullable=True),
        sa.Column("probe", sa.SmallInteger(), nullable=True),
        sa.Column("asks", sa.SmallInteger(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.Column("delivery_key", C, nullable=True),
        sa.Column("parent_run_id", ID, nullable=True),
        sa.Column("retry_of_id", ID, nullable=True),
        sa.Column("stdout_tail", sa.Text(), nullable=True),
        sa.Column("stderr_tail", sa.Text(), nullable=True),
        sa.Column("output_ref", sa.Text(), nullable=True),
        sa.Column("assert_exit", sa.Integer(), nullable=True),
        sa.Column("assert_ms", sa.BigInteger(), nullable=True),
        sa.Column("assert_output", sa.Text(), nullable=True),
        sa.Column("usage", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("job_id", "scheduled_for", name=op.f("uq_runs_job_id_scheduled_for")),
        schema=schema,
    )
    op.create_index(
        "ix_runs_live",
        "runs",
        ["state", "job_id"],
        unique=False,
        schema=schema,
        sqlite_where=sa.text("state < 3"),
        postgresql_where=sa.text("state < 3"),
    )
    op.create_index(
        "ix_runs_lost",
        "runs",
        ["job_id"],
        unique=False,
        schema=schema,
        sqlite_where=sa.text("lost_until is not null"),
        postgresql_where=sa.text("lost_until is not null"),
    )
    op.create_index(
        "ix_runs_queued",
        "runs",
        ["lane", "late", "start_at", "id"],
        unique=False,
        schema=schema,
        sqlite_where=sa.text("state = 0"),
        postgresql_where=sa.text("state = 0"),
    )
    op.create_table(
        "shelves",
        sa.Column("plugin", C, nullable=False),
        sa.Column("key", C, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("plugin", "key", name=op.f("pk_shelves")),
        schema=schema,
    )
    op.create_table(
        "skipped",
        sa.Column("id", ID, sa.Identity(always=False), nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("definition", sa.Integer(), nullable=False),
        sa.Column("first_slot", sa.BigInteger(), nullable=False),
        sa.Column("last_slot", sa.BigInteger(), nullable=False),
        sa.Column("slots", sa.BigInteger(), nullable=False),
        sa.Column("reason", C, nullable=False),
        sa.Column("run_id", ID, nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.Column("host_id", ID, nullable=True),
        sa.Column("actor", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_skipped")),
        sa.UniqueConstraint("job_id", "first_slot", name=op.f("uq_skipped_job_id_first_slot")),
        schema=schema,
    )
    op.create_index("ix_skipped_last", "skipped", ["job_id", "last_slot"], unique=False, schema=schema)
    op.create_table(
        "starts",
        sa.Column("id", ID, sa.Identity(always=False), nullable=False),
        sa.Column("group_name", C, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_starts")),
        schema=schema,
    )
    op.create_index("ix_starts_at", "starts", ["group_name", "at"], unique=False, schema=schema)
    op.create_table(
        "archive",
        sa.Column("id", ID, sa.Identity(always=False), nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("month", C, nullable=False),
        sa.Column("first_slot", sa.BigInteger(), nullable=False),
        sa.Column("last_slot", sa.BigInteger(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("chunk", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], [prefix + "jobs.id"], name=op.f("fk_archive_job_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_archive")),
        schema=schema,
    )
    op.create_index("ix_archive_job", "archive", ["job_id", "last_slot"], unique=False, schema=schema)
    op.create_table(
        "definitions",
        sa.Column("job_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("state", C, nullable=False),
        sa.Column("state_reason", sa.Text(), nullable=True),
        sa.Column("kind", C, nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("policies", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("toolset", sa.Text(), nullable=True),
        sa.Column("tz_version", C, nullable=False),
        sa.Column("digest", C, nullable=False),
        sa.ForeignKeyConstraint(["job_id"], [prefix + "jobs.id"], name=op.f("fk_definitions_job_id")),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_definitions")),
        schema=schema,
    )
    create_views(op.execute, "sqlite" if sqlite else "postgresql")
