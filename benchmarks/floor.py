"""The floor: the same rows by hand, with the driver alone, as little Python as it takes.

Per run: selected as due, inserted as running with its first attempt, the job advanced; then finished, and the
attempt with it. What has ended and what is due go in one transaction per batch, as on the way we take. Nothing
is executed in between, no next slot is computed, nothing is prepared for the case that something goes wrong.
"""

from __future__ import annotations

import sqlite3
import time
from functools import lru_cache
from typing import Any

from benchmarks.filling import filling
from benchmarks.ours import checked, soon
from schedcore._ledger.dialects.sqlite import wal_reset_fault
from schedcore.domain.clock import HOUR

__all__ = ["postgresql", "sqlite"]


def sqlite(url: str, folder: str, n: int, *, batch: int) -> dict[str, Any]:
    """sqlite3: one statement per table and batch, all values bound."""
    slot = _filled(url, n)
    c = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, cached_statements=512)
    c.execute("pragma synchronous=full")
    if wal_reset_fault():  # such a library checkpoints under a lock only, at the beat: nobody does here
        c.execute("pragma wal_autocheckpoint=0")
    began, done = time.perf_counter(), 0
    live: list[tuple[int, int]] = []
    while done < n:
        c.execute("begin immediate")
        now = time.time_ns() // 1000
        if live:
            flat = tuple([x for run in live for x in (run[0], 1, now, now, "ok")])
            c.execute(_finish(len(live)), flat)
            c.execute(_close(len(live)), flat)
            done += len(live)
        rows = c.execute(
            "select job_id,next_run_at from due where lane=1 and next_run_at is not null and next_run_at<=?"
            " order by next_run_at,job_id limit ?",
            (slot, batch),
        ).fetchall()
        live = []
        if rows:
            first = c.execute("select coalesce(max(id),0)+1 from runs").fetchone()[0]
            live = [(i, row[0]) for i, row in enumerate(rows, first)]
            c.execute(
                _insert(len(rows)),
                tuple([x for (i, job), row in zip(live, rows, strict=True) for x in (i, job, row[1], now)]),
            )
            c.execute(_attempt(len(rows)), tuple([x for i, _ in live for x in (i, now)]))
            c.execute(
                _advance(len(rows)), tuple([x for row in rows for x in (row[0], row[1] + HOUR, row[1])])
            )
        c.execute("commit")
    seconds = time.perf_counter() - began
    c.close()
    checked(url, n, slot)
    return {"n": n, "seconds": seconds}


def _filled(url: str, n: int) -> int:
    slot = soon(0)
    with filling(url) as fill:
        fill.jobs(1, n, slot)
    return slot


def _values(n: int, row: str) -> str:
    return ",".join([row] * n)


@lru_cache
def _insert(n: int) -> str:
    return (
        "insert into runs(id,job_id,scheduled_for,opened_at,definition,lane,trigger,state,start_at,attempts,fence,"
        "host_id,lease_end) select column1,column2,column3,column4,1,1,0,1,column3,1,1,1,column4 from (values "
        + _values(n, "(?,?,?,?)")
        + ") where true on conflict do nothing"
    )


@lru_cache
def _attempt(n: int) -> str:
    return (
        "insert into attempts(run_id,claimed_at,number,fence,host_id) select column1,column2,1,1,1 from (values "
        + _values(n, "(?,?)")
        + ")"
    )


@lru_cache
def _advance(n: int) -> str:
    return (
        "update due set next_run_at=v.column2,last_slot=v.column3,fired=fired+1 from (values "
        + _values(n, "(?,?,?)")
        + ") v where due.job_id=v.column1"
    )


@lru_cache
def _finish(n: int) -> str:
    return (
        "update runs set state=3,lease_end=null,started_at=v.column3,finished_at=v.column4,duration_ms=0,"
        "latency_ms=0,outcome=v.column5 from (values "
        + _values(n, "(?,?,?,?,?)")
        + ") v where runs.id=v.column1 and runs.fence=v.column2 and runs.state=1"
    )


@lru_cache
def _close(n: int) -> str:
    return (
        "update attempts set started_at=v.column3,finished_at=v.column4,outcome=v.column5 from (values "
        + _values(n, "(?,?,?,?,?)")
        + ") v where attempts.run_id=v.column1 and attempts.number=v.column2"
    )


def postgresql(url: str, folder: str, n: int, *, batch: int) -> dict[str, Any]:
    """psycopg: one parameter per statement, the planner kept on its indexes.

    ``= any(…)``, ``state+0`` and ``number+0`` leave it nothing but the index over the id, however new the tables
    are; a join with the batch, planned while they are empty, reads them whole for as long as the plan is kept.
    """
    import orjson
    import psycopg

    slot = _filled(url, n)
    off = ("hashjoin", "mergejoin", "seqscan", "bitmapscan")
    options = " ".join(f"-c enable_{name}=off" for name in off) + " -c jit=off"
    c = psycopg.connect(url, autocommit=True, options=options, prepare_threshold=0)
    began, done = time.perf_counter(), 0
    live: list[int] = []
    while done < n:
        now = time.time_ns() // 1000
        with c.transaction():
            if live:
                c.execute(_PG_SETTLE, {"now": now, "ids": "{" + ",".join(map(str, live)) + "}"})
                done += len(live)
            rows = c.execute(_PG_DUE, (slot, batch)).fetchone()[0]  # type: ignore[index]  # the query answers a row
            live = []
            if rows:
                given = orjson.dumps([{"a": job, "b": at + HOUR, "c": at} for job, at in rows]).decode()
                live = c.execute(_PG_CLAIM, (given, now, now, now)).fetchone()[0]  # type: ignore[index]  # the query answers a row
    seconds = time.perf_counter() - began
    c.close()
    checked(url, n, slot)
    return {"n": n, "seconds": seconds}


_PG_DUE = (
    "select json_agg(json_build_array(job_id,next_run_at)) from (select job_id,next_run_at from schedcore.due where"
    " lane=1 and next_run_at is not null and next_run_at<=%s order by next_run_at limit %s"
    " for update skip locked) d"
)
_PG_CLAIM = (
    "with v as materialized (select * from json_to_recordset(%s::json) v(a bigint,b bigint,c bigint)),"
    " adv as (update schedcore.due set next_run_at=v.b,last_slot=v.c,fired=fired+1 from v where due.job_id=v.a),"
    " new as (insert into schedcore.runs(job_id,scheduled_for,opened_at,definition,lane,trigger,state,start_at,"
    "attempts,fence,host_id,lease_end) select a,c,%s,1,1,0,1,c,1,1,1,%s from v on conflict do nothing returning id),"
    " att as (insert into schedcore.attempts(run_id,claimed_at,number,fence,host_id) select id,%s,1,1,1 from new)"
    " select json_agg(id) from new"
)
_PG_SETTLE = (
    "with att as (update schedcore.attempts set started_at=%(now)s,finished_at=%(now)s,outcome='ok'"
    " where run_id=any(%(ids)s::bigint[]) and number+0=1)"
    " update schedcore.runs set state=3,lease_end=null,started_at=%(now)s,finished_at=%(now)s,duration_ms=0,"
    "latency_ms=0,outcome='ok' where id=any(%(ids)s::bigint[]) and fence=1 and state+0=1"
)
