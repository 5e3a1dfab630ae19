"""The hot statements on SQLite: texts built once per batch size (``docs/decisions/0006``).

Multi-row ``VALUES`` and ``UPDATE … FROM (VALUES …)``: one statement per table and batch, because the driver
gives up the interpreter lock around every step. A test runs each text beside its Core form
(``tests/ledger/core_forms.py``) and compares the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import Connection

Row = Sequence[Any]

_LIVE = (
    "(select count(*) from runs r where r.state=1 and r.state<3 and r.job_id=d.job_id),"
    "(select count(*) from runs r where r.state=2 and r.state<3 and r.job_id=d.job_id),"
    "(select count(*) from runs r where r.state=0 and r.state<3 and r.job_id=d.job_id and r.late=0),"
    "(select max(r.lost_until) from runs r where r.lost_until is not null and r.job_id=d.job_id)"
)


def _values(rows: int, columns: int) -> str:
    return ",".join(["(" + ",".join("?" * columns) + ")"] * rows)


def _flat(rows: Sequence[Row]) -> tuple[Any, ...]:
    return tuple([value for row in rows for value in row])  # a tuple: a list would mean executemany


_DUE = (
    "select json_group_array(json_array(job_id,next_run_at,last_slot,anchor,definition,slots_left,faults,w,x,y,z))"
    " from (select d.job_id,d.next_run_at,d.last_slot,d.anchor,d.definition,d.slots_left,d.faults,"
    + _LIVE.replace("),(", ") w,(", 1).replace("),(", ") x,(", 1).replace("),(", ") y,(", 1)
    + " z from due d where d.lane=? and d.next_run_at is not null and d.next_run_at<=?"
    " order by d.next_run_at,d.job_id limit ?)"
)


def due(c: Connection, lane: int, now: int, limit: int) -> list[list[Any]]:
    return orjson.loads(c.exec_driver_sql(_DUE, (lane, now, limit)).scalar_one())  # type: ignore[no-any-return]


_QUEUED = (
    "select json_group_array(json_array(id,job_id,definition,scheduled_for,trigger,attempts,fence,alone,late,"
    "start_at,parent_run_id,origin,delivery_key,probe,lane)) from (select * from runs q where q.state=0 and q.lane=?"
    " and q.late=? and q.start_at<=? and (q.alone=0 or not exists (select 1 from runs r where (r.state=1 and r.state<3"
    " and r.job_id=q.job_id)) and not exists (select 1 from runs r where r.lost_until is not null and r.lost_until>?"
    " and r.job_id=q.job_id)) order by q.start_at,q.id limit ?)"
)


def queued(c: Connection, lane: int, late: int, now: int, limit: int) -> list[list[Any]]:
    return orjson.loads(c.exec_driver_sql(_QUEUED, (lane, late, now, now, limit)).scalar_one())  # type: ignore[no-any-return]


@lru_cache(512)
def _insert_running(n: int) -> str:
    return (
        "insert into runs(id,job_id,definition,lane,scheduled_for,trigger,state,start_at,attempts,fence,host_id,"
        f"lease_end,opened_at) select column1,column2,column3,column4,column5,0,1,column5,1,1,?{n * 5 + 1},"
        f"?{n * 5 + 2},?{n * 5 + 3} from (values "
        + ",".join("(" + ",".join(f"?{i * 5 + k}" for k in range(1, 6)) + ")" for i in range(n))
        + ") where true on conflict do nothing"
    )


def insert_running(
    c: Connection, rows: Sequence[Row], host_id: int, lease_end: int, now: int
) -> list[int | None]:
    """Rows of (job_id, definition, lane, scheduled_for); answers their ids, ``None`` where the slot was taken."""
    n = len(rows)
    first = c.exec_driver_sql("select coalesce(max(id),0)+1 from runs").scalar_one()
    given = _flat([(i, *row) for i, row in enumerate(rows, first)])
    done = c.exec_driver_sql(_insert_running(n), (*given, host_id, lease_end, now)).rowcount
    return _ids(c, first, n, done)


def _ids(c: Connection, first: int, n: int, done: int) -> list[int | None]:
    if done == n:
        return list(range(first, first + n))
    there = {
        i
        for (i,) in c.exec_driver_sql("select id from runs where id between ? and ?", (first, first + n - 1))
    }
    return [i if i in there else None for i in range(first, first + n)]


@lru_cache(512)
def _insert_runs(n: int) -> str:
    return (
        "insert into runs(id,job_id,definition,lane,scheduled_for,trigger,state,late,alone,start_at,opened_at,"
        "coalesced,origin,delivery_key,parent_run_id,retry_of_id,probe) values "
        + _values(n, 17)
        + " on conflict do nothing"
    )


def insert_runs(c: Connection, rows: Sequence[Row]) -> list[int | None]:
    """Rows of everything but the id, in the order of the statement; answers as :func:`insert_running`."""
    n = len(rows)
    first = c.exec_driver_sql("select coalesce(max(id),0)+1 from runs").scalar_one()
    done = c.exec_driver_sql(
        _insert_runs(n), _flat([(i, *row) for i, row in enumerate(rows, first)])
    ).rowcount
    return _ids(c, first, n, done)


@lru_cache(512)
def _insert_attempts(n: int) -> str:
    return (
        f"insert into attempts(run_id,number,fence,host_id,claimed_at) select column1,column2,column3,?{3 * n + 1},"
        f"?{3 * n + 2} from (values "
        + ",".join("(" + ",".join(f"?{i * 3 + k}" for k in range(1, 4)) + ")" for i in range(n))
        + ")"
    )


def insert_attempts(c: Connection, rows: Sequence[Row], host_id: int, now: int) -> None:
    """Rows of (run_id, number, fence)."""
    c.exec_driver_sql(_insert_attempts(len(rows)), (*_flat(rows), host_id, now))


@lru_cache(512)
def _advance(n: int) -> str:
    return (
        "update due set next_run_at=v.column2,last_slot=v.column3,slots_left=v.column4,"
        "fired=fired+v.column5,faults=0 from (values " + _values(n, 5) + ") v where due.job_id=v.column1"
    )


def advance(c: Connection, rows: Sequence[Row]) -> None:
    """Rows of (job_id, next_run_at, last_slot, slots_left, fired)."""
    c.exec_driver_sql(_advance(len(rows)), _flat(rows))


@lru_cache(512)
def _take(n: int) -> str:
    return (
        f"update runs set state=1,host_id=?{n + 1},lease_end=?{n + 2},attempts=attempts+1,fence=fence+1,"
        "next_attempt_at=null where state=0 and id in (" + ",".join(f"?{i}" for i in range(1, n + 1)) + ")"
    )


def take(c: Connection, ids: Sequence[int], host_id: int, lease_end: int) -> int:
    """Queued runs become running under this host: attempts and fence are raised. Answers how many did."""
    return c.exec_driver_sql(_take(len(ids)), (*ids, host_id, lease_end)).rowcount


@lru_cache(512)
def _settle_plain(n: int) -> str:
    return (
        "update runs set state=v.column3,lease_end=null,started_at=v.column4,finished_at=v.column5,"
        "duration_ms=(v.column5-v.column4)/1000,latency_ms=coalesce(latency_ms,(v.column4-start_at)/1000),"
        "outcome=v.column6 from (values "
        + _values(n, 6)
        + ") v where runs.id=v.column1 and runs.fence=v.column2 and runs.state=1"
    )


def settle_plain(c: Connection, rows: Sequence[Row]) -> int:
    """Rows of (run_id, fence, state, started_at, finished_at, outcome) that end well and leave nothing else.

    Answers how many held their fence; fewer than given means the caller rolls back and settles one by one.
    """
    return c.exec_driver_sql(_settle_plain(len(rows)), _flat(rows)).rowcount


@lru_cache(512)
def _settle_full(n: int) -> str:
    return (
        "update runs set state=v.column3,lease_end=null,started_at=v.column4,finished_at=v.column5,"
        "duration_ms=(v.column5-v.column4)/1000,latency_ms=coalesce(latency_ms,(v.column4-start_at)/1000),"
        "outcome=v.column6,reason=v.column7,text=v.column8,exit_code=v.column9,next_attempt_at=v.column10,"
        "start_at=coalesce(v.column10,start_at),gave_up=v.column11,stdout_tail=v.column12,stderr_tail=v.column13,"
        "output_ref=coalesce(v.column14,output_ref),assert_exit=v.column15,assert_ms=v.column16,"
        "assert_output=v.column17,usage=v.column18,detail=v.column19 from (values "
        + _values(n, 19)
        + ") v where runs.id=v.column1 and runs.fence=v.column2 and runs.state=1"
    )


def settle_full(c: Connection, rows: Sequence[Row]) -> int:
    """As :func:`settle_plain`, with every column a finish may write; ``next_attempt_at`` makes it due again."""
    return c.exec_driver_sql(_settle_full(len(rows)), _flat(rows)).rowcount


@lru_cache(512)
def _close_attempts(n: int) -> str:
    return (
        "update attempts set started_at=v.column3,finished_at=v.column4,outcome=v.column5,reason=v.column6,"
        "text=v.column7,exit_code=v.column8 from (values "
        + _values(n, 8)
        + ") v where attempts.run_id=v.column1 and attempts.number=v.column2"
    )


def close_attempts(c: Connection, rows: Sequence[Row]) -> None:
    """Rows of (run_id, number, started_at, finished_at, outcome, reason, text, exit_code)."""
    c.exec_driver_sql(_close_attempts(len(rows)), _flat(rows))


@lru_cache(512)
def _definitions(n: int) -> str:
    return (
        "select json_group_array(json_array(d.job_id,d.number,j.uid,j.key,d.kind,d.trigger,d.policies,d.payload,"
        "d.state,d.state_reason,j.creator_kind,d.digest,j.name)) from (values "
        + _values(n, 2)
        + ") v join definitions d on d.job_id=v.column1 and d.number=v.column2 join jobs j on j.id=d.job_id"
    )


def definitions(c: Connection, keys: Sequence[Row]) -> list[list[Any]]:
    """The definitions of (job_id, number) pairs, as the toolbox compiles them."""
    return orjson.loads(c.exec_driver_sql(_definitions(len(keys)), _flat(keys)).scalar_one())  # type: ignore[no-any-return]


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
    due_heads, queued_heads = c.exec_driver_sql(_BOTH).one()
    return orjson.loads(due_heads), orjson.loads(queued_heads)


def heads(c: Connection, of: str) -> list[list[Any]]:
    """``due``: (lane, nearest next_run_at); ``queued``: (lane, nearest present start, nearest late start).

    A loose index scan: it costs one seek per lane, whatever the number of jobs and runs.
    """
    return orjson.loads(c.exec_driver_sql(_LANES[of]).scalar_one())  # type: ignore[no-any-return]


@lru_cache(512)
def _clear_streaks(n: int) -> str:
    return "update jobs set streak=0 where streak<>0 and id in (" + ",".join("?" * n) + ")"


def clear_streaks(c: Connection, job_ids: Sequence[int]) -> None:
    """Jobs whose run ended well have no streak any more; touches only those that had one."""
    c.exec_driver_sql(_clear_streaks(len(job_ids)), tuple(job_ids))


@lru_cache(512)
def _post_final(n: int) -> str:
    return (
        f"insert into outbox(at,topic,job_id,run_id) select ?{2 * n + 1},'run.final',column1,column2 from (values "
        + ",".join(f"(?{2 * i + 1},?{2 * i + 2})" for i in range(n))
        + ") where exists (select 1 from marks)"
    )


def post_final(c: Connection, pairs: Sequence[Row], now: int) -> None:
    """Rows of (job_id, run_id) go to the outbox, if anybody listens."""
    c.exec_driver_sql(_post_final(len(pairs)), (*_flat(pairs), now))


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
    advance(c, [(row[0], row[4], row[3], None, 1) for row in rows])
    return ids


def end_well(c: Connection, rows: Sequence[Row], now: int) -> int:
    """First attempts that ended well and leave nothing else: run, attempt, streak and outbox.

    Rows of (run_id, fence, state, started_at, finished_at, outcome, job_id); answers how many held their fence.
    """
    held = settle_plain(c, [row[:6] for row in rows])
    if held == len(rows):
        close_attempts(c, [(row[0], 1, row[3], row[4], row[5], None, None, None) for row in rows])
        clear_streaks(c, sorted({row[6] for row in rows}))
        post_final(c, [(row[6], row[0]) for row in rows], now)
    return held
