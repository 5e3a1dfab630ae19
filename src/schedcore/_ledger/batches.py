"""Many new rows at once: one text, all values bound, nothing of SQLAlchemy per row (``docs/decisions/0018``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import SCHEMA

__all__ = ["IDS", "insert", "next_ids"]

IDS = 10**12
"""How many numbers each incarnation of a ledger has; at a thousand runs a second they last for thirty years."""


def insert(c: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that all have the same columns in the same order. Raises what the database refuses."""
    if not rows:
        return
    names = tuple(rows[0])
    sqlite = c.dialect.name == "sqlite"
    marks = ",".join(["?" if sqlite else "%s"] * len(names))
    text = f"insert into {_named(c, table)}({','.join(names)}) values ({marks})"  # names of our own schema
    c.exec_driver_sql(text, [tuple(row.values()) for row in rows])


def next_ids(c: sa.Connection, table: sa.Table, n: int) -> list[int]:
    """So many fresh ids, ascending, above those of earlier incarnations. On SQLite the writer's lock keeps them."""
    if c.dialect.name == "sqlite":
        newest = f"coalesce((select max(id) from {table.name}),0)"
        first = c.exec_driver_sql(f"select max({newest},(incarnation-1)*{IDS})+1 from ledger").scalar_one()
        return list(range(first, first + n))
    text = f"select nextval(pg_get_serial_sequence('{_named(c, table)}','id')) from generate_series(1,%s)"
    return sorted(c.exec_driver_sql(text, (n,)).scalars())


def _named(c: sa.Connection, table: sa.Table) -> str:
    return table.name if c.dialect.name == "sqlite" else f"{SCHEMA}.{table.name}"
