"""Claiming queued runs: at most as many as there is room, present ones before late ones (L-10, P-24).

Limits across hosts are rows, locked in name order. What a gate must be asked about is left to
:mod:`schedcore._engine.gates`, which asks outside any transaction and claims by id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._engine.state import Claimed, Engine
from schedcore._engine.toolbox import Compiled, Needs
from schedcore._ledger import groups, jobs
from schedcore._ledger import runs as rows
from schedcore.domain.clock import SECOND

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["claim_late", "claim_present", "take"]


def claim_present(
    e: Engine, c: Connection, lane: int, needs: Needs, now: int, lease_end: int, room: int
) -> tuple[list[Claimed], int]:
    """Take present runs of one lane; answers them and how many rows were seen."""
    return _claim(e, c, lane, needs, 0, now, lease_end, room)


def claim_late(e: Engine, c: Connection, lane: int, needs: Needs, now: int, lease_end: int) -> list[Claimed]:
    """Take the oldest catch-up run of one lane, if its groups have a place."""
    return _claim(e, c, lane, needs, 1, now, lease_end, 1)[0]


def _claim(
    e: Engine, c: Connection, lane: int, needs: Needs, late: int, now: int, lease_end: int, room: int
) -> tuple[list[Claimed], int]:
    if room <= 0:
        return [], 0
    if needs.groups:
        room = min(room, *(e.places[name] for name in needs.groups))
        if room <= 0:
            return [], 0
    found = e.ledger.hot.queued(c, lane, late, now, min(room, e.settings.batch))
    seen = len(found)
    if e.gates is not None and e.toolbox.gates_of(needs.kind):
        found = _let_through(e, c, found)
    return take(e, c, found, needs, now, lease_end), seen


def _let_through(e: Engine, c: Connection, found: list[list[Any]]) -> list[list[Any]]:
    """Those the gates let through; the others are asked about, after this transaction."""
    yes = [row for row in found if row[0] in e.gates.let_through]
    no = [row for row in found if row[0] not in e.gates.let_through]
    if no:
        compiled = e.compiler.of(((r[1], r[2]) for r in no), lambda keys: e.ledger.hot.definitions(c, keys))
        for row in no:
            job = compiled[row[1], row[2]]
            if not isinstance(job, Exception):
                e.to_ask.append((job, row))
    for row in yes:
        e.gates.claimed(row[0])
    return yes


def take(
    e: Engine, c: Connection, found: list[list[Any]], needs: Needs, now: int, lease_end: int
) -> list[Claimed]:
    """Claim these queued rows for this host; the caller holds their locks and knows there is room."""
    if not found:
        return []
    compiled = e.compiler.of(((r[1], r[2]) for r in found), lambda keys: e.ledger.hot.definitions(c, keys))
    claimed: list[Claimed] = []
    taken: list[list[Any]] = []
    late: list[int] = []
    unreadable: list[int] = []
    taken_alone: set[int] = set()
    for row in found:
        run_id, job_id = row[0], row[1]
        job = compiled[job_id, row[2]]
        if isinstance(job, Exception):
            unreadable.append(run_id)
        elif _too_late(job, row, now):
            late.append(run_id)
        elif row[7] and job_id in taken_alone:
            continue
        else:
            taken_alone.add(job_id)
            claimed.append(_claimed(job, row))
            taken.append(row)
    if late:
        _settle_late(e, c, [r for r in found if r[0] in set(late)], now)
    if unreadable:
        rows.settle_idle(
            c, unreadable, (0,), now, state=10, reason="operator", text="its definition cannot be read"
        )
    alone = {item.job.job_id for item, row in zip(claimed, taken, strict=True) if row[7]}
    if alone and (busy := jobs.busy(c, sorted(alone), now)):
        claimed = [item for item in claimed if item.job.job_id not in busy]
        e.contended = True
    if claimed:
        e.ledger.hot.take(c, [i.run_id for i in claimed], e.host_id, lease_end)
        e.ledger.hot.insert_attempts(c, [(i.run_id, i.attempt, i.fence) for i in claimed], e.host_id, now)
        if needs.groups:
            groups.take(c, [(g, i.run_id) for g in needs.groups for i in claimed], now)
            for name in needs.groups:
                e.places[name] -= len(claimed)
    return claimed


def _too_late(job: Compiled, row: list[Any], now: int) -> bool:
    """A run of the schedule that waited past its late limit before its first attempt (T-10)."""
    limit = job.policies.late_limit * SECOND
    return bool(limit) and row[4] == 0 and row[5] == 0 and now - row[9] > limit


def _settle_late(e: Engine, c: Connection, found: list[list[Any]], now: int) -> None:
    rows.settle_idle(
        c, [r[0] for r in found], (0,), now, state=9, reason="late", text="it waited past its late limit"
    )


def _claimed(job: Compiled, row: list[Any]) -> Claimed:
    item = Claimed(job, row[0], row[3], row[5] + 1, row[6] + 1, row[9])
    item.trigger, item.late, item.parent = row[4], row[8], row[10]
    item.origin, item.delivery_key, item.probe = row[11], row[12], row[13] or 0
    return item
