"""``INSERT … ON CONFLICT`` in the words of the connection's database."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

__all__ = ["upsert"]

_INSERT: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


def upsert(c: sa.Connection, table: sa.Table) -> Any:
    """An insert that offers ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    return _INSERT[c.dialect.name](table)
