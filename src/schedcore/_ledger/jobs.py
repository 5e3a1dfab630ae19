"""Jobs and their definitions: rows of ``jobs``, ``definitions``, ``due`` and ``lanes``.

``lock`` takes the row of ``due``, which is the lock of its job: opening a run, editing, pausing and resuming
all hold it, so no two of them interleave.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from schedcore._ledger import batches
from schedcore._ledger.schema import definitions, due, in_state, jobs, lanes, runs
from schedcore._ledger.upsert import upsert
from schedcore.domain.errors import Conflict

__all__ = [
    "JOINED",
    "WIDE",
    "by_ids",
    "close_definition",
    "definition",
    "definition_at",
    "definitions_since",
    "due_row",
    "find",
    "insert_many",
    "lane",
    "lane_needs",
    "last_slots",
    "listed",
    "live_keys",
    "lock",
    "lock_free",
    "lock_many",
    "new_due",
    "new_ids",
    "new_uid",
    "open_definition",
    "open_definitions",
    "redefine",
    "set_due",
    "similar",
    "touch",
    "triggers",
    "update",
]

Found = dict[str, Any]

WIDE = (
    *jobs.c,
    due.c.next_run_at,
    due.c.last_slot,
    due.c.anchor,
    due.c.slots_left,
    due.c.fired,
    due.c.faults,
    due.c.lane,
)
JOINED = jobs.outerjoin(due, due.c.job_id == jobs.c.id)


def new_uid() -> str:
    """A random public id: runs of two ledgers never share a run key."""
    return "j-" + secrets.token_hex(8)


def new_ids(c: sa.Connection, n: int) -> list[int]:
    """Ids for so many new jobs, ascending."""
    return batches.next_ids(c, jobs, n)


def insert_many(c: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """New rows of ``jobs``, with ids of :func:`new_ids`. Raises :class:`Conflict` when a live job has a key."""
    try:
        batches.insert(c, jobs, rows)
    except sa.exc.IntegrityError as error:
        raise _taken(error, rows[0] if len(rows) == 1 else {"key": _key_in(error)}) from error


def _key_in(error: sa.exc.IntegrityError) -> str:
    """The key that PostgreSQL names; SQLite names none, but its one writer has looked before it wrote."""
    detail = getattr(getattr(error.orig, "diag", None), "message_detail", None) or ""
    return detail.partition("=(")[2].partition(")")[0] or "one of several"


def update(c: sa.Connection, job_id: int, **values: Any) -> None:
    """Write the named columns of one job, and no others (L-06). Raises :class:`Conflict` for a taken key."""
    try:
        c.execute(sa.update(jobs).where(jobs.c.id == job_id).values(**values))
    except sa.exc.IntegrityError as error:
        key = sa.select(jobs.c.key).where(jobs.c.id == job_id)
        given = values if "key" in values or c.dialect.name != "sqlite" else {"key": c.execute(key).scalar()}
        raise _taken(error, given) from error


def _taken(error: sa.exc.IntegrityError, values: Mapping[str, Any]) -> Conflict:
    if any(name in str(error.orig) for name in ("uq_jobs_source", "jobs.source")):
        what = f"{values.get('external_id')!r} of source {values.get('source')!r}"
        return Conflict(f"{what} has a job already", code="external_id_taken", field="external_id")
    return Conflict(
        f"a live job has the key {values.get('key', 'it had')!r} already",
        code="key_taken",
        field="key",
        value=values.get("key"),
        hint="edit that job, or remove it first",
    )


def lock(c: sa.Connection, job_id: int) -> Found:
    """The job, with its row of ``due`` locked until the transaction ends."""
    c.execute(sa.select(due.c.job_id).where(due.c.job_id == job_id).with_for_update()).one()
    return dict(c.execute(sa.select(*WIDE).select_from(JOINED).where(jobs.c.id == job_id)).mappings().one())


def lock_many(c: sa.Connection, job_ids: Sequence[int]) -> None:
    """Lock the rows of ``due`` of several jobs, in the order of their ids, before anything else of theirs.

    Everywhere the order is ``due``, then ``runs``, then ``jobs``, then ``groups``: two writers cannot meet
    crosswise.
    """
    if job_ids and c.dialect.name == "postgresql":
        query = sa.select(due.c.job_id).where(due.c.job_id.in_(job_ids)).order_by(due.c.job_id)
        c.execute(query.with_for_update()).all()


def lock_free(c: sa.Connection, job_ids: Collection[int]) -> set[int]:
    """Lock those of these jobs that nobody else has locked; answers them. On SQLite a writer has them all."""
    if not job_ids or c.dialect.name == "sqlite":
        return set(job_ids)
    query = sa.select(due.c.job_id).where(due.c.job_id.in_(job_ids)).order_by(due.c.job_id)
    return set(c.execute(query.with_for_update(skip_locked=True)).scalars())


def touch(c: sa.Connection, job_ids: Collection[int]) -> None:
    """A run of each of these locked jobs begins to live, and their rows of ``due`` do not move by it.

    On PostgreSQL a host may have looked at the job before and lock it after: the new version of the row tells it
    to count again what lives. On SQLite nobody looks while somebody writes.
    """
    if job_ids and c.dialect.name == "postgresql":
        c.execute(sa.update(due).where(due.c.job_id.in_(job_ids)).values(faults=due.c.faults))


def find(c: sa.Connection, text: str) -> list[Found]:
    """Jobs by public id, by key, or by a prefix of either: the exact ones alone when there are any.

    A live job comes before retired ones of the same key.
    """
    query = sa.select(*WIDE).select_from(JOINED)
    live = sa.and_(jobs.c.key == text, jobs.c.state != sa.literal_column("'retired'"))
    gone = sa.and_(jobs.c.key == text, jobs.c.state == sa.literal_column("'retired'"))
    for exact in (jobs.c.uid == text, live, gone):  # each a seek in an index of its own
        found = c.execute(query.where(exact).order_by(jobs.c.key, jobs.c.id.desc()).limit(1))
        if rows := [dict(r) for r in found.mappings()]:
            return rows
    begins = sa.or_(
        jobs.c.uid.startswith(text, autoescape=True), jobs.c.key.startswith(text, autoescape=True)
    )
    live_only = query.where(begins, jobs.c.state != "retired").order_by(jobs.c.key).limit(10)
    return [dict(r) for r in c.execute(live_only).mappings()]


def similar(c: sa.Connection, limit: int = 5000) -> list[str]:
    """Keys of live jobs, for a guess at a typo."""
    return list(c.execute(sa.select(jobs.c.key).where(jobs.c.state != "retired").limit(limit)).scalars())


def by_ids(c: sa.Connection, ids: Sequence[int]) -> dict[int, Found]:
    """Jobs by their integer ids."""
    rows = c.execute(sa.select(*WIDE).select_from(JOINED).where(jobs.c.id.in_(ids))).mappings()
    return {r["id"]: dict(r) for r in rows}


def live_keys(c: sa.Connection, keys: Sequence[str]) -> dict[str, int]:
    """Which of these keys live jobs have, each with the job's integer id."""
    found: dict[str, int] = {}
    for start in range(0, len(keys), 500):
        query = sa.select(jobs.c.key, jobs.c.id).where(jobs.c.state != "retired")
        found.update(c.execute(query.where(jobs.c.key.in_(keys[start : start + 500]))).all())
    return found


def triggers(c: sa.Connection, ids: Sequence[int]) -> dict[int, str]:
    """The stored triggers of jobs, of their definitions in force."""
    query = sa.select(jobs.c.id, definitions.c.trigger).select_from(
        jobs.join(
            definitions,
            sa.and_(definitions.c.job_id == jobs.c.id, definitions.c.number == jobs.c.definition),
        )
    )
    return dict(c.execute(query.where(jobs.c.id.in_(ids))).all())


def last_slots(c: sa.Connection) -> int | None:
    """The latest slot that any job has decided."""
    return c.execute(sa.select(sa.func.max(due.c.last_slot))).scalar()


def listed(
    c: sa.Connection,
    *,
    states: Sequence[str] = (),
    kind: str | None = None,
    label: str | None = None,
    text: str | None = None,
    limit: int = 1000,
    all_states: bool = False,
) -> list[Found]:
    """Jobs in the order of what comes next; those without a next slot last."""
    query = sa.select(*WIDE, definitions.c.trigger, definitions.c.policies).select_from(
        JOINED.outerjoin(
            definitions,
            sa.and_(definitions.c.job_id == jobs.c.id, definitions.c.number == jobs.c.definition),
        )
    )
    if states:
        query = query.where(jobs.c.state.in_(states))
    elif not all_states:
        query = query.where(jobs.c.state != "retired")
    if kind:
        query = query.where(jobs.c.kind == kind)
    if label:
        query = query.where(jobs.c.labels.contains(f'"{label}"', autoescape=True))
    if text:
        query = query.where(jobs.c.key.contains(text, autoescape=True))
    query = query.order_by(due.c.next_run_at.is_(None), due.c.next_run_at, jobs.c.key).limit(limit)
    return [dict(r) for r in c.execute(query).mappings()]


def open_definitions(c: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """The first definitions of new jobs."""
    batches.insert(c, definitions, rows)


def open_definition(c: sa.Connection, values: Mapping[str, Any]) -> None:
    """A new row of ``definitions``; its number follows the one before without a gap."""
    c.execute(sa.insert(definitions).values(**values))


def close_definition(c: sa.Connection, job_id: int, number: int, valid_to: int) -> None:
    """The definition holds no longer from ``valid_to`` on; edits are never retroactive (G15)."""
    where = (definitions.c.job_id == job_id, definitions.c.number == number)
    c.execute(sa.update(definitions).where(*where).values(valid_to=valid_to))


def definition(c: sa.Connection, job_id: int, number: int) -> Found:
    """One definition."""
    where = (definitions.c.job_id == job_id, definitions.c.number == number)
    return dict(c.execute(sa.select(definitions).where(*where)).mappings().one())


def definition_at(c: sa.Connection, job_id: int, instant: int) -> Found | None:
    """The definition in force at an instant, or ``None`` before the first."""
    query = (
        sa.select(definitions)
        .where(definitions.c.job_id == job_id, definitions.c.valid_from <= instant)
        .order_by(definitions.c.number.desc())
        .limit(1)
    )
    row = c.execute(query).mappings().one_or_none()
    return dict(row) if row else None


def definitions_since(c: sa.Connection, job_id: int, instant: int) -> list[Found]:
    """The definitions that held at an instant or later, in order."""
    ends = sa.or_(definitions.c.valid_to.is_(None), definitions.c.valid_to > instant)
    query = sa.select(definitions).where(definitions.c.job_id == job_id, ends).order_by(definitions.c.number)
    return [dict(r) for r in c.execute(query).mappings()]


def set_due(c: sa.Connection, job_id: int, **values: Any) -> None:
    """Make or change a job's row of ``due``."""
    if {"lane", "anchor", "definition"} <= values.keys():
        query = upsert(c, due).values(job_id=job_id, **values)
        c.execute(query.on_conflict_do_update(index_elements=["job_id"], set_=values))
    else:
        c.execute(sa.update(due).where(due.c.job_id == job_id).values(**values))


def new_due(c: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """The rows of ``due`` of new jobs."""
    batches.insert(c, due, rows)


def lane(c: sa.Connection, needs: str) -> int:
    """The number of the lane with these needs (canonical JSON), made if it is new."""
    found = c.execute(sa.select(lanes.c.id).where(lanes.c.needs == needs)).scalar()
    if found is not None:
        return int(found)
    c.execute(upsert(c, lanes).values(needs=needs).on_conflict_do_nothing(index_elements=["needs"]))
    return int(c.execute(sa.select(lanes.c.id).where(lanes.c.needs == needs)).scalar_one())


def lane_needs(c: sa.Connection, ids: Sequence[int]) -> dict[int, str]:
    """The needs of lanes."""
    return dict(c.execute(sa.select(lanes.c.id, lanes.c.needs).where(lanes.c.id.in_(ids))).all())


def due_row(c: sa.Connection, job_id: int) -> list[Any]:
    """One job's due row in the shape the hot statement gives a lane's."""

    def live(state: int, *where: Any) -> Any:
        mine = (runs.c.job_id == due.c.job_id, in_state(state), *where)
        return sa.select(sa.func.count()).select_from(runs).where(*mine).scalar_subquery()

    was_lost = (runs.c.job_id == due.c.job_id, runs.c.lost_until.is_not(None))
    lost = sa.select(sa.func.max(runs.c.lost_until)).where(*was_lost).scalar_subquery()
    columns = [
        due.c[n]
        for n in ("job_id", "next_run_at", "last_slot", "anchor", "definition", "slots_left", "faults")
    ]
    query = sa.select(
        *columns,
        live(1),
        live(2),
        live(0, runs.c.late == 0),
        lost,
    )
    return list(c.execute(query.where(due.c.job_id == job_id)).one())


def redefine(c: sa.Connection, job_id: int, number: int, values: Mapping[str, Any]) -> None:
    """Set columns of a definition that was opened in this very transaction."""
    where = (definitions.c.job_id == job_id, definitions.c.number == number)
    c.execute(sa.update(definitions).where(*where).values(**values))
