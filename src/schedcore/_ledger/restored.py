"""What a ledger is told that went back in time (G12): a new incarnation, and a hold until an operator has spoken.

What was written since lives on outside: runs in processes, numbers in logs, names of files. So no number and no
fence is given a second time: those of an incarnation begin above everything that any before it can have reached.
"""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger import events, holds
from schedcore._ledger.batches import IDS
from schedcore._ledger.events import LEDGER, Actor
from schedcore._ledger.schema import SCHEMA, hosts, leases, metadata, runs
from schedcore._ledger.schema import events as events_table
from schedcore._ledger.schema import ledger as ledger_table

__all__ = ["FENCES", "first_fence", "first_id", "mark"]

FENCES = 10**6
"""How many fences a run has in one incarnation; each attempt takes one."""


def first_id(incarnation: int) -> int:
    """Above every number that was given before this incarnation; numbers of this one are greater."""
    return (incarnation - 1) * IDS


def first_fence(incarnation: int) -> int:
    """Above every fence that was given before this incarnation; fences of this one are greater."""
    return (incarnation - 1) * FENCES


def mark(c: sa.Connection, incarnation: int, now: int, actor: Actor, text: str) -> None:
    """Make this ledger a restored one, of this incarnation, within the caller's transaction.

    Its hosts are dead, nobody holds a named service, and the hold ``restored`` is open.
    """
    fence = first_fence(incarnation)
    c.execute(sa.update(ledger_table).values(incarnation=incarnation))
    c.execute(sa.update(hosts).where(hosts.c.state == "live").values(state="dead", stopped_at=now))
    c.execute(sa.update(leases).values(host_id=None, lease_end=None, fence=_at_least(leases.c.fence, fence)))
    live = runs.c.state < sa.literal_column("3")
    c.execute(sa.update(runs).where(live).values(fence=_at_least(runs.c.fence, fence)))
    first = first_id(incarnation)
    if c.dialect.name == "postgresql":
        _raise_sequences(c, first)
    holds.open_hold(c, "restored", actor.name, now, text)
    events.record(c, LEDGER, now, actor, "restored", reason=text)
    if c.dialect.name == "sqlite":  # the next number follows the highest that is there
        newest = sa.select(sa.func.max(events_table.c.id)).scalar_subquery()
        c.execute(sa.update(events_table).where(events_table.c.id == newest).values(id=first + 1))


def _at_least(column: sa.ColumnElement[int], least: int) -> sa.ColumnElement[int]:
    return sa.case((column < least, least), else_=column)


def _raise_sequences(c: sa.Connection, first: int) -> None:
    for table in metadata.sorted_tables:
        if any(column.identity is not None for column in table.c):
            name = f"{SCHEMA}.{table.name}"
            newest = f"(select max(id) from {name})"
            c.exec_driver_sql(
                f"select setval(pg_get_serial_sequence('{name}','id'), greatest(%s, coalesce({newest}, 0), 1))",
                (first,),
            )
