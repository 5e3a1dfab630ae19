"""Jobs whose definition holds a calendar, and the calendars that hosts declare."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
import sqlalchemy as sa

from schedcore._ledger.schema import definitions, hosts, jobs

__all__ = ["declared_by_live", "with_calendar"]


def with_calendar(c: sa.Connection, states: Sequence[str]) -> list[tuple[int, str, str, str | None]]:
    """The jobs in these states whose definition in force holds a calendar: id, trigger, state and its reason."""
    query = (
        sa.select(jobs.c.id, definitions.c.trigger, jobs.c.state, jobs.c.state_reason)
        .select_from(
            jobs.join(
                definitions,
                sa.and_(definitions.c.job_id == jobs.c.id, definitions.c.number == jobs.c.definition),
            )
        )
        .where(jobs.c.state.in_(states), definitions.c.trigger.contains('"calendar":{'))
    )
    return [tuple(row) for row in c.execute(query.order_by(jobs.c.id))]


def declared_by_live(c: sa.Connection, now: int) -> set[str] | None:
    """The names of the calendars that hosts with a heartbeat within three beats declare; ``None`` without any."""
    query = sa.select(hosts.c.versions).where(
        hosts.c.state == "live", hosts.c.beat_at.is_not(None), hosts.c.beat_at > now - 3 * hosts.c.beat_every
    )
    told = [orjson.loads(text) for text in c.execute(query).scalars()]
    return {name for versions in told for name in versions.get("calendars", {})} if told else None
