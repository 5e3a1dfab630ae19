"""Holds: a row that stops all claims while it is open (A-17, G9, G11)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import holds

__all__ = ["lift", "listed", "open_hold", "opened"]


def opened(c: sa.Connection) -> list[dict[str, Any]]:
    """The holds that are open now."""
    query = sa.select(holds).where(holds.c.until.is_(None)).order_by(holds.c.id)
    return [dict(r) for r in c.execute(query).mappings()]


def open_hold(c: sa.Connection, reason: str, actor: str, since: int, text: str | None = None) -> bool:
    """Open a hold, unless one with this reason is open; answers whether it did."""
    there = sa.select(holds.c.id).where(holds.c.reason == reason, holds.c.until.is_(None))
    if c.execute(there).first():
        return False
    c.execute(sa.insert(holds).values(reason=reason, actor=actor, since=since, text=text))
    return True


def lift(c: sa.Connection, reason: str, actor: str, until: int) -> bool:
    """Lift the open hold with this reason; answers whether there was one."""
    query = sa.update(holds).where(holds.c.reason == reason, holds.c.until.is_(None))
    return c.execute(query.values(until=until, lifted_by=actor)).rowcount > 0


def listed(c: sa.Connection, limit: int = 50) -> list[dict[str, Any]]:
    """Holds, newest first."""
    return [dict(r) for r in c.execute(sa.select(holds).order_by(holds.c.id.desc()).limit(limit)).mappings()]
