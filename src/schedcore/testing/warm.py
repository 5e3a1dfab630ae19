"""What a host needs, imported once in the process that all host processes are forked from."""

from __future__ import annotations

from importlib import import_module

__all__: list[str] = []

for _name in (
    "alembic.command",
    "pydantic",
    "psycopg",
    "schedcore._host.control",
    "schedcore._host.host",
    "schedcore._ledger.watch",
    "schedcore._ledger.dialects.sqlite",
    "schedcore._ledger.dialects.postgresql",
    "schedcore.testing.processes",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlite3",
):
    try:
        import_module(_name)
    except ImportError:  # a driver that is not installed is not needed
        continue
