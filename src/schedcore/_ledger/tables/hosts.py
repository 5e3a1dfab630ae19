"""The ledger itself, the hosts on it, what they hold and what holds them."""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger.tables.base import Id, Text, Us, metadata, own_id

__all__ = ["holds", "hosts", "kinds", "leases", "ledger"]

ledger = sa.Table(
    "ledger",
    metadata,
    sa.Column("one", sa.SmallInteger, primary_key=True),
    sa.Column("ledger_id", Text, nullable=False),
    sa.Column("incarnation", sa.Integer, nullable=False),
    sa.Column("created_at", Us, nullable=False),
)

hosts = sa.Table(
    "hosts",
    metadata,
    own_id(),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("boot_id", Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("state", Text, nullable=False),
    sa.Column("started_at", Us, nullable=False),
    sa.Column("stopped_at", Us),
    sa.Column("beat_at", Us),
    sa.Column("beats", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("beat_every", Us, nullable=False),
    sa.Column("pulse", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("pulse_lease", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("last_write", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("tags", sa.Text, nullable=False),
    sa.Column("environment", sa.Text),
    sa.Column("kinds", sa.Text, nullable=False),
    sa.Column("versions", sa.Text, nullable=False),
    sa.Column("status", sa.Text),
    sa.Column("order_text", Text),
)
sa.Index("ix_hosts_live", hosts.c.state)

kinds = sa.Table(
    "kinds",
    metadata,
    sa.Column("kind", Text, primary_key=True),
    sa.Column("version", Text, nullable=False),
    sa.Column("schema", sa.Text, nullable=False),
    sa.Column("limit_s", sa.Integer, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("retry_lost", sa.SmallInteger, nullable=False),
    sa.Column("seen_at", Us, nullable=False),
)

leases = sa.Table(
    "leases",
    metadata,
    sa.Column("name", Text, primary_key=True),
    sa.Column("host_id", Id),
    sa.Column("fence", sa.Integer, nullable=False),
    sa.Column("lease_end", sa.BigInteger),
)

holds = sa.Table(
    "holds",
    metadata,
    own_id(),
    sa.Column("reason", Text, nullable=False),
    sa.Column("text", sa.Text),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("since", Us, nullable=False),
    sa.Column("until", Us),
    sa.Column("lifted_by", sa.Text),
)
sa.Index(
    "ix_holds_open",
    holds.c.reason,
    sqlite_where=sa.text("until is null"),
    postgresql_where=sa.text("until is null"),
)
