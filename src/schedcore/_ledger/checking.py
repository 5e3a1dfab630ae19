"""Has the ledger the tables and columns of this code? What its rows say is the auditor's to check."""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger.schema import SCHEMA, metadata

__all__ = ["schema"]


def schema(c: sa.Connection) -> list[str]:
    """Tables and columns that are missing."""
    inspector = sa.inspect(c)
    where = None if c.dialect.name == "sqlite" else SCHEMA
    there = set(inspector.get_table_names(schema=where))
    told = []
    for table in metadata.sorted_tables:
        if table.name not in there:
            told.append(f"the table {table.name} is missing")
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name, schema=where)}
        told += [
            f"the column {table.name}.{n.name} is missing" for n in table.columns if n.name not in columns
        ]
    return told
