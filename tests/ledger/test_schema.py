"""The migrations make the tables that the code describes, on both databases."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from schedcore._ledger.ledger import Ledger
from schedcore._ledger.schema import SCHEMA, metadata


def _described(table: sa.Table) -> dict[str, Any]:
    unique = [c for c in table.constraints if isinstance(c, sa.UniqueConstraint)]
    return {
        "columns": {(c.name, c.nullable) for c in table.columns},
        "indexes": {(i.name, tuple(c.name for c in i.columns), bool(i.unique)) for i in table.indexes},
        "unique": {tuple(c.name for c in u.columns) for u in unique}
        | {(c.name,) for c in table.columns if c.unique},
        "key": tuple(c.name for c in table.primary_key.columns),
    }


def _made(look: sa.Inspector, name: str, schema: str | None) -> dict[str, Any]:
    unique = {tuple(u["column_names"]) for u in look.get_unique_constraints(name, schema)}
    indexes = look.get_indexes(name, schema)
    return {
        "columns": {(c["name"], c["nullable"]) for c in look.get_columns(name, schema)},
        "indexes": {
            (i["name"], tuple(i["column_names"]), bool(i["unique"]))
            for i in indexes
            if not i.get("duplicates_constraint") and not str(i["name"]).startswith("sqlite_autoindex")
        },
        "unique": unique,
        "key": tuple(look.get_pk_constraint(name, schema)["constrained_columns"]),
    }


def test_what_the_migrations_make_is_what_the_code_describes(ledger: Ledger) -> None:
    schema = None if ledger.is_sqlite else SCHEMA

    with ledger.read() as c:
        look = sa.inspect(c)
        made = {t.name: _made(look, t.name, schema) for t in metadata.sorted_tables}
        names = set(look.get_table_names(schema))

    assert made == {t.name: _described(t) for t in metadata.sorted_tables}
    assert names == {t.name for t in metadata.sorted_tables} | {"schedcore_version"}
