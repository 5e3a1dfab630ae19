"""What a restore would write over: is a ledger there, what is in it, and does a host live on it?"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from schedcore._ledger import migrate
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.schema import events, hosts, jobs, runs
from schedcore.domain.errors import Conflict

__all__ = ["ABSENT", "Target", "living", "look", "require_free"]

_PERIODS = 3


@dataclass(frozen=True, slots=True)
class Target:
    """A ledger that may be written over. ``newest`` is the instant of its newest event; ``live`` names its hosts."""

    there: bool = False
    ledger: str | None = None
    incarnation: int = 0
    schema: str | None = None
    jobs: int = 0
    runs: int = 0
    newest: int | None = None
    live: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Would nothing be lost?"""
        return not (self.jobs or self.runs)


ABSENT = Target()


def look(ledger: Ledger) -> Target:
    """What is there. Tables of another schema than ours are asked for no more than has always been in them."""
    with ledger.read() as c:
        schema = migrate.revision(ledger, c)
        if schema is None:
            return ABSENT
        ledger_id, incarnation = migrate.identity(c)
        return Target(
            there=True,
            ledger=ledger_id,
            incarnation=incarnation,
            schema=schema,
            jobs=_count(c, jobs),
            runs=_count(c, runs),
            newest=c.execute(sa.select(sa.func.max(events.c.at))).scalar(),
            live=tuple(living(ledger, c)),
        )


def require_free(names: Sequence[str]) -> None:
    """Refuse a ledger on which hosts live."""
    if names:
        raise Conflict(
            f"host {names[0]} lives on the ledger",
            code="ledger_in_use",
            field="ledger",
            value=", ".join(names),
            hint="stop every host first; one that died counts for three beats",
        )


def _count(c: sa.Connection, table: sa.Table) -> int:
    return int(c.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def living(ledger: Ledger, c: sa.Connection) -> list[str]:
    """Hosts that have beaten within three beats, but for processes of this machine that are gone."""
    now = ledger.times.now(c)
    beaten = sa.func.coalesce(hosts.c.beat_at, hosts.c.started_at)
    query = sa.select(hosts.c.name, hosts.c.machine, hosts.c.boot_id, hosts.c.pid).where(
        hosts.c.state == "live", beaten > now - _PERIODS * hosts.c.beat_every
    )
    return [row["name"] for row in map(dict, c.execute(query).mappings()) if not _gone(ledger, row)]


def _gone(ledger: Ledger, row: Mapping[str, Any]) -> bool:
    """On PostgreSQL the process may be in another container, where its number means nothing here."""
    if not ledger.is_sqlite or (row["machine"], row["boot_id"]) != (platform.node(), ledger.boot_id):
        return False
    try:
        os.kill(row["pid"], 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
