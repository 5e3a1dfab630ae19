"""What an apply asks of the jobs of its source, and the stamps of their declarations (``docs/decisions/0018``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from schedcore._ledger.jobs import JOINED, WIDE, lock_many
from schedcore._ledger.schema import definitions, jobs

__all__ = ["Declared", "of_source", "stamp", "with_definitions"]

Found = dict[str, Any]


class Declared(NamedTuple):
    """What an apply must know of a job of its source before it reads anything."""

    external_id: str
    id: int
    key: str
    state: str
    declared: str | None


def of_source(c: sa.Connection, source: str) -> dict[str, Declared]:
    """All jobs of a source, retired ones too, by their external id: what is cheap to know of each."""
    columns = (jobs.c.external_id, jobs.c.id, jobs.c.key, jobs.c.state, jobs.c.declared)
    rows = c.execute(sa.select(*columns).where(jobs.c.source == source).order_by(jobs.c.id))
    return {row[0]: Declared(*row) for row in rows}


def with_definitions(c: sa.Connection, ids: Sequence[int], *, lock: bool = False) -> dict[str, Found]:
    """These jobs of one source by external id, each with its definition in force under ``current``.

    ``lock`` locks every one of them, in the order of their ids.
    """
    found: dict[str, Found] = {}
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        if lock:
            lock_many(c, some)
        for row in c.execute(_WHOLE.where(jobs.c.id.in_(some))):
            job = dict(zip(_WIDE_NAMES, row, strict=False))
            job["current"] = dict(zip(_TEXT_NAMES, row[len(_WIDE_NAMES) :], strict=True))
            found[job["external_id"]] = job
    return found


_AT_ONCE = 500
_WIDE_NAMES = tuple(column.name for column in WIDE)
_TEXT_NAMES = tuple(column.name for column in definitions.c)
_WHOLE = (
    sa.select(*WIDE, *(column.label("d_" + column.name) for column in definitions.c))
    .select_from(
        JOINED.join(
            definitions,
            sa.and_(definitions.c.job_id == jobs.c.id, definitions.c.number == jobs.c.definition),
        )
    )
    .order_by(jobs.c.id)
)


def stamp(c: sa.Connection, stamps: Mapping[int, str]) -> None:
    """Note the stamps of declarations that jobs, by id, are found to say already."""
    query = sa.update(jobs).where(jobs.c.id == sa.bindparam("job")).values(declared=sa.bindparam("mark"))
    if stamps:
        c.execute(query, [{"job": job, "mark": mark} for job, mark in stamps.items()])
