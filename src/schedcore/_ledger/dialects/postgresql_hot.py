"""The hot statements on PostgreSQL: one JSON parameter and ``json_to_recordset`` (``docs/decisions/0006``).

psycopg adapts lists element by element; one JSON text of the same rows costs a tenth. The functions have the
names, rows and answers of ``sqlite_hot.py``.

``case when … then true else false end`` hides a condition from the planner, which would otherwise take it for very
selective, or for a reason to use the index on it: with few rows per batch, or before the tables were first analysed,
it would read every running row once per row of the batch instead of one row by its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import Connection

from schedcore._ledger.dialects.driver import execute

Row = Sequence[Any]

_BIGINT, _INT, _TEXT = "bigint", "int", "text"


def _records(*columns: tuple[str, str]) -> str:
    names = ",".join(f"{name} {kind}" for name, kind in columns)
    return f"json_to_recordset(%s::json) v({names})"


def _json(rows: Sequence[Row], names: Sequence[str]) -> str:
    return orjson.dumps([dict(zip(names, row, strict=True)) for row in rows]).decode()


def _read(c: Connection, text: str, given: tuple[Any, ...]) -> list[list[Any]]:
    """The rows of a statement that answers them as one JSON text, which costs us less to read than rows."""
    return orjson.loads(execute(c, text, given).fetchone()[0] or "[]")  # type: ignore[no-any-return]  # rows, by the statement


def _letters(n: int) -> tuple[str, ...]:
    return tuple("abcdefghijklmnopqrstuvwxyz"[:n])


_LIVE = (
    "json_agg(json_build_array(d.job_id,next_run_at,last_slot,anchor,definition,slots_left,faults,l.running,l.waiting,"
    "l.queued,(select max(r.lost_until) from schedcore.runs r where r.lost_until is not null and r.job_id=d.job_id)))"
)
_ALIVE = (
    " cross join lateral (select count(*) filter (where r.state=1) running,count(*) filter (where r.state=2) waiting,"
    "count(*) filter (where r.state=0 and r.late=0) queued from schedcore.runs r where r.state in (0,1,2)"
    " and r.state<3 and r.job_id=d.job_id) l"
)
_DUE = (
    f"select ({_LIVE} filter (where seen))::text,array_agg(d.job_id) filter (where not seen) from ("
    "select *,age(xmin)>(select age(pg_snapshot_xmin(pg_current_snapshot())::xid)) as seen"
    " from schedcore.due where lane=%s and next_run_at is not null and next_run_at<=%s"
    f" order by next_run_at,job_id limit %s for update skip locked) d{_ALIVE}"
)
_DUE_AGAIN = f"select {_LIVE}::text from schedcore.due d{_ALIVE} where d.job_id=any(%s)"


def due(c: Connection, lane: int, now: int, limit: int) -> list[list[Any]]:
    """As on SQLite, each row locked.

    What lives is counted in the snapshot that the statement began with, and a job is locked later. Whoever brings
    a run of a job to life writes its row of ``due`` (see ``jobs.touch``): a row that may have been written since
    that snapshot, by the age of its version, is read and counted again under its lock.
    """
    read, changed = execute(c, _DUE, (lane, now, limit)).fetchone()
    rows = orjson.loads(read or "[]")
    if changed:
        rows += _read(c, _DUE_AGAIN, (changed,))
    return sorted(rows, key=lambda r: (r[1], r[0]))


_QUEUED = (
    "select json_agg(json_build_array(id,job_id,definition,scheduled_for,trigger,attempts,fence,alone,late,"
    "start_at,parent_run_id,origin,delivery_key,probe,lane))::text from (select * from schedcore.runs q where q.state=0"
    " and q.lane=%s and q.late=%s and q.start_at<=%s and (q.alone=0 or not exists (select 1 from schedcore.runs r"
    " where r.state=1 and r.job_id=q.job_id) and not exists (select 1 from schedcore.runs r where"
    " r.lost_until is not null and r.lost_until>%s and r.job_id=q.job_id)) order by q.start_at,q.id limit %s"
    " for update skip locked) r"
)


def queued(c: Connection, lane: int, late: int, now: int, limit: int) -> list[list[Any]]:
    return sorted(_read(c, _QUEUED, (lane, late, now, now, limit)), key=lambda r: (r[9], r[0]))


_INSERT_RUNNING = (
    "insert into schedcore.runs(job_id,definition,lane,scheduled_for,trigger,state,start_at,attempts,fence,host_id,"
    "lease_end,opened_at) select a,b,c,d,0,1,d,1,1,%s,%s,%s from "
    + _records(("a", _BIGINT), ("b", _INT), ("c", _INT), ("d", _BIGINT))
    + " on conflict do nothing returning id,job_id,scheduled_for"
)


def insert_running(
    c: Connection, rows: Sequence[Row], host_id: int, lease_end: int, now: int
) -> list[int | None]:
    given = (host_id, lease_end, now, _json(rows, _letters(4)))
    made = {(job, slot): run for run, job, slot in execute(c, _INSERT_RUNNING, given).fetchall()}
    return [made.get((row[0], row[3])) for row in rows]


_RUN_COLUMNS = (
    ("job_id", _BIGINT), ("definition", _INT), ("lane", _INT), ("scheduled_for", _BIGINT), ("trigger", _INT),
    ("state", _INT), ("late", _INT), ("alone", _INT), ("start_at", _BIGINT), ("opened_at", _BIGINT),
    ("coalesced", _BIGINT), ("origin", _TEXT), ("delivery_key", _TEXT), ("parent_run_id", _BIGINT),
    ("retry_of_id", _BIGINT), ("probe", _INT),
)  # fmt: skip
_RUN_NAMES = tuple(name for name, _ in _RUN_COLUMNS)
_INSERT_RUNS = (
    f"insert into schedcore.runs({','.join(_RUN_NAMES)}) select {','.join(_RUN_NAMES)} from "
    + _records(*_RUN_COLUMNS)
    + " on conflict do nothing returning id,job_id,scheduled_for"
)


def insert_runs(c: Connection, rows: Sequence[Row]) -> list[int | None]:
    result = execute(c, _INSERT_RUNS, (_json(rows, _RUN_NAMES),))
    made = {(job, slot): run for run, job, slot in result.fetchall()}
    return [made.get((row[0], row[3])) for row in rows]


_INSERT_ATTEMPTS = (
    "insert into schedcore.attempts(run_id,number,fence,host_id,claimed_at) select a,b,c,%s,%s from "
    + _records(("a", _BIGINT), ("b", _INT), ("c", _INT))
)


def insert_attempts(c: Connection, rows: Sequence[Row], host_id: int, now: int) -> None:
    execute(c, _INSERT_ATTEMPTS, (host_id, now, _json(rows, _letters(3))))


_ADVANCE = (
    "update schedcore.due set next_run_at=v.b,last_slot=v.c,slots_left=v.d,fired=fired+v.e,faults=0 from "
    + _records(("a", _BIGINT), ("b", _BIGINT), ("c", _BIGINT), ("d", _INT), ("e", _INT))
    + " where due.job_id=v.a"
)


def advance(c: Connection, rows: Sequence[Row]) -> None:
    execute(c, _ADVANCE, (_json(rows, _letters(5)),))


_TAKE = (
    "update schedcore.runs set state=1,host_id=%s,lease_end=%s,attempts=attempts+1,fence=fence+1,"
    "next_attempt_at=null,reason=null,text=null where state=0 and id=any(%s)"
)


def take(c: Connection, ids: Sequence[int], host_id: int, lease_end: int) -> int:
    return int(execute(c, _TAKE, (host_id, lease_end, list(ids))).rowcount)


_FULL = (
    ("a", _BIGINT), ("b", _INT), ("c", _INT), ("d", _BIGINT), ("e", _BIGINT), ("f", _TEXT), ("g", _TEXT), ("h", _TEXT), ("i", _INT), ("j", _BIGINT), ("k", _INT), ("l", _TEXT), ("m", _TEXT),
    ("n", _TEXT), ("o", _INT), ("p", _BIGINT), ("q", _TEXT), ("r", _TEXT), ("s", _TEXT), ("t", _INT),
)  # fmt: skip
_SETTLE_FULL = (
    "update schedcore.runs set state=v.c,lease_end=null,started_at=v.d,finished_at=v.e,"
    "duration_ms=(v.e-v.d)/1000,latency_ms=coalesce(latency_ms,(v.d-start_at)/1000),outcome=v.f,reason=v.g,"
    "text=v.h,exit_code=v.i,next_attempt_at=v.j,start_at=coalesce(v.j,start_at),gave_up=v.k,stdout_tail=v.l,"
    "stderr_tail=v.m,output_ref=coalesce(v.n,output_ref),assert_exit=v.o,assert_ms=v.p,assert_output=v.q,"
    "usage=v.r,detail=v.s,alone=greatest(alone,v.t) from "
    + _records(*_FULL)
    + " where runs.id=v.a and case when runs.fence=v.b and runs.state=1 then true else false end"
)


def settle_full(c: Connection, rows: Sequence[Row]) -> int:
    return int(execute(c, _SETTLE_FULL, (_json(rows, _letters(20)),)).rowcount)


_CLOSE_ATTEMPTS = (
    "update schedcore.attempts set started_at=v.c,finished_at=v.d,outcome=v.e,reason=v.f,text=v.g,exit_code=v.h from "
    + _records(
        ("a", _BIGINT), ("b", _INT), ("c", _BIGINT), ("d", _BIGINT), ("e", _TEXT), ("f", _TEXT), ("g", _TEXT), ("h", _INT),
    )
    + " where attempts.run_id=v.a and case when attempts.number=v.b then true else false end"
)  # fmt: skip


def close_attempts(c: Connection, rows: Sequence[Row]) -> None:
    execute(c, _CLOSE_ATTEMPTS, (_json(rows, _letters(8)),))


_DEFINITIONS = (
    "select json_agg(json_build_array(d.job_id,d.number,j.uid,j.key,d.kind,d.trigger,d.policies,d.payload,d.state,"
    "d.state_reason,j.creator_kind,d.digest,j.name))::text from "
    + _records(("a", _BIGINT), ("b", _INT))
    + " join schedcore.definitions d on d.job_id=v.a and d.number=v.b join schedcore.jobs j on j.id=d.job_id"
)


def definitions(c: Connection, keys: Sequence[Row]) -> list[list[Any]]:
    return _read(c, _DEFINITIONS, (_json(keys, _letters(2)),))


_LANES = {
    "due": (
        "with recursive l(lane) as ((select min(lane) from schedcore.due where next_run_at is not null) union all"
        " select (select min(lane) from schedcore.due where next_run_at is not null and lane>l.lane) from l"
        " where l.lane is not null) select json_agg(json_build_array(lane,(select min(next_run_at) from"
        " schedcore.due where next_run_at is not null and lane=l.lane)))::text from l where lane is not null"
    ),
    "queued": (
        "with recursive l(lane) as ((select min(lane) from schedcore.runs where state=0) union all"
        " select (select min(lane) from schedcore.runs where state=0 and lane>l.lane) from l"
        " where l.lane is not null) select json_agg(json_build_array(lane,(select min(start_at) from"
        " schedcore.runs where state=0 and lane=l.lane and late=0),(select min(start_at) from schedcore.runs"
        " where state=0 and lane=l.lane and late=1)))::text from l where lane is not null"
    ),
}


_BOTH = f"select ({_LANES['due']}),({_LANES['queued']})"


def all_heads(c: Connection) -> tuple[list[list[Any]], list[list[Any]]]:
    due_heads, queued_heads = execute(c, _BOTH).fetchone()
    return orjson.loads(due_heads or "[]"), orjson.loads(queued_heads or "[]")


def heads(c: Connection, of: str) -> list[list[Any]]:
    return _read(c, _LANES[of], ())


_POST_FINAL = (
    "insert into schedcore.outbox(at,topic,job_id,run_id) select %s,'run.final',a,b from "
    + _records(("a", _BIGINT), ("b", _BIGINT))
    + " where exists (select 1 from schedcore.marks)"
)


def post_final(c: Connection, pairs: Sequence[Row], now: int) -> None:
    execute(c, _POST_FINAL, (now, _json(pairs, _letters(2))))


_OPEN_RUNNING = (
    "with u as materialized (select * from "
    + _records(("a", _BIGINT), ("b", _INT), ("c", _INT), ("d", _BIGINT), ("e", _BIGINT))
    + "), moved as (update schedcore.due set next_run_at=u.e,last_slot=u.d,slots_left=null,fired=fired+1,faults=0"
    " from u where due.job_id=u.a), made as (insert into schedcore.runs(job_id,definition,lane,scheduled_for,trigger,"
    "state,start_at,attempts,fence,host_id,lease_end,opened_at) select a,b,c,d,0,1,d,1,1,%s,%s,%s from u"
    " on conflict do nothing returning id,job_id,scheduled_for), tried as (insert into schedcore.attempts(run_id,"
    "number,fence,host_id,claimed_at) select id,1,1,%s,%s from made) select id,job_id,scheduled_for from made"
)


def open_running(
    c: Connection, rows: Sequence[Row], host_id: int, lease_end: int, now: int
) -> list[int | None]:
    given = (_json(rows, _letters(5)), host_id, lease_end, now, host_id, now)
    made = {(job, slot): run for run, job, slot in execute(c, _OPEN_RUNNING, given).fetchall()}
    return [made.get((row[0], row[3])) for row in rows]


_END_WELL = (
    "with v as materialized (select * from "
    + _records(("a", _BIGINT), ("b", _INT), ("c", _BIGINT), ("d", _BIGINT), ("e", _BIGINT))
    + "), held as (update schedcore.runs set state=3,lease_end=null,started_at=v.c,finished_at=v.d,"
    "duration_ms=(v.d-v.c)/1000,latency_ms=coalesce(latency_ms,(v.c-start_at)/1000),outcome='ok' from v"
    " where runs.id=v.a and case when runs.fence=v.b and runs.state=1 then true else false end returning runs.id),"
    " tried as (update schedcore.attempts set started_at=v.c,finished_at=v.d,outcome='ok' from v"
    " where attempts.run_id=v.a and case when attempts.number=1 then true else false end),"
    " streaks as (update schedcore.jobs set streak=0 from v where exists (select 1 from schedcore.jobs where streak<>0)"
    " and jobs.id=v.e and case when jobs.streak<>0 then true else false end), told as (insert"
    " into schedcore.outbox(at,topic,job_id,run_id) select %s,'run.final',e,a from v where exists (select 1 from"
    " schedcore.marks)) select count(*) from held"
)


def end_well(c: Connection, rows: Sequence[Row], now: int) -> int:
    return int(execute(c, _END_WELL, (_json(rows, _letters(5)), now)).fetchone()[0])
