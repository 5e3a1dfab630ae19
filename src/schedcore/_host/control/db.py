"""The ledger itself: its schema, whether it is whole, how large it is, its events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from schedcore._audit import wholeness
from schedcore._host.auditing import fsck as audited
from schedcore._host.control.instants import ago_or_instant
from schedcore._host.control.ordering import now_of
from schedcore._host.control.views import event
from schedcore._ledger import checking, events, figures, migrate
from schedcore.domain.errors import Refused

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker

__all__ = ["check", "events_of", "follow", "fsck", "stats", "upgrade"]

_MOST = 10_000
_STORE = "the store: "


def upgrade(control: Asker, *, dry_run: bool) -> dict[str, Any]:
    """See :meth:`Control.upgrade`."""
    if dry_run:
        before = migrate.current(control.ledger)
        sql = migrate.planned_sql(control.ledger)
        return {"before": before, "after": migrate.HEAD, "sql": sql, "dry_run": True}
    before, after = migrate.migrate(control.ledger)
    return {"before": before, "after": after, "sql": None, "dry_run": False}


def check(control: Asker) -> dict[str, Any]:
    """See :meth:`Control.check`."""
    ledger = control.ledger
    migrate.require(ledger)
    with ledger.read() as c:
        problems = [{"check": "schema", "what": what} for what in checking.schema(c)]
    if not problems:
        told = [one.what for one in wholeness(_url(control)).findings]
        problems = [{"check": "store" if _STORE in what else "relations", "what": what} for what in told]
    return {"v": 1, "ledger": str(ledger), "ok": not problems, "problems": problems}


def fsck(control: Asker, since: str | None) -> dict[str, Any]:
    """See :meth:`Control.fsck`."""
    with control.ledger.read() as c:
        start = ago_or_instant(since, now_of(control, c), "since")
    return audited(_url(control), control.engine.settings.policies, since=start)


def _url(control: Asker) -> str:
    return control.ledger.url.render_as_string(hide_password=False)


def stats(control: Asker) -> dict[str, Any]:
    """See :meth:`Control.stats`."""
    ledger = control.ledger
    with ledger.read() as c:
        tables = figures.rows(c)
        sizes = figures.sizes(c, ledger.path)
    return {"v": 1, "ledger": str(ledger), "tables": tables, **sizes}


def events_of(control: Asker, *, after: int | None, limit: int) -> list[dict[str, Any]]:
    """See :meth:`Control.events`."""
    if not 1 <= limit <= _MOST:
        raise Refused(
            f"{limit} events", code="out_of_range", field="limit", value=limit, hint=f"1 to {_MOST}"
        )
    with control.ledger.read() as c:
        found = events.tail(c, after=after or 0, limit=limit, newest=after is None)
    return [{"id": row["id"], "key": row["key"], **event(row)} for row in found]


def follow(control: Asker, *, after: int | None, every: float) -> Iterator[dict[str, Any]]:
    """See :meth:`Control.follow_events`."""
    if after is None:
        newest = events_of(control, after=None, limit=1)
        after = newest[-1]["id"] if newest else 0
    while True:
        found = events_of(control, after=after, limit=1000)
        for line in found:
            after = line["id"]
            yield line
        if not found:
            control.sleep(every)
