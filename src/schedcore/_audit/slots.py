"""The first pass: jobs one after another, each with its definitions, runs and skipped rows, all in streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from typing import Any

from schedcore._audit.clock_of_ledger import LedgerClock
from schedcore._audit.coming import comes
from schedcore._audit.decided import Decision, Job, Walk
from schedcore._audit.owed import Definition
from schedcore._audit.report import Notebook
from schedcore._audit.snapshot import Row, Snapshot

__all__ = ["audit_slots"]

_SCHEDULE, _BACKFILL = 0, 2
_JOBS = (
    "select j.id,j.uid,j.state,j.breaker_at is not null,j.archived_through,d.last_slot,d.anchor,d.next_run_at,"
    "d.slots_left,coalesce(d.faults,0) from {s}jobs j left join {s}due d on d.job_id=j.id order by j.id"
)
_DEFINITIONS = (
    "select job_id,number,valid_from,valid_to,state,trigger,tz_version from {s}definitions"
    " order by job_id,number"
)
_RUNS = (
    "select job_id,id,scheduled_for,definition,trigger,opened_at from {s}runs where trigger in (0,2)"
    " order by job_id,scheduled_for"
)
_RUNS_SINCE = (  # a seek for each job, where a scan would read them all
    "select r.job_id,r.id,r.scheduled_for,r.definition,r.trigger,r.opened_at from {s}jobs j cross join {s}runs r"
    " where r.job_id=j.id and r.scheduled_for>=? and r.trigger in (0,2) order by j.id,r.scheduled_for"
)
_ROWS = (
    "select job_id,id,first_slot,last_slot,slots,definition,decided_at,reason,run_id from {s}skipped"
    " order by job_id,first_slot"
)
_ROWS_SINCE = (
    "select k.job_id,k.id,k.first_slot,k.last_slot,k.slots,k.definition,k.decided_at,k.reason,k.run_id"
    " from {s}jobs j cross join {s}skipped k where k.job_id=j.id and k.last_slot>=? order by j.id,k.first_slot"
)


class _OfJob:
    """A stream in the order of its first column, given out job by job; what belongs to no job is passed over."""

    def __init__(self, stream: Iterator[Row]) -> None:
        self._stream = stream
        self._next = next(stream, None)

    def of(self, job_id: int) -> Iterator[Row]:
        """The rows of one job; jobs are asked for in order, and each is read to its end."""
        while self._next is not None and self._next[0] < job_id:
            self._next = next(self._stream, None)
        while self._next is not None and self._next[0] == job_id:
            row = self._next
            self._next = next(self._stream, None)
            yield row


def audit_slots(
    snapshot: Snapshot, note: Notebook, clock: LedgerClock, since: int | None, tick: Callable[[int], None]
) -> None:
    """Walk every job. ``tick`` is told of decisions that were read."""
    values = () if since is None else (since,)
    definitions = _OfJob(snapshot.stream(_DEFINITIONS))
    runs = _OfJob(snapshot.stream(_RUNS if since is None else _RUNS_SINCE, *values))
    rows = _OfJob(snapshot.stream(_ROWS if since is None else _ROWS_SINCE, *values))
    for found in snapshot.stream(_JOBS):
        job = _job(found)
        walk = Walk(job, [_definition(row) for row in definitions.of(job.id)], note, since)
        told = merge(map(_row, rows.of(job.id)), map(_run, runs.of(job.id)), key=_order)
        walk.over(_ticking(told, tick))
        _meet_the_rest(snapshot, walk)
        comes(walk, clock)


def _order(one: Decision) -> tuple[int, bool, bool]:
    return one.first, one.kind != "row", one.kind == "backfill"


def _ticking(decisions: Iterator[Decision], tick: Callable[[int], None]) -> Iterator[Decision]:
    number = 0
    for number, one in enumerate(decisions, 1):
        yield one
        if number % 1_000 == 0:
            tick(1_000)
    tick(number % 1_000)


def _meet_the_rest(snapshot: Snapshot, walk: Walk) -> None:
    """Coalesced rows whose run did not come by: it is of another kind, of another job, or not there (I4)."""
    for run_id, row in walk.awaited.items():
        found = snapshot.rows("select job_id,scheduled_for,opened_at,trigger from {s}runs where id=?", run_id)
        if found and found[0][0] == walk.job.id and found[0][3] == _SCHEDULE:
            walk.points(row, found[0][1], found[0][2])
        else:
            mine = found and found[0][0] == walk.job.id
            whose = "is none of the schedule" if mine else "is another job's" if found else "is not there"
            walk.note.finds(
                "I4", f"{row.said} points to run {run_id}, which {whose}", job=walk.job.id, slot=row.first
            )


def _job(row: Row) -> Job:
    return Job(row[0], row[1], row[2], bool(row[3]), *row[4:])


def _definition(row: Row) -> Definition:
    return Definition(*row[1:])


def _run(row: Row) -> Decision:
    _, run_id, slot, definition, trigger, opened_at = row
    return Decision(
        "backfill" if trigger == _BACKFILL else "run", run_id, slot, slot, 1, definition, opened_at
    )


def _row(row: tuple[Any, ...]) -> Decision:
    _, row_id, first, last, slots, definition, decided_at, reason, run_id = row
    return Decision("row", row_id, first, last, slots, definition, decided_at, reason, run_id)
