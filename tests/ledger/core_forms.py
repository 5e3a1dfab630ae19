"""The hot statements in SQLAlchemy Core, one row at a time, as plainly as they can be said.

They are too slow for the tick, and are here to say what the texts in ``dialects/*_hot.py`` mean: a test runs both
on the same ledger and compares every table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import attempts, definitions, due, jobs, marks, outbox, runs
from schedcore._ledger.upsert import upsert

Row = Sequence[Any]


def _count(c: sa.Connection, *where: Any) -> int:
    return int(c.execute(sa.select(sa.func.count()).select_from(runs).where(*where)).scalar_one())


def rows_due(c: sa.Connection, lane: int, now: int, limit: int) -> list[list[Any]]:
    query = (
        sa.select(due)
        .where(due.c.lane == lane, due.c.next_run_at <= now)
        .order_by(due.c.next_run_at, due.c.job_id)
    )
    found = []
    for r in c.execute(query.limit(limit)).mappings().all():
        mine = runs.c.job_id == r["job_id"]
        lost = c.execute(sa.select(sa.func.max(runs.c.lost_until)).where(mine)).scalar()
        live = (
            _count(c, mine, runs.c.state == 1),
            _count(c, mine, runs.c.state == 2),
            _count(c, mine, runs.c.state == 0, runs.c.late == 0),
        )
        names = ("job_id", "next_run_at", "last_slot", "anchor", "definition", "slots_left", "faults")
        found.append([*(r[n] for n in names), *live, lost])
    return found


def queued(c: sa.Connection, lane: int, late: int, now: int, limit: int) -> list[list[Any]]:
    query = (
        sa.select(runs)
        .where(runs.c.state == 0, runs.c.lane == lane, runs.c.late == late, runs.c.start_at <= now)
        .order_by(runs.c.start_at, runs.c.id)
    )
    names = (
        "id", "job_id", "definition", "scheduled_for", "trigger", "attempts", "fence", "alone", "late", "start_at",
        "parent_run_id", "origin", "delivery_key", "probe", "lane",
    )  # fmt: skip
    found = []
    for r in c.execute(query).mappings().all():
        mine = runs.c.job_id == r["job_id"]
        busy = _count(c, mine, runs.c.state == 1) + _count(c, mine, runs.c.lost_until > now)
        if not r["alone"] or not busy:
            found.append([r[n] for n in names])
    return found[:limit]


def _insert(c: sa.Connection, values: dict[str, Any]) -> int | None:
    query = (
        upsert(c, runs).values(**values).on_conflict_do_nothing(index_elements=["job_id", "scheduled_for"])
    )
    return c.execute(query.returning(runs.c.id)).scalar()


def insert_running(
    c: sa.Connection, rows: Sequence[Row], host_id: int, lease_end: int, now: int
) -> list[int | None]:
    return [
        _insert(
            c,
            {
                "job_id": job,
                "definition": number,
                "lane": lane,
                "scheduled_for": slot,
                "trigger": 0,
                "state": 1,
                "start_at": slot,
                "attempts": 1,
                "fence": 1,
                "host_id": host_id,
                "lease_end": lease_end,
                "opened_at": now,
            },
        )
        for job, number, lane, slot in rows
    ]


RUN_COLUMNS = (
    "job_id", "definition", "lane", "scheduled_for", "trigger", "state", "late", "alone", "start_at", "opened_at",
    "coalesced", "origin", "delivery_key", "parent_run_id", "retry_of_id", "probe",
)  # fmt: skip


def insert_runs(c: sa.Connection, rows: Sequence[Row]) -> list[int | None]:
    return [_insert(c, dict(zip(RUN_COLUMNS, row, strict=True))) for row in rows]


def insert_attempts(c: sa.Connection, rows: Sequence[Row], host_id: int, now: int) -> None:
    for run_id, number, fence in rows:
        values = {"run_id": run_id, "number": number, "fence": fence}
        c.execute(sa.insert(attempts).values(**values, host_id=host_id, claimed_at=now))


def advance(c: sa.Connection, rows: Sequence[Row]) -> None:
    for job, following, last, left, fired in rows:
        values = {"next_run_at": following, "last_slot": last, "slots_left": left, "faults": 0}
        c.execute(sa.update(due).where(due.c.job_id == job).values(**values, fired=due.c.fired + fired))


def take(c: sa.Connection, ids: Sequence[int], host_id: int, lease_end: int) -> int:
    query = sa.update(runs).where(runs.c.id.in_(ids), runs.c.state == 0)
    values = {"state": 1, "host_id": host_id, "lease_end": lease_end, "next_attempt_at": None}
    values |= {"reason": None, "text": None}
    return c.execute(query.values(**values, attempts=runs.c.attempts + 1, fence=runs.c.fence + 1)).rowcount


def _settle(c: sa.Connection, run_id: int, fence: int, values: dict[str, Any]) -> int:
    held = (runs.c.id == run_id, runs.c.fence == fence, runs.c.state == 1)
    before = c.execute(sa.select(runs.c.latency_ms, runs.c.start_at, runs.c.output_ref).where(*held)).first()
    if before is None:
        return 0
    started, finished = values["started_at"], values["finished_at"]
    if before.latency_ms is None:
        values["latency_ms"] = (started - before.start_at) // 1000
    values["duration_ms"] = (finished - started) // 1000
    values["output_ref"] = values.get("output_ref") or before.output_ref
    return c.execute(sa.update(runs).where(*held).values(lease_end=None, **values)).rowcount


def settle_plain(c: sa.Connection, rows: Sequence[Row]) -> int:
    names = ("state", "started_at", "finished_at", "outcome")
    return sum(_settle(c, row[0], row[1], dict(zip(names, row[2:], strict=True))) for row in rows)


def end_well(c: sa.Connection, rows: Sequence[Row], now: int) -> int:
    held = settle_plain(c, [(row[0], row[1], 3, row[2], row[3], "ok") for row in rows])
    close_attempts(c, [(row[0], 1, row[2], row[3], "ok", None, None, None) for row in rows])
    clear_streaks(c, [row[4] for row in rows])
    post_final(c, [(row[4], row[0]) for row in rows], now)
    return held


def open_running(
    c: sa.Connection, rows: Sequence[Row], host_id: int, lease_end: int, now: int
) -> list[int | None]:
    ids = insert_running(c, [row[:4] for row in rows], host_id, lease_end, now)
    insert_attempts(c, [(run_id, 1, 1) for run_id in ids if run_id is not None], host_id, now)
    advance(c, [(row[0], row[4], row[3], None, 1) for row in rows])
    return ids


def settle_full(c: sa.Connection, rows: Sequence[Row]) -> int:
    names = (
        "state", "started_at", "finished_at", "outcome", "reason", "text", "exit_code", "next_attempt_at", "gave_up",
        "stdout_tail", "stderr_tail", "output_ref", "assert_exit", "assert_ms", "assert_output", "usage", "detail",
        "alone",
    )  # fmt: skip
    done = 0
    for row in rows:
        values = dict(zip(names, row[2:], strict=True))
        if not values["alone"]:
            del values["alone"]
        if values["next_attempt_at"] is not None:
            start = c.execute(sa.select(runs.c.start_at).where(runs.c.id == row[0])).scalar()
            latency = c.execute(sa.select(runs.c.latency_ms).where(runs.c.id == row[0])).scalar()
            if latency is None and start is not None:
                values["latency_ms"] = (values["started_at"] - start) // 1000
            values["start_at"] = values["next_attempt_at"]
        done += _settle(c, row[0], row[1], values)
    return done


def close_attempts(c: sa.Connection, rows: Sequence[Row]) -> None:
    names = ("started_at", "finished_at", "outcome", "reason", "text", "exit_code")
    for row in rows:
        where = (attempts.c.run_id == row[0], attempts.c.number == row[1])
        c.execute(sa.update(attempts).where(*where).values(**dict(zip(names, row[2:], strict=True))))


def compiled(c: sa.Connection, keys: Sequence[Row]) -> list[list[Any]]:
    d, j = definitions.c, jobs.c
    columns = (
        d.job_id, d.number, j.uid, j.key, d.kind, d.trigger, d.policies, d.payload, d.state, d.state_reason,
        j.creator_kind, d.digest, j.name,
    )  # fmt: skip
    query = sa.select(*columns).select_from(definitions.join(jobs, j.id == d.job_id))
    return [
        list(row)
        for job, number in keys
        for row in c.execute(query.where(d.job_id == job, d.number == number)).all()
    ]


def heads(c: sa.Connection, of: str) -> list[list[Any]]:
    if of == "due":
        query = sa.select(due.c.lane, sa.func.min(due.c.next_run_at)).where(due.c.next_run_at.is_not(None))
        return [list(r) for r in c.execute(query.group_by(due.c.lane).order_by(due.c.lane)).all()]
    present = sa.func.min(sa.case((runs.c.late == 0, runs.c.start_at)))
    late = sa.func.min(sa.case((runs.c.late == 1, runs.c.start_at)))
    query = sa.select(runs.c.lane, present, late).where(runs.c.state == 0)
    return [list(r) for r in c.execute(query.group_by(runs.c.lane).order_by(runs.c.lane)).all()]


def clear_streaks(c: sa.Connection, job_ids: Sequence[int]) -> None:
    c.execute(sa.update(jobs).where(jobs.c.id.in_(job_ids)).values(streak=0))


def post_final(c: sa.Connection, pairs: Sequence[Row], now: int) -> None:
    if c.execute(sa.select(marks.c.listener)).first():
        for job, run in pairs:
            c.execute(sa.insert(outbox).values(at=now, topic="run.final", job_id=job, run_id=run))
