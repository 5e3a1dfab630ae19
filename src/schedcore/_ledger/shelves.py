"""Shelves: small JSON by plugin and key, in place of tables of a plugin's own."""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger.schema import shelves
from schedcore._ledger.upsert import upsert

__all__ = ["get", "put"]


def get(c: sa.Connection, plugin: str, key: str) -> str | None:
    """The text on a shelf."""
    where = (shelves.c.plugin == plugin, shelves.c.key == key)
    return c.execute(sa.select(shelves.c.value).where(*where)).scalar()


def put(c: sa.Connection, plugin: str, key: str, value: str | None, now: int) -> None:
    """Put a text on a shelf, or take it off."""
    if value is None:
        c.execute(sa.delete(shelves).where(shelves.c.plugin == plugin, shelves.c.key == key))
        return
    values = {"value": value, "updated_at": now}
    query = upsert(c, shelves).values(plugin=plugin, key=key, **values)
    c.execute(query.on_conflict_do_update(index_elements=["plugin", "key"], set_=values))
