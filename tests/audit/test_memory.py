"""Millions of runs are read as they come: memory does not grow with them."""

from __future__ import annotations

import tracemalloc

from tests.audit.conftest import Told

FEW, MANY = 1_000, 20_000
ROOM = 1_000_000  # bytes: many runs held at once would be four times that
BEGIN = 1_700_000_000_000_000
TRIGGER = '{{"kind":"every","text":"60s","zone":"UTC","anchor":"2023-11-14T22:13:20.000Z"}}'
EACH = "(select id from jobs where key='each')"
JOB = (
    "insert into jobs(uid,key,name,kind,state,state_at,definition,digest,creator,creator_kind,created_at,"
    f"updated_at) values ('j-each','each','each','noop','paused',{BEGIN},1,'','me','person',{BEGIN},{BEGIN})"
)
DEFINITION = (
    "insert into definitions(job_id,number,valid_from,state,kind,trigger,policies,payload,tz_version,digest) select"
    f" id,1,{BEGIN},'paused','noop','{TRIGGER}','{{{{}}}}','{{{{}}}}','2026','' from jobs where key='each'"
)
DUE = f"insert into due(job_id,lane,anchor,definition) select id,1,{BEGIN},1 from jobs where key='each'"
EVENT = (
    "insert into events(job_id,number,at,actor,actor_kind,action)"
    f" select id,1,{BEGIN},'me','person','create' from jobs where key='each'"
)


def with_runs(told: Told, first: int, last: int) -> Told:
    """The job ``each`` has a run for these of its slots, each with its attempt."""
    numbers = f"with recursive n(i) as (select {first} union all select i+1 from n where i<{last})"
    slot = f"{BEGIN}+i*60000000"
    told.sql(
        f"{numbers} insert into runs(id,job_id,definition,lane,scheduled_for,trigger,state,start_at,attempts,fence,"
        f"opened_at,started_at,finished_at,outcome) select 100000+i,{EACH},1,1,{slot},"
        f"0,3,{slot},1,1,{slot},{slot},{slot},'ok' from n",
        f"{numbers} insert into attempts(run_id,number,fence,host_id,claimed_at,started_at,finished_at,outcome)"
        f" select 100000+i,1,1,1,{slot},{slot},{slot},'ok' from n",
        f"update due set last_slot={BEGIN}+{last}*60000000 where job_id={EACH}",
    )
    return told


def peak(told: Told) -> int:
    """The most that an audit holds at once, in bytes."""
    tracemalloc.start()
    try:
        report = told.audit()
        assert report.ok, report.findings[:3]
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_number_of_runs(sqlite_told: Told) -> None:
    sqlite_told.sql(JOB, DEFINITION, DUE, EVENT)
    few = peak(with_runs(sqlite_told, 1, FEW))

    many = peak(with_runs(sqlite_told, FEW + 1, MANY))

    assert many < few + ROOM
