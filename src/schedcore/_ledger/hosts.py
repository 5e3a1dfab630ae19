"""Hosts, their heartbeats, the kinds they announce, and the leases they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from schedcore._ledger import batches
from schedcore._ledger.dialects.driver import execute
from schedcore._ledger.schema import hosts, kinds, leases, runs
from schedcore._ledger.upsert import upsert

__all__ = [
    "announce",
    "announce_kinds",
    "beat",
    "bury",
    "foreign",
    "give_lease",
    "known_kinds",
    "leave",
    "listed",
    "live",
    "live_kinds",
    "order",
    "renew",
    "running",
    "take_lease",
    "tally",
    "told",
    "wrote",
]


def announce(c: sa.Connection, values: Mapping[str, Any]) -> int:
    """A new host; answers its id."""
    (host_id,) = batches.next_ids(c, hosts, 1)
    c.execute(sa.insert(hosts).values(id=host_id, **values))
    return host_id


def announce_kinds(c: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write what this host offers, so that any process can validate payloads (T-18)."""
    for row in sorted(rows, key=lambda r: str(r["kind"])):
        rest = {k: v for k, v in row.items() if k != "kind"}
        c.execute(upsert(c, kinds).values(**row).on_conflict_do_update(index_elements=["kind"], set_=rest))


def known_kinds(c: sa.Connection) -> dict[str, dict[str, Any]]:
    """Every kind of work any host ever announced."""
    return {r["kind"]: dict(r) for r in c.execute(sa.select(kinds)).mappings()}


def beat(c: sa.Connection, host_id: int, now: int, status: str | None = None) -> str | None:
    """One completed beat of the loop; answers the order an operator left for this host, if any."""
    query = sa.update(hosts).where(hosts.c.id == host_id)
    query = query.values(beat_at=now, beats=hosts.c.beats + 1, status=status)
    return c.execute(query.returning(hosts.c.order_text)).scalar()


def told(c: sa.Connection, host_id: int, status: str) -> None:
    """What a host says of itself between two beats."""
    c.execute(sa.update(hosts).where(hosts.c.id == host_id).values(status=status))


_WROTE = {
    "sqlite": "update hosts set last_write=? where id=?",
    "postgresql": "update schedcore.hosts set last_write=%s where id=%s",
}


def wrote(c: sa.Connection, host_id: int, number: int | None = None) -> int:
    """Mark this transaction as the host's write ``number``, or read the last one that is known to be there.

    Read with the row locked: a transaction whose COMMIT raised may still be under way on the server.
    """
    if number is None:
        query = sa.select(hosts.c.last_write).where(hosts.c.id == host_id).with_for_update()
        return int(c.execute(query).scalar_one())
    execute(c, _WROTE[c.dialect.name], (number, host_id))
    return number


def renew(c: sa.Connection, host_id: int, lease_end: int, lease_now: int) -> None:
    """All leases of a host in one statement, and its pulse."""
    c.execute(
        sa.update(runs)
        .where(runs.c.state == sa.literal_column("1"), runs.c.state < sa.literal_column("3"))
        .where(runs.c.host_id == host_id)
        .values(lease_end=lease_end)
    )
    c.execute(sa.update(leases).where(leases.c.host_id == host_id).values(lease_end=lease_end))
    pulse = {"pulse": hosts.c.pulse + 1, "pulse_lease": lease_now}
    c.execute(sa.update(hosts).where(hosts.c.id == host_id).values(**pulse))


def running(c: sa.Connection, host_id: int) -> list[tuple[int, int, str | None, str | None]]:
    """What the ledger says this host runs: (run id, fence, stop reason, who asked)."""
    query = sa.select(runs.c.id, runs.c.fence, runs.c.stop_reason, runs.c.stop_actor).where(
        runs.c.state == sa.literal_column("1"),
        runs.c.state < sa.literal_column("3"),
        runs.c.host_id == host_id,
    )
    return [tuple(r) for r in c.execute(query)]


def tally(c: sa.Connection, host_id: int) -> tuple[int, int, int, int]:
    """Of :func:`running`: how many, the sums of their numbers and of their fences, how many shall stop.

    A twentieth of the price of reading them, and as good where they agree: fences only grow.
    """
    zero: sa.ColumnElement[int] = sa.literal_column("0")
    query = sa.select(
        sa.func.count(),
        sa.func.coalesce(sa.func.sum(runs.c.id), zero),
        sa.func.coalesce(sa.func.sum(runs.c.fence), zero),
        sa.func.count(runs.c.stop_reason),
    ).where(
        runs.c.state == sa.literal_column("1"),
        runs.c.state < sa.literal_column("3"),
        runs.c.host_id == host_id,
    )
    many, ids, fences, stops = c.execute(query).one()
    return many, int(ids), int(fences), stops  # PostgreSQL sums into numeric


def leave(c: sa.Connection, host_id: int, now: int) -> None:
    """The host stopped in order."""
    c.execute(sa.update(hosts).where(hosts.c.id == host_id).values(state="stopped", stopped_at=now))
    c.execute(sa.update(leases).where(leases.c.host_id == host_id).values(host_id=None, lease_end=None))


def order(c: sa.Connection, host_id: int, text: str | None) -> int:
    """Leave an order (``drain``) for a live host; answers how many hosts took it."""
    query = sa.update(hosts).where(hosts.c.id == host_id, hosts.c.state == "live").values(order_text=text)
    return c.execute(query).rowcount


def listed(c: sa.Connection, *, live_only: bool = True) -> list[dict[str, Any]]:
    """Hosts, newest first."""
    query = sa.select(hosts).order_by(hosts.c.id.desc())
    if live_only:
        query = query.where(hosts.c.state == "live")
    return [dict(r) for r in c.execute(query.limit(500)).mappings()]


def foreign(c: sa.Connection, boot_id: str) -> list[tuple[int, int, str]]:
    """Hosts marked live under another boot id: (id, pulse, machine)."""
    query = sa.select(hosts.c.id, hosts.c.pulse + hosts.c.beats, hosts.c.machine)
    return [tuple(r) for r in c.execute(query.where(hosts.c.state == "live", hosts.c.boot_id != boot_id))]


def take_lease(
    c: sa.Connection, name: str, host_id: int, now: int, lease_end: int, boot_id: str
) -> int | None:
    """The named service's lease, when it is free, ours, or lost; answers the fence, else ``None`` (L-11)."""
    c.execute(upsert(c, leases).values(name=name, fence=0).on_conflict_do_nothing(index_elements=["name"]))
    dead = sa.select(hosts.c.id).where(sa.or_(hosts.c.boot_id != boot_id, hosts.c.state != "live"))
    free = sa.or_(
        leases.c.host_id.is_(None),
        leases.c.host_id == host_id,
        leases.c.lease_end < now,
        leases.c.host_id.in_(dead),
    )
    raised = sa.case((leases.c.host_id == host_id, leases.c.fence), else_=leases.c.fence + 1)
    query = sa.update(leases).where(leases.c.name == name, free)
    return c.execute(
        query.values(host_id=host_id, lease_end=lease_end, fence=raised).returning(leases.c.fence)
    ).scalar()


def give_lease(c: sa.Connection, name: str, host_id: int) -> None:
    """Give a named service back."""
    mine = (leases.c.name == name, leases.c.host_id == host_id)
    c.execute(sa.update(leases).where(*mine).values(host_id=None, lease_end=None))


def live(c: sa.Connection, now: int) -> list[dict[str, Any]]:
    """Hosts with a heartbeat within three beats: ``name``, ``kinds`` and ``tags`` as sets, ``environment``."""
    query = sa.select(hosts.c.name, hosts.c.kinds, hosts.c.tags, hosts.c.environment).where(
        hosts.c.state == "live", hosts.c.beat_at.is_not(None), hosts.c.beat_at > now - 3 * hosts.c.beat_every
    )
    return [
        {
            "name": row.name,
            "kinds": set(orjson.loads(row.kinds)),
            "tags": set(orjson.loads(row.tags)),
            "environment": row.environment,
        }
        for row in c.execute(query)
    ]


def live_kinds(c: sa.Connection, now: int) -> set[str]:
    """Kinds that hosts with a heartbeat within three beats offer now."""
    query = sa.select(hosts.c.kinds).where(
        hosts.c.state == "live", hosts.c.beat_at.is_not(None), hosts.c.beat_at > now - 3 * hosts.c.beat_every
    )
    return {kind for text in c.execute(query).scalars() for kind in orjson.loads(text)}


def bury(c: sa.Connection, ids: Sequence[int], now: int) -> None:
    """Hosts of an earlier boot that no longer move are dead."""
    dead = {"state": "dead", "stopped_at": now}
    c.execute(sa.update(hosts).where(hosts.c.id.in_(ids), hosts.c.state == "live").values(**dead))
