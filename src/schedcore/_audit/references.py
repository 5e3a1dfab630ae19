"""What refers to what: hot tables have no foreign keys, so these queries stand for them (``docs/decisions/0005``).

Whatever refers to something new gets its query here. ``{runs}``, ``{skipped}`` and ``{events}`` are the lowest
numbers to look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from schedcore._audit.report import Notebook
from schedcore._audit.snapshot import Snapshot

__all__ = ["audit_references", "audit_store"]

_SHOWN = 20
_ALL = MappingProxyType({"runs": 0, "skipped": 0, "events": 0})


class _Relation(NamedTuple):
    """What is wrong with row ``{n}``, and a query of such rows: their number, the job's, the slot, the run's."""

    wrong: str
    query: str


_RUN = "select r.id,r.job_id,r.scheduled_for,r.id from {s}runs r"
_ROW = "select k.id,k.job_id,k.first_slot,null from {s}skipped k"

_RELATIONS = (
    _Relation(
        "run {n} is of no job",
        _RUN + " left join {s}jobs j on j.id=r.job_id where r.id>={runs} and j.id is null",
    ),
    _Relation(
        "run {n} carries a definition that is not there",
        _RUN + " left join {s}definitions d on d.job_id=r.job_id and d.number=r.definition"
        " where r.id>={runs} and d.number is null",
    ),
    _Relation(
        "run {n} stands in a lane that is not there",
        _RUN + " left join {s}lanes l on l.id=r.lane where r.id>={runs} and l.id is null",
    ),
    _Relation(
        "run {n} is of a host that is not there",
        _RUN
        + " left join {s}hosts h on h.id=r.host_id where r.id>={runs} and r.host_id is not null and h.id is null",
    ),
    _Relation(
        "run {n} is linked to a run that is not there",
        _RUN + " left join {s}runs o on o.id=coalesce(r.retry_of_id,r.parent_run_id)"
        " where r.id>={runs} and coalesce(r.retry_of_id,r.parent_run_id) is not null and o.id is null",
    ),
    _Relation(
        "an attempt of run {n} is of a host that is not there",
        "select a.run_id,r.job_id,r.scheduled_for,a.run_id from {s}attempts a join {s}runs r on r.id=a.run_id"
        " left join {s}hosts h on h.id=a.host_id where a.run_id>={runs} and h.id is null",
    ),
    _Relation(
        "an attempt is of run {n}, which is not there",
        "select a.run_id,null,null,a.run_id from {s}attempts a left join {s}runs r on r.id=a.run_id"
        " where a.run_id>={runs} and r.id is null",
    ),
    _Relation(
        "skipped row {n} is of no job",
        _ROW + " left join {s}jobs j on j.id=k.job_id where k.id>={skipped} and j.id is null",
    ),
    _Relation(
        "skipped row {n} carries a definition that is not there",
        _ROW + " left join {s}definitions d on d.job_id=k.job_id and d.number=k.definition"
        " where k.id>={skipped} and d.number is null",
    ),
    _Relation(
        "skipped row {n} points to a run that is not there",
        _ROW
        + " left join {s}runs r on r.id=k.run_id where k.id>={skipped} and k.run_id is not null and r.id is null",
    ),
    _Relation(
        "job {n} has no row of due",
        "select j.id,j.id,null,null from {s}jobs j left join {s}due d on d.job_id=j.id where d.job_id is null",
    ),
    _Relation(
        "the row of due of job {n} is of no job",
        "select d.job_id,null,null,null from {s}due d left join {s}jobs j on j.id=d.job_id where j.id is null",
    ),
    _Relation(
        "the row of due of job {n} stands in a lane that is not there",
        "select d.job_id,d.job_id,null,null from {s}due d left join {s}lanes l on l.id=d.lane where l.id is null",
    ),
    _Relation(
        "the definition in force of job {n} is not its last, open one",
        "select j.id,j.id,null,null from {s}jobs j join {s}due d on d.job_id=j.id left join {s}definitions f on"
        " f.job_id=j.id and f.number=j.definition and f.valid_to is null where f.number is null or"
        " d.definition<>j.definition or exists (select 1 from {s}definitions g where g.job_id=j.id and"
        " g.number>j.definition)",
    ),
    _Relation(
        "definition {n} does not begin where the one before ends",
        "select d.number,d.job_id,d.valid_from,null from {s}definitions d left join {s}definitions b on"
        " b.job_id=d.job_id and b.number=d.number-1 where d.number>1 and (b.valid_to is null or"
        " b.valid_to<>d.valid_from) or d.number<1",
    ),
    _Relation(
        "event {n} is of no job",
        "select e.id,null,null,null from {s}events e left join {s}jobs j on j.id=e.job_id where e.id>={events}"
        " and e.job_id<>0 and j.id is null",
    ),
    _Relation(
        "event {n} is about a run that is not there",
        "select e.id,e.job_id,null,e.run_id from {s}events e left join {s}runs r on r.id=e.run_id"
        " where e.id>={events} and e.run_id is not null and r.id is null",
    ),
    _Relation(
        "run {n} holds a place of a group, and does not run",
        "select p.run_id,r.job_id,r.scheduled_for,p.run_id from {s}places p left join {s}runs r on r.id=p.run_id"
        " where r.id is null or r.state>2",
    ),
    _Relation(
        "a lease is of a host that is not there",
        "select 0,null,null,null from {s}leases l left join {s}hosts h on h.id=l.host_id where l.host_id is not null"
        " and h.id is null",
    ),
    _Relation(
        "chunk {n} of the archive is of no job",
        "select a.id,null,null,null from {s}archive a left join {s}jobs j on j.id=a.job_id where j.id is null",
    ),
)


def audit_references(snapshot: Snapshot, note: Notebook, first: Mapping[str, int] = _ALL) -> None:
    """Look for rows that refer to nothing (I20); ``first`` are the lowest numbers to look at, by table."""
    for relation in _RELATIONS:
        query = relation.query
        for table, number in first.items():
            query = query.replace(f"{{{table}}}", str(number))
        note.checks("I20")
        for number, job_id, slot, run_id in snapshot.rows(f"{query} order by 1 limit {_SHOWN + 1}"):
            note.finds("I20", relation.wrong.format(n=number), job=job_id, slot=slot, run=run_id)


def audit_store(snapshot: Snapshot, note: Notebook, *, thorough: bool) -> None:
    """What the database says of its own files (I20)."""
    told, why_not = snapshot.damage(thorough=thorough)
    for line in told:
        note.finds("I20", f"the store: {line}")
    if why_not is None:
        note.checks("I20")
    else:
        note.leaves("I20", why_not)
