"""The events of each job: numbered without a gap, and its state what the last order made of it (I16, I17)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from schedcore._audit.report import Notebook
from schedcore._audit.snapshot import Row, Snapshot
from schedcore._audit.words import JOB_MOVES

__all__ = ["audit_history"]

_EVENTS = (
    "select job_id,number,case when changes like ? then changes end from {s}events where id>=?"
    " order by job_id,number"
)
_MOVES_OF_STATE = '%"state":%'
_JOBS = (
    "select j.id,j.state,j.state_reason,j.definition,f.state,f.state_reason,first.state from {s}jobs j"
    " left join {s}definitions f on f.job_id=j.id and f.number=j.definition"
    " left join {s}definitions first on first.job_id=j.id and first.number=1 order by j.id"
)
_LEDGER = 0


class _Job(NamedTuple):
    id: int
    state: str
    reason: str | None
    definition: int
    defined: str | None
    defined_reason: str | None
    at_first: str | None


def audit_history(snapshot: Snapshot, note: Notebook, first: int) -> None:
    """Judge every job by its events from the number ``first`` on."""
    whole = first == 0
    told = groupby(snapshot.stream(_EVENTS, _MOVES_OF_STATE, first), key=lambda row: int(row[0]))
    following = next(told, None)
    for job in map(_Job._make, snapshot.stream(_JOBS)):
        while following is not None and following[0] < job.id:
            _numbers(note, following[0], following[1], whole=whole)
            following = next(told, None)
        moves: list[tuple[str, str]] = []
        if following is not None and following[0] == job.id:
            moves = _numbers(note, job.id, following[1], whole=whole)
            following = next(told, None)
        elif whole:
            note.finds("I16", "it has no event, not even that of its making", job=job.id)
        _state(note, job, moves, whole=whole)
    while following is not None:
        _numbers(note, following[0], following[1], whole=whole)
        following = next(told, None)


def _numbers(note: Notebook, job_id: int, rows: Iterator[Row], *, whole: bool) -> list[tuple[str, str]]:
    """Look at the numbers of one job's events; answers its moves from state to state."""
    moves: list[tuple[str, str]] = []
    expected: int | None = 1 if whole else None
    for _, number, changes in rows:
        note.checks("I16")
        if expected is not None and number != expected:
            whose = "the ledger's own events" if job_id == _LEDGER else "its events"
            what = f"of {whose} number {expected} is missing; {number} follows"
            note.finds("I16", what, job=job_id if job_id != _LEDGER else None)
        expected = number + 1
        if changes is not None and (move := _move(changes)) is not None:
            moves.append(move)
    return moves


def _move(changes: str) -> tuple[str, str] | None:
    try:
        found: Any = json.loads(changes)
    except ValueError:
        return None
    pair = found.get("state") if isinstance(found, dict) else None
    return (str(pair[0]), str(pair[1])) if isinstance(pair, list) and len(pair) == 2 else None


def _state(note: Notebook, job: _Job, moves: list[tuple[str, str]], *, whole: bool) -> None:
    note.checks("I17")
    if job.defined is not None and (job.defined, job.defined_reason) != (job.state, job.reason):
        was, is_ = _said(job.defined, job.defined_reason), _said(job.state, job.reason)
        note.finds("I17", f"it is {is_}, and definition {job.definition} in force says {was}", job=job.id)
    last = job.at_first if whole else None
    for before, after in moves:
        if last is not None and before != last:
            note.finds("I17", f"an order moved it from {before} to {after} when it was {last}", job=job.id)
        elif "retired" not in (before, after) and (before, after) not in JOB_MOVES:
            note.finds("I17", f"an order moved it from {before} to {after}, which is no move", job=job.id)
        last = after
    if last is not None and last != job.state:
        note.finds("I17", f"it is {job.state}, and its last order made it {last}", job=job.id)


def _said(state: str, reason: str | None) -> str:
    return state if reason is None else f"{state} ({reason})"
