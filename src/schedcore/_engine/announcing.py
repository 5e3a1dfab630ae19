"""Coming and going: a host announces itself before any loop runs, and leaves in order (T-18, T-20, T-24)."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schedcore._engine.calendars import digests
from schedcore._engine.state import Engine
from schedcore._ledger import groups, hosts, listeners
from schedcore._ledger.json_text import json_text
from schedcore.domain.clock import SECOND
from schedcore.domain.errors import Refused

__all__ = ["announce", "leave", "refuse_other_machine"]


def refuse_other_machine(e: Engine, wait: Callable[[float], object] = time.sleep) -> None:
    """Several hosts may share an SQLite file, but not from two machines (L-02, G10).

    A host marked live under another boot id is of an earlier boot of this machine, or of another machine;
    only the latter's heartbeat moves. Raises :class:`Refused`.
    """
    if not e.ledger.is_sqlite:
        return
    with e.ledger.read() as c:
        before = {i: pulse for i, pulse, _ in hosts.foreign(c, e.ledger.boot_id)}
    if not before:
        return
    wait(min(e.settings.beat, e.settings.lease / 5) * 1.5)
    with e.ledger.read() as c:
        moving = [(i, m) for i, pulse, m in hosts.foreign(c, e.ledger.boot_id) if pulse != before.get(i)]
    if moving:
        raise Refused(
            f"another machine ({moving[0][1]}) runs host {moving[0][0]} on {e.ledger}",
            code="another_machine",
            field="ledger",
            value=str(e.ledger),
            hint="point `ledger` at PostgreSQL and start more hosts",
        )
    with e.ledger.write() as c:
        hosts.bury(c, list(before), e.ledger.times.now(c))


def announce(
    e: Engine, kinds: Sequence[Mapping[str, Any]], versions: Mapping[str, Any], *, beat_now: bool = False
) -> int:
    """Write the host's row, its kinds, its groups and the marks of its listeners; answers its id."""
    settings = e.settings
    told = {**versions, **({"calendars": digests(e.toolbox.calendars)} if e.toolbox.calendars else {})}
    with e.ledger.write() as c:
        now = e.ledger.times.now(c)
        lease_now = e.ledger.times.lease(c)
        e.host_id = hosts.announce(
            c,
            {
                "name": e.name,
                "machine": platform.node(),
                "boot_id": e.ledger.boot_id,
                "pid": os.getpid(),
                "state": "live",
                "started_at": now,
                "beat_at": now if beat_now else None,
                "beat_every": int(settings.beat * SECOND),
                "pulse_lease": lease_now,
                "tags": json_text(sorted(settings.tags)),
                "environment": settings.environment,
                "kinds": json_text(sorted(e.toolbox.executors)),
                "versions": json_text(told),
            },
        )
        hosts.announce_kinds(c, [{**row, "seen_at": now} for row in kinds])
        groups.declare(c, {name: (n, rate, window) for name, n, rate, window in settings.groups})
        listeners.register(c, [listener.name for _, listener in e.toolbox.listeners])
    e.write_number = 0
    e.renewed_at = e.clocks.boot()
    e.contact_since = e.renewed_at
    return e.host_id


def leave(e: Engine) -> None:
    """The host stopped in order."""
    with e.ledger.write() as c:
        hosts.leave(c, e.host_id, e.ledger.times.now(c))
