"""Claiming queued runs: at most as many as there is room, present ones before late ones (L-10, P-24).

Limits across hosts are rows, locked in name order. What a gate must be asked about is left to
:mod:`schedcore._engine.gates`, which asks outside any transaction and claims by id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._engine import moves
from schedcore._engine.state import Claimed, Engine
from schedcore._engine.toolbox import Compiled, Needs
from schedcore._ledger import groups, jobs
from schedcore._ledger import runs as rows
from schedcore.domain.clock import SECOND
from schedcore.domain.run import RunState

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["claim_late", "claim_present", "rate_ends", "take"]


def claim_present(
    e: Engine, c: Connection, lane: int, needs: Needs, now: int, lease_end: int, room: int
) -> tuple[list[Claimed], int]:
    """Take present runs of one lane; answers them and how many rows were seen."""
    return _claim(e, c, lane, needs, 0, now, lease_end, room)


def claim_late(e: Engine, c: Connection, lane: int, needs: Needs, now: int, lease_end: int) -> list[Claimed]:
    """Take the oldest catch-up run of one lane, if its groups have a place."""
    return _claim(e, c, lane, needs, 1, now, lease_end, 1)[0]


def rate_ends(e: Engine, c: Connection, queued: list[list[int | None]], now: int) -> list[int]:
    """When a rate lets the next of the runs start that could have started by now: nobody's end tells of that."""
    names: set[str] = set()
    for lane, present, late in queued:
        needs = e.lane_cache.get(lane) if lane is not None else None
        begun = min((t for t in (present, late) if t is not None), default=now + 1) <= now
        if begun and needs is not None and needs.groups and e.fits(needs):
            names.update(needs.groups)
    return [end for end in groups.rate_ends(c, sorted(names)) if end > now]


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
            if isinstance(job, Exception):
                yes.append(row)  # it is not asked about: the claim ends it
            else:
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
    alone: list[tuple[Compiled, list[Any]]] = []
    late: list[tuple[int, int]] = []
    unreadable: list[tuple[int, int]] = []
    for row in found:
        run_id, job_id = row[0], row[1]
        job = compiled[job_id, row[2]]
        if isinstance(job, Exception):
            unreadable.append((job_id, run_id))
        elif _too_late(job, row, now):
            late.append((job_id, run_id))
        elif row[7]:
            alone.append((job, row))
        else:
            claimed.append(_claimed(job, row))
    if alone or late or unreadable:
        locked = jobs.lock_free(c, {r[1] for _, r in alone} | {job_id for job_id, _ in (*late, *unreadable)})
        started = _alone(
            c, [one for one in alone if one[1][1] in locked], {i.job.job_id for i in claimed}, now
        )
        jobs.touch(c, [item.job.job_id for item in started])
        e.contended |= len(started) < len({row[1] for _, row in alone})
        claimed += started
        _end(
            e,
            c,
            [pair for pair in late if pair[0] in locked],
            now,
            "skipped",
            "late",
            "it waited past its late limit",
        )
        _end(
            e,
            c,
            [pair for pair in unreadable if pair[0] in locked],
            now,
            "cancelled",
            "operator",
            "its definition cannot be read",
        )
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


def _alone(
    c: Connection, found: list[tuple[Compiled, list[Any]]], taken: set[int], now: int
) -> list[Claimed]:
    """Runs that start alone, one of each locked job of which nothing else lives.

    The statement that found them looked as well, but two hosts may look at the same moment, each at another
    run of the job; only whoever holds the job's lock knows.
    """
    if not found:
        return []
    taken |= rows.alive(c, {job.job_id for job, _ in found}, now)
    claimed: list[Claimed] = []
    for job, row in found:
        if job.job_id not in taken:
            taken.add(job.job_id)
            claimed.append(_claimed(job, row))
    return claimed


def _end(
    e: Engine, c: Connection, ended: list[tuple[int, int]], now: int, word: str, reason: str, text: str
) -> None:
    if not ended:
        return
    state = {"skipped": RunState.SKIPPED, "cancelled": RunState.CANCELLED}[word]
    outcome = word if word == "cancelled" else None
    ids = [run_id for _, run_id in ended]
    rows.settle_idle(c, ids, (0,), now, state=state.value, reason=reason, text=text, outcome=outcome)
    moves.ended_idle(e, c, ended, now)


def _claimed(job: Compiled, row: list[Any]) -> Claimed:
    item = Claimed(job, row[0], row[3], row[5] + 1, row[6] + 1, row[9])
    item.trigger, item.late, item.parent = row[4], row[8], row[10]
    item.origin, item.delivery_key, item.probe = row[11], row[12], row[13] or 0
    return item
