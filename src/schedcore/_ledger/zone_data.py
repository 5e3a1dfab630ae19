"""Definitions that were made with other zone data than this process has: found, and followed in batches (P-28)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from schedcore._ledger.schema import definitions, due, hosts, jobs

__all__ = ["jobs_of_other", "made_with_other", "newest_of_others", "open_anew"]

_JOINED = jobs.join(
    definitions, sa.and_(definitions.c.job_id == jobs.c.id, definitions.c.number == jobs.c.definition)
)


def _other(version: str) -> tuple[sa.ColumnElement[bool], ...]:
    """Active jobs on a wall clock, or under a calendar, whose definition in force was made with other zone data."""
    elapsed = definitions.c.trigger.contains('"kind":"every"')
    closed = definitions.c.trigger.contains('"calendar":{')
    return jobs.c.state == "active", definitions.c.tz_version != version, sa.or_(sa.not_(elapsed), closed)


def jobs_of_other(c: sa.Connection, version: str, after_id: int, limit: int) -> list[int]:
    """The next jobs after an id whose definition in force was made with other zone data, in the order of ids."""
    query = sa.select(jobs.c.id).select_from(_JOINED).where(*_other(version), jobs.c.id > after_id)
    return list(c.execute(query.order_by(jobs.c.id).limit(limit)).scalars())


def made_with_other(c: sa.Connection, version: str, ids: Sequence[int]) -> list[dict[str, Any]]:
    """Those definitions of these jobs (``job_id``, ``number``, ``trigger``, ``valid_from``), each with ``uid`` and
    ``key`` of its job and what moves of it (``last_slot``, ``anchor``, ``slots_left``, ``lane``)."""
    moving = (due.c.last_slot, due.c.anchor, due.c.slots_left, due.c.lane)
    defined = (definitions.c.job_id, definitions.c.number, definitions.c.trigger, definitions.c.valid_from)
    query = sa.select(*defined, jobs.c.uid, jobs.c.key, *moving).where(*_other(version), jobs.c.id.in_(ids))
    joined = _JOINED.join(due, due.c.job_id == jobs.c.id)
    return [dict(row) for row in c.execute(query.select_from(joined).order_by(jobs.c.id)).mappings()]


def newest_of_others(c: sa.Connection, host_id: int, now: int) -> tuple[str, str] | None:
    """The newest zone data that another host with a heartbeat within three beats has, and the name of that host."""
    query = sa.select(hosts.c.name, hosts.c.versions).where(
        hosts.c.state == "live", hosts.c.id != host_id, hosts.c.beat_at > now - 3 * hosts.c.beat_every
    )
    found = [(orjson.loads(row.versions).get("tz") or "", row.name) for row in c.execute(query)]
    return max(found, default=None)


def open_anew(c: sa.Connection, rows: Sequence[Mapping[str, Any]], version: str, now: int) -> None:
    """Close these definitions at ``since`` and open the same ones under ``version``; their jobs are due at
    ``next_run_at``. The jobs' locks are the caller's."""
    job, old = sa.bindparam("b_job", type_=sa.BigInteger), sa.bindparam("b_old", type_=sa.Integer)
    new, since = sa.bindparam("b_new", type_=sa.Integer), sa.bindparam("b_since", type_=sa.BigInteger)
    given = [
        {
            "b_job": row["job_id"],
            "b_old": row["number"],
            "b_new": row["number"] + 1,
            "b_since": row["since"],
            "b_at": row["next_run_at"],
        }
        for row in rows
    ]
    if not given:
        return
    mine = (definitions.c.job_id == job, definitions.c.number == old)
    changed = {"number": new, "valid_from": since, "valid_to": sa.null(), "tz_version": sa.literal(version)}
    names = [column.name for column in definitions.c]
    same = sa.select(*(changed.get(name, definitions.c[name]) for name in names)).where(*mine)
    c.execute(sa.insert(definitions).from_select(names, same), given)
    c.execute(sa.update(definitions).where(*mine).values(valid_to=since), given)
    c.execute(sa.update(jobs).where(jobs.c.id == job).values(definition=new, updated_at=now), given)
    moved = {"definition": new, "next_run_at": sa.bindparam("b_at")}
    c.execute(sa.update(due).where(due.c.job_id == job).values(**moved), given)
