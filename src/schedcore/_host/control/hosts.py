"""Hosts, and the two orders that stop claims: drain one host, halt them all (A-17, T-24)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from schedcore._host.control.ordering import clean_reason, now_of, required_reason
from schedcore._host.control.ordering import order as ordered
from schedcore._host.control.views import instants
from schedcore._ledger import events, holds, hosts
from schedcore._ledger.events import LEDGER
from schedcore.domain.clock import SECOND
from schedcore.domain.errors import Conflict, NotFound, nearest

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.events import Actor
    from schedcore._ledger.ledger import Connection

__all__ = ["PERIODS", "drain", "halt", "host_line", "listed"]

PERIODS = 3
"""A host whose heartbeat is older than this many beats is not alive (T-18, F-10)."""
_LIFTABLE = ("halt", "clock", "restored")


def listed(control: Asker, *, all_states: bool) -> list[dict[str, Any]]:
    """See :meth:`Control.hosts`."""
    with control.ledger.read() as c:
        now = now_of(control, c)
        return [host_line(row, now) for row in hosts.listed(c, live_only=not all_states)]


def host_line(row: dict[str, Any], now: int) -> dict[str, Any]:
    """One host as people see it; what it told of itself at its last beat is in ``status``."""
    status = orjson.loads(row["status"] or "{}")
    age = None if row["beat_at"] is None else now - row["beat_at"]
    since = age if age is not None else now - row["started_at"]
    alive = row["state"] == "live" and since <= PERIODS * row["beat_every"]
    return {
        "id": row["id"],
        "name": row["name"],
        "machine": row["machine"],
        "pid": row["pid"],
        "state": row["state"],
        "alive": alive,
        **instants(None, started_at=row["started_at"], beat_at=row["beat_at"], stopped_at=row["stopped_at"]),
        "age_s": None if age is None else age / SECOND,
        "beat_every_s": row["beat_every"] / SECOND,
        "beats": row["beats"],
        "kinds": orjson.loads(row["kinds"]),
        "tags": orjson.loads(row["tags"]),
        "environment": row["environment"],
        "versions": orjson.loads(row["versions"]),
        "running": status.get("running"),
        "workers": status.get("workers"),
        "draining": bool(status.get("draining")) or row["order_text"] == "drain",
        "faults": {
            name: status[name]
            for name in ("ledger_faults", "loop_faults", "last_fault", "given_up")
            if status.get(name)
        },
        "status": status,
    }


def halt(control: Asker, on: bool, reason: str | None, *, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.halt`."""
    why = required_reason(reason) if on else clean_reason(reason)
    if dry_run:
        with control.ledger.read() as c:
            opened = [h["reason"] for h in holds.opened(c)]
        changed = "halt" not in opened if on else any(r in opened for r in _LIFTABLE)
        return {"halted": on, "changed": changed, "holds": opened, "dry_run": True}

    def deed(c: Connection, actor: Actor, now: int) -> bool:
        if on:
            changed = holds.open_hold(c, "halt", actor.name, now, why)
        else:
            lifted = [holds.lift(c, reason, actor.name, now) for reason in _LIFTABLE]
            changed = any(lifted)
        if changed:
            events.record(c, LEDGER, now, actor, "halt_on" if on else "halt_off", reason=why)
            control.ledger.dialect.notify(c)
        return changed

    changed = ordered(control, deed)
    with control.ledger.read() as c:
        opened = [h["reason"] for h in holds.opened(c)]
    return {"halted": "halt" in opened, "changed": changed, "holds": opened, "dry_run": False}


def drain(control: Asker, host: str | int, *, reason: str | None, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.drain`."""
    why = clean_reason(reason)
    with control.ledger.read() as c:
        found = _named(hosts.listed(c), host)
    if not dry_run:

        def deed(c: Connection, actor: Actor, now: int) -> None:
            if not sum(hosts.order(c, row["id"], "drain") for row in found):
                raise Conflict(f"host {host} stopped meanwhile", code="lost_race", field="host", value=host)
            names = ", ".join(f"{row['name']} ({row['id']})" for row in found)
            text = f"{names}: {why}" if why else names
            events.record(c, LEDGER, now, actor, "drain", reason=text)
            control.ledger.dialect.notify(c)

        ordered(control, deed)
    return {"hosts": [{"id": row["id"], "name": row["name"]} for row in found], "dry_run": dry_run}


def _named(live: list[dict[str, Any]], host: str | int) -> list[dict[str, Any]]:
    found = [row for row in live if host in (row["id"], str(row["id"]), row["name"])]
    if not found:
        hint = nearest(str(host), {row["name"] for row in live}) or "see `schedcore engine list`"
        raise NotFound(f"no live host {host!r}", code="no_host", field="host", value=host, hint=hint)
    return found
