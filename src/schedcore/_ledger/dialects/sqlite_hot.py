"""The hot statements on SQLite: texts built once per batch size (``docs/decisions/0006``).

Multi-row ``VALUES`` and ``UPDATE … FROM (VALUES …)``: one statement per table and batch, because the driver
gives up the interpreter lock around every step. Batches are filled up to one of a few sizes (:func:`_size`) with
rows of -1, the id of nothing: to prepare a text of a hundred rows costs more than to run it, and every text kept
costs 130 kB. The ways of plain runs bind no null: the driver looks for an adapter of each, a microsecond long.
A test runs each text beside its Core form (``tests/ledger/core_forms.py``) and compares the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import Connection

from schedcore._ledger.dialects.driver import execute

Row = Sequence[Any]

_LIVE = (
    "(select count(*) from runs r where r.state=1 and r.state<3 and r.job_id=d.job_id),"
    "(select count(*) from runs r where r.state=2 and r.state<3 and r.job_id=d.job_id),"
    "(select count(*) from runs r where r.state=0 and r.state<3 and r.job_id=d.job_id and r.late=0),"
    "(select max(r.lost_until) from runs r where r.lost_until is not null and r.job_id=d.job_id)"
)


def _values(rows: int, columns: int) -> str:
    return ",".join(["(" + ",".join("?" * columns) + ")"] * rows)


@lru_cache(4096)
def _size(n: int) -> int:
    """The next number of three binary digits and zeros: 1 to 8, 10, 12, 14, 16, 20, 24 …"""
    step = 1 << max(0, n.bit_length() - 3)
    return -(-n // step) * step


def _flat(rows: Sequence[Row], columns: int) -> tuple[Any, ...]:
    """The values of these rows, and of rows of -1 up to the size of a text."""
    values = [value for row in rows for value in row]
    values += [-1] * (_size(len(rows)) * columns - len(values))
    return tuple(values)  # a tuple: a list would mean executemany


def _keys(ids: Sequence[int]) -> tuple[int, ...]:
    """As :func:`_flat`, for a list of one column."""
    return (*ids, *[-1] * (_size(len(ids)) - len(ids)))


_DUE = (
    "select json_group_array(json_array(job_id,next_run_at,last_slot,anchor,definition,slots_left,faults,w,x,y,z))"
    " from (select d.job_id,d.next_run_at,d.last_slot,d.anchor,d.definition,d.slots_left,d.faults,"
    + _LIVE.replace("),(", ") w,(", 1).replace("),(", ") x,(", 1).replace("),(", ") y,(", 1)
    + " z from due d where d.lane=? and d.next_run_at is not null and d.next_run_at<=?"
    " order by d.next_run_at,d.job_id limit ?)"
)


def due(c: Connection, lane: int, now: int, limit: int) -> list[list[Any]]:
    return orjson.loads(execute(c, _DUE, (lane, now, limit)).fetchone()[0])  # type: ignore[no-any-return]  # rows, by the statement


_QUEUED = (
    "select json_group_array(json_array(id,job_id,definition,scheduled_for,trigger,attempts,fence,alone,late,"
    "start_at,parent_run_id,origin,delivery_key,probe,lane)) from (select * from runs q where q.state=0 and q.lane=?"
    " and q.late=? and q.start_at<=? and (q.alone=0 or not exists (select 1 from runs r where (r.state=1 and r.state<3"
    " and r.job_id=q.job_id)) and not exists (select 1 from runs r where r.lost_until is not null and r.lost_until>?"
    " and r.job_id=q.job_id)) order by q.start_at,q.id limit ?)"
)


def queued(c: Connection, lane: int, late: int, now: int, limit: int) -> list[list[Any]]:
    return orjson.loads(execute(c, _QUEUED, (lane, late, now, now, limit)).fetchone()[0])  # type: ignore[no-any-return]  # rows, by the statement


_FIRST = (
    "select max(coalesce((select max(id) from runs),0),(select (incarnation-1)*1000000000000 from ledger))+1"
)


@lru_cache
def _insert_running(n: int) -> str:
    return (
        "insert into runs(id,job_id,definition,lane,scheduled_for,trigger,state,start_at,attempts,fence,host_id,"
        "lease_end,opened_at) select column1,column2,column3,column4,column5,0,1,column5,1,1,?,?,? from (values "
        + _values(n, 5)
        + ") where column1>0 on conflict do nothing"
    )


def insert_running(
    c: Connection, rows: Sequence[Row], host_id: int, lease_end: int, now: int
) -> list[int | None]:
    """Rows of (job_id, definition, lane, scheduled_for); answers their ids, ``None`` where the slot was taken."""
    n = len(rows)
    first = execute(c, _FIRST).fetchone()[0]
    given = _flat([(i, *row) for i, row in enumerate(rows, first)], 5)
    done = execute(c, _insert_running(_size(n)), (host_id, lease_end, now, *given)).rowcount
    return _ids(c, first, n, done)


def _ids(c: Connection, first: int, n: int, done: int) -> list[int | None]:
    if done == n:
        return list(range(first, first + n))
    there = {i for (i,) in execute(c, "select id from runs where id between ? and ?", (first, first + n - 1))}
    return [i if i in there else None for i in range(first, first + n)]


@lru_cache
def _insert_runs(n: int) -> str:
    return (
        "insert into runs(id,job_id,definition,lane,scheduled_for,trigger,state,late,alone,start_at,opened_at,"
        "coalesced,origin,delivery_key,parent_run_id,retry_of_id,probe) select * from (values "
        + _values(n, 17)
        + ") where column1>0 on conflict do nothing"
    )


def insert_runs(c: Connection, rows: Sequence[Row]) -> list[int | None]:
    """Rows of everything but the id, in the order of the statement; answers as :func:`insert_running`."""
    n = len(rows)
    first = execute(c, _FIRST).fetchone()[0]
    given = _flat([(i, *row) for i, row in enumerate(rows, first)], 17)
    done = execute(c, _insert_runs(_size(n)), given).rowcount
    return _ids(c, first, n, done)


@lru_cache
def _insert_attempts(n: int) -> str:
    return (
        "insert into attempts(run_id,number,fence,host_id,claimed_at) select column1,column2,column3,?,? from (values "
        + _values(n, 3)
        + ") where column1>0"
    )


def insert_attempts(c: Connection, rows: Sequence[Row], host_id: int, now: int) -> None:
    """Rows of (run_id, number, fence)."""
    execute(c, _insert_attempts(_size(len(rows))), (host_id, now, *_flat(rows, 3)))


@lru_cache
def _advance(n: int) -> str:
    return (
        "update due set next_run_at=v.column2,last_slot=v.column3,slots_left=v.column4,"
        "fired=fired+v.column5,faults=0 from (values " + _values(n, 5) + ") v where due.job_id=v.column1"
    )


def advance(c: Connection, rows: Sequence[Row]) -> None:
    """Rows of (job_id, next_run_at, last_slot, slots_left, fired)."""
    execute(c, _advance(_size(len(rows))), _flat(rows, 5))


@lru_cache
def _take(n: int) -> str:
    return (
        "update runs set state=1,host_id=?,lease_end=?,attempts=attempts+1,fence=fence+1,"
        "next_attempt_at=null,reason=null,text=null where state=0 and id in (" + ",".join("?" * n) + ")"
    )


def take(c: Connection, ids: Sequence[int], host_id: int, lease_end: int) -> int:
    """Queued runs become running under this host: attempts and fence are raised. Answers how many did."""
    return int(execute(c, _take(_size(len(ids))), (host_id, lease_end, *_keys(ids))).rowcount)


@lru_cache
def _settle_full(n: int) -> str:
    return (
        "update runs set state=v.column3,lease_end=null,started_at=v.column4,finished_at=v.column5,"
        "duration_ms=(v.column5-v.column4)/1000,latency_ms=coalesce(latency_ms,(v.column4-start_at)/1000),"
        "outcome=v.column6,reason=v.column7,text=v.column8,exit_code=v.column9,next_attempt_at=v.column10,"
        "start_at=coalesce(v.column10,start_at),gave_up=v.column11,stdout_tail=v.column12,stderr_tail=v.column13,"
        "output_ref=coalesce(v.column14,output_ref),assert_exit=v.column15,assert_ms=v.column16,"
        "assert_output=v.column17,usage=v.column18,detail=v.column19,alone=max(alone,v.column20) from (values "
        + _values(n, 20)
        + ") v where runs.id=v.column1 and runs.fence=v.column2 and runs.state=1"
    )


def settle_full(c: Connection, rows: Sequence[Row]) -> int:
    """Rows of (run_id, fence, state, started_at, finished_at, outcome …): every column a finish may write.

    ``next_attempt_at`` makes the run due again. Answers how many held their fence, as :func:`end_well`.
    """
    return int(execute(c, _settle_full(_size(len(rows))), _flat(rows, 20)).rowcount)


@lru_cache
def _close_attempts(n: int) -> str:
    return (
        "update attempts set started_at=v.column3,finished_at=v.column4,outcome=v.column5,reason=v.column6,"
        "text=v.column7,exit_code=v.column8 from (values "
        + _values(n, 8)
        + ") v where attempts.run_id=v.column1 and attempts.number=v.column2"
    )


def close_attempts(c: Connection, rows: Sequence[Row]) -> None:
    """Rows of (run_id, number, started_at, finished_at, outcome, reason, text, exit_code)."""
    execute(c, _close_attempts(_size(len(rows))), _flat(rows, 8))


@lru_cache
def _definitions(n: int) -> str:
    return (
        "select json_group_array(json_array(d.job_id,d.number,j.uid,j.key,d.kind,d.trigger,d.policies,d.payload,"
        "d.state,d.state_reason,j.creator_kind,d.digest,j.name)) from (values "
        + _values(n, 2)
        + ") v join definitions d on d.job_id=v.column1 and d.number=v.column2 join jobs j on j.id=d.job_id"
    )


def definitions(c: Connection, keys: Sequence[Row]) -> list[list[Any]]:
    """The definitions of (job_id, number) pairs, as the toolbox compiles them."""
    found = execute(c, _definitions(_size(len(keys))), _flat(keys, 2))
    return orjson.loads(found.fetchone()[0])  # type: ignore[no-any-return]  # rows, by the statement


_LANES = {
    "due": (
        "with recursive l(lane) as (select min(lane) from due where next_run_at is not null union all"
        " select (select min(lane) from due where next_run_at is not null and lane>l.lane) from l where l.lane is not null)"
        " select json_group_array(json_array(lane,(select min(next_run_at) from due where next_run_at is not null"
        " and lane=l.lane))) from l where lane is not null"
    ),
    "queued": (
        "with recursive l(lane) as (select min(lane) from runs where state=0 union all"
        " select (select min(lane) from runs where state=0 and lane>l.lane) from l where l.lane is not null)"
        " select json_group_array(json_array(lane,(select min(start_at) from runs where state=0 and lane=l.lane"
        " and late=0),(select min(start_at) from runs where state=0 and lane=l.lane and late=1)))"
        " from l where lane is not null"
    ),
}


_BOTH = f"select ({_LANES['due']}),({_LANES['queued']})"


def all_heads(c: Connection) -> tuple[list[list[Any]], list[list[Any]]]:
    """The heads of ``due`` and of ``queued``, in one statement."""
    due_heads, queued_heads = execute(c, _BOTH).fetchone()
    return orjson.loads(due_heads), orjson.loads(queued_heads)


def heads(c: Connection, of: str) -> list[list[Any]]:
    """``due``: (lane, nearest next_run_at); ``queued``: (lane, nearest present start, nearest late start).

    A loose index scan: it costs one seek per lane, whatever the number of jobs and runs.
    """
    return orjson.loads(execute(c, _LANES[of]).fetchone()[0])  # type: ignore[no-any-return]  # rows, by the statement


@lru_cache
def _clear_streaks(n: int) -> str:
    return "update jobs set streak=0 where streak<>0 and id in (" + ",".join("?" * n) + ")"


def clear_streaks(c: Connection, job_ids: Sequence[int]) -> None:
    """Jobs whose run ended well have no streak any more; touches only those that had one."""
    execute(c, _clear_streaks(_size(len(job_ids))), _keys(job_ids))


@lru_cache
def _post_final(n: int) -> str:
    return (
        "insert into outbox(at,topic,job_id,run_id) select ?,'run.final',column1,column2 from (values "
        + _values(n, 2)
        + ") where column1>0 and exists (select 1 from marks)"
    )


def post_final(c: Connection, pairs: Sequence[Row], now: int) -> None:
    """Rows of (job_id, run_id) go to the outbox, if anybody listens."""
    execute(c, _post_final(_size(len(pairs))), (now, *_flat(pairs, 2)))


@lru_cache
def _move_on(n: int) -> str:
    return (
        "update due set next_run_at=v.column2,last_slot=v.column3,slots_left=null,fired=fired+1,faults=0"
        " from (values " + _values(n, 3) + ") v where due.job_id=v.column1"
    )


def open_running(
    c: Connection, rows: Sequence[Row], host_id: int, lease_end: int, now: int
) -> list[int | None]:
    """Due slots of plain jobs become running runs with their first attempts, and their jobs move on.

    Rows of (job_id, definition, lane, scheduled_for, next_run_at); answers as :func:`insert_running`.
    """
    ids = insert_running(c, [row[:4] for row in rows], host_id, lease_end, now)
    made = [(run_id, 1, 1) for run_id in ids if run_id is not None]
    if made:
        insert_attempts(c, made, host_id, now)
    execute(c, _move_on(_size(len(rows))), _flat([(row[0], row[4], row[3]) for row in rows], 3))
    return ids


@lru_cache
def _end_runs(n: int) -> str:
    return (
        "update runs set state=3,lease_end=null,started_at=v.column3,finished_at=v.column4,"
        "duration_ms=(v.column4-v.column3)/1000,latency_ms=coalesce(latency_ms,(v.column3-start_at)/1000),"
        "outcome='ok' from (values "
        + _values(n, 4)
        + ") v where runs.id=v.column1 and runs.fence=v.column2 and runs.state=1"
    )


@lru_cache
def _end_attempts(n: int) -> str:
    return (
        "update attempts set started_at=v.column3,finished_at=v.column4,outcome='ok' from (values "
        + _values(n, 4)
        + ") v where attempts.run_id=v.column1 and attempts.number=1"
    )


_ASKS = "select exists (select 1 from jobs where streak<>0), exists (select 1 from marks)"


def end_well(c: Connection, rows: Sequence[Row], now: int) -> int:
    """First attempts that ended well and leave nothing else: run, attempt, streak and outbox.

    Rows of (run_id, fence, started_at, finished_at, job_id); answers how many held their fence: fewer than
    given means that the caller rolls back and settles one by one.
    """
    size = _size(len(rows))
    given = _flat([row[:4] for row in rows], 4)
    held = int(execute(c, _end_runs(size), given).rowcount)
    if held != len(rows):
        return held
    execute(c, _end_attempts(size), given)
    streaks, listeners = execute(c, _ASKS).fetchone()
    if streaks:
        clear_streaks(c, sorted({row[4] for row in rows}))
    if listeners:
        post_final(c, [(row[4], row[0]) for row in rows], now)
    return held
