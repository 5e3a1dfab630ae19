"""Opening due slots: each becomes a run or is counted in a skipped row, and the job is advanced (T-06, P-01).

One transaction, which the caller holds, writes every decision and moves ``last_slot`` past exactly the slots
that were decided. Whatever was read was read under the job's lock, its row of ``due``.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from schedcore._engine.moves import finish_one_shot, pause, pause_unreadable
from schedcore._engine.passing import probe
from schedcore._engine.planning import plan_all, plan_due
from schedcore._engine.state import Claimed, Engine
from schedcore._engine.toolbox import Compiled, Needs
from schedcore._ledger import jobs
from schedcore._ledger import runs as rows
from schedcore._ledger.events import Actor
from schedcore.domain.clock import SECOND
from schedcore.domain.overlap import Live, Verdict, judge
from schedcore.domain.plan import Plan, Skip

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["Opened", "judged", "open_job", "open_lane"]

log = logging.getLogger("schedcore.open")
_NOTHING_ELSE = [None, 0, 0, 0, 0, None]
"""slots_left, faults, running, waiting, queued, lost_until of a job about which there is nothing to decide."""
_FAULTS = 3


@dataclass(slots=True)
class Opened:
    """What one pass over a lane decided, to be written with one statement per table."""

    swift: list[tuple[Compiled, tuple[int, int, int, int, int | None]]] = field(default_factory=list)
    running: list[tuple[Compiled, tuple[int, int, int, int]]] = field(default_factory=list)
    queued: list[tuple[Any, ...]] = field(default_factory=list)
    advanced: list[tuple[Any, ...]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    coalesced: dict[tuple[int, int], list[dict[str, Any]]] = field(default_factory=dict)
    replaced: list[int] = field(default_factory=list)


def open_lane(
    e: Engine, c: Connection, lane: int, needs: Needs, now: int, lease_end: int, room: int, *, offered: bool
) -> tuple[list[Claimed], int]:
    """Open due slots of one lane: at once running where nothing but ``room`` stands between, else queued.

    Answers what is now in this host's hands, and how many due rows were read (a full batch means more wait).
    ``offered`` says whether any live host offers this kind of work.
    """
    fits = e.fits(needs) and not needs.groups
    limit = min(room, e.settings.batch) if fits and room else e.settings.batch
    due = e.ledger.hot.due(c, lane, now, limit)
    if not due:
        return [], 0
    compiled = e.compiler.of(((r[0], r[4]) for r in due), lambda keys: e.ledger.hot.definitions(c, keys))
    out = Opened()
    swift, running = out.swift, out.running
    on_time = now - int(e.settings.beat * SECOND)
    for row in due:
        key = (row[0], row[4])
        job = compiled[key]
        if isinstance(job, Exception):
            pause_unreadable(e, c, row[0], row[4], job, now)
            continue
        direct = fits and room > len(swift) + len(running)
        if direct and job.swift and row[5:] == _NOTHING_ELSE and row[1] >= on_time:
            following = job.next(row[1])
            if (
                following is None or following > now
            ):  # the plain case, as _decide has it, at a tenth of the cost
                swift.append((job, (row[0], row[4], lane, row[1], following)))
                continue
        _decide(e, c, out, job, row, lane, now, offered=offered, direct=direct)
    return _write(e, c, out, now, lease_end), len(due)


def _decide(
    e: Engine,
    c: Connection,
    out: Opened,
    job: Compiled,
    row: list[Any],
    lane: int,
    now: int,
    *,
    offered: bool,
    direct: bool,
    early: bool = False,
) -> None:
    job_id, next_run_at, last_slot, anchor, number, left, faults = row[:7]
    start = last_slot if last_slot is not None else anchor
    since = jobs.definitions_since(c, job_id, start) if job.state == "paused" else []
    try:
        if job.state == "paused":
            planned, gone = _probe(e, job, since, row, now)
            out.skipped += [_skipped(e, job_id, owing, skip, now) for owing, skip in gone]
        elif early:
            planned = plan_all(job, last_slot, anchor, left, now)
        else:
            planned = plan_due(job, None if faults else next_run_at, last_slot, anchor, left, now)
    except (Exception, SystemExit) as error:  # a trigger of a plugin, or tz data that cannot be read (T-17)
        _fault(e, c, job, faults, error, now)
        return
    if not planned.open and not planned.skips and job.state != "paused":
        out.advanced.append((job_id, planned.next_due, last_slot, left, 0))
        return
    before = len(out.skipped)
    made = _slots(e, out, job, row, planned, lane, now, offered=offered, direct=direct)
    newest = out.skipped[-1] if planned.open and len(out.skipped) > before else None
    for skip in planned.skips:
        line = _skipped(e, job_id, number, skip, now)
        if skip.reason != "coalesced" or not planned.open:
            out.skipped.append(line)
        elif newest is not None and newest["last_slot"] == planned.open[-1]:
            out.skipped.append(line | {"reason": newest["reason"]})  # no run stands for them (I4)
        else:
            out.coalesced.setdefault((job_id, planned.open[-1]), []).append(line)
    if job.state == "paused" and not made and planned.left != 0 and job.trigger is not None:
        planned = replace(
            planned, next_due=job.trigger.next_kept(now)
        )  # it could not run: the next slot tries
    out.advanced.append((job_id, planned.next_due, planned.last_slot, planned.left, made))


def _probe(
    e: Engine, job: Compiled, since: list[dict[str, Any]], row: list[Any], now: int
) -> tuple[Plan, list[tuple[int, Skip]]]:
    """The slot that tries an open breaker, as a plan, and what it passes by definition (A-11)."""
    assert job.trigger is not None
    last, anchor, left = row[2], row[3], row[5]
    start = last if last is not None else anchor
    slot, found = probe(since, job.trigger, e.toolbox.triggers, start=start, now=now, left=left)
    decided = found.last if found.last is not None else last
    return Plan((slot,) if slot is not None else (), (), decided, None, found.left), found.rows


def _slots(
    e: Engine,
    out: Opened,
    job: Compiled,
    row: list[Any],
    planned: Plan,
    lane: int,
    now: int,
    *,
    offered: bool,
    direct: bool,
) -> int:
    job_id, number = row[0], row[4]
    live = Live(row[7] + row[8], row[9], 1 if row[10] is not None and row[10] > now else 0)
    probe = 1 if job.state == "paused" else 0
    several = len(planned.open) > 1
    made = 0
    for slot in planned.open:
        start_at, late, verdict = judged(job, slot, live, now, e.settings.beat, several=several)
        if not offered:
            out.skipped.append(_skipped(e, job_id, number, Skip(slot, slot, 1, "no_executor"), now))
        elif verdict == "skip":
            out.skipped.append(_skipped(e, job_id, number, Skip(slot, slot, 1, "overlap"), now))
        elif (
            job.policies.on_full == "skip"
            and not late
            and e.room(job.kind) <= len(out.running) + len(out.swift)
        ):
            out.skipped.append(_skipped(e, job_id, number, Skip(slot, slot, 1, "full"), now))
        else:
            if verdict == "replace":
                out.replaced.append(job_id)
            alone = 1 if verdict != "open" or several or (late and job.policies.overlap != "parallel") else 0
            if direct and job.plain and not alone and not late and not probe and start_at == slot:
                out.running.append((job, (job_id, number, lane, slot)))
                direct = False
            else:
                out.queued.append(
                    (
                        job_id,
                        number,
                        lane,
                        slot,
                        0,
                        0,
                        late,
                        alone,
                        start_at,
                        now,
                        None,
                        None,
                        None,
                        None,
                        None,
                        probe or None,
                    )
                )
            made += 1  # what one plan opens does not count against itself: it runs one after another
    return made


def judged(
    job: Compiled, slot: int, live: Live, now: int, beat: float, *, several: bool
) -> tuple[int, int, Verdict]:
    """When a slot's run may start, whether that is late (P-24), and what the overlap rule says to it."""
    start_at = slot + (job.trigger.jitter_of(job.uid, slot) if job.jittered and job.trigger else 0)
    late = 1 if now - start_at > beat * SECOND else 0
    if late and several:
        return start_at, late, "open"
    return start_at, late, judge(job.policies.overlap, job.policies.overlap_max, live)


def _skipped(
    e: Engine, job_id: int, number: int, skip: Skip, now: int, actor: str | None = None
) -> dict[str, Any]:
    return {
        "job_id": job_id,
        "definition": number,
        "first_slot": skip.first,
        "last_slot": skip.last,
        "slots": skip.count,
        "reason": skip.reason,
        "run_id": None,
        "decided_at": now,
        "host_id": e.host_id or None,
        "actor": actor,
    }


def _write(e: Engine, c: Connection, out: Opened, now: int, lease_end: int) -> list[Claimed]:
    from schedcore._engine.run_orders import replace_live

    hot = e.ledger.hot
    claimed: list[Claimed] = []
    if out.replaced:
        replace_live(e.ledger, c, out.replaced, now)
    if out.swift:
        ids = hot.open_running(c, [given for _, given in out.swift], e.host_id, lease_end, now)
        claimed += [
            Claimed(job, run_id, given[3], 1, 1, given[3])
            for (job, given), run_id in zip(out.swift, ids, strict=True)
            if run_id is not None
        ]
        e.counters.opened += len(out.swift)
    if out.running:
        before = len(claimed)
        ids = hot.insert_running(c, [given for _, given in out.running], e.host_id, lease_end, now)
        for (job, given), run_id in zip(out.running, ids, strict=True):
            if run_id is not None:  # else the slot had its row already, which is an answer (L-09)
                claimed.append(Claimed(job, run_id, given[3], 1, 1, given[3]))
                _point(out, (given[0], given[3]), run_id)
        if begun := claimed[before:]:
            hot.insert_attempts(c, [(i.run_id, 1, 1) for i in begun], e.host_id, now)
    if out.queued:
        ids = hot.insert_runs(c, out.queued)
        for given, run_id in zip(out.queued, ids, strict=True):
            _point(out, (given[0], given[3]), run_id)
    if out.advanced:  # empty where no definition of the batch could be read
        hot.advance(c, out.advanced)
    ended = [row[0] for row in out.advanced if row[1] is None and not row[4]]
    if ended:  # nothing will ever settle for them
        finish_one_shot(e.ledger, c, ended, now)
    lines = out.skipped + [line for group in out.coalesced.values() for line in group]
    rows.skip(c, lines)
    e.counters.opened += len(out.running) + len(out.queued)
    e.counters.skipped += len(lines)
    return claimed


def _point(out: Opened, slot: tuple[int, int], run_id: int | None) -> None:
    """A coalesced row points at the run that stands for its slots (I4)."""
    for line in out.coalesced.get(slot, ()):
        line["run_id"] = run_id


def _fault(e: Engine, c: Connection, job: Compiled, faults: int, error: BaseException, now: int) -> None:
    log.error("trigger of job %s raised (%d in a row): %s", job.key, faults + 1, error)
    if faults + 1 >= _FAULTS:
        reason = f"trigger_error: {type(error).__name__}: {error}"[:500]
        pause(e.ledger, c, job.job_id, Actor(e.name, "machine"), reason, now)
    else:
        jobs.set_due(c, job.job_id, faults=faults + 1, next_run_at=now + int(e.settings.beat * SECOND))


def open_job(e: Engine, c: Connection, job_id: int, lane: int, now: int) -> None:
    """Open every slot of one locked job up to now by its catch-up policy, before its definition changes (P-27).

    A slot that only waits for its jitter is owed by the definition that ends, and is opened too.
    """
    row = jobs.due_row(c, job_id)
    if row[1] is None:
        return
    key = (job_id, row[4])
    job = e.compiler.of([key], lambda keys: e.ledger.hot.definitions(c, keys))[key]
    if not isinstance(job, Exception) and job.state == "active":
        out = Opened()
        _decide(e, c, out, job, row, lane, now, offered=True, direct=False, early=True)
        _write(e, c, out, now, 0)
