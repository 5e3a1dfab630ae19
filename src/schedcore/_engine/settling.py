"""Settling what has ended: the decision of :mod:`schedcore.domain.settle`, written under the fence, in groups.

The plain ends (ok, nothing to keep) are one narrow statement per batch; all others one full statement. A
batch in which a fence was lost is rolled back whole by the caller and settled one by one, so that one lost
fence does not lose its neighbours.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schedcore._engine import moves
from schedcore._engine.state import Engine, Finish
from schedcore._ledger import events, groups, jobs
from schedcore._ledger import runs as rows
from schedcore._ledger.events import Actor
from schedcore._ledger.json_text import json_text
from schedcore.domain.run import RunState, RunTrigger
from schedcore.domain.settle import Settled, settle

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["FenceLost", "settle_batch", "stale"]

log = logging.getLogger("schedcore.settle")
_STDERR = 8 * 1024


class FenceLost(Exception):
    """At least one finish of the batch no longer holds its run; nothing of the batch was written."""


def settle_batch(e: Engine, c: Connection, finishes: Sequence[Finish], now: int) -> None:
    """Write the ends of these attempts. Raises :class:`FenceLost` before anything that matters is written."""
    hot = e.ledger.hot
    plain: list[tuple[Any, ...]] = []
    rest: list[Finish] = []
    for finish in finishes:
        item, outcome = finish.claimed, finish.outcome
        simple = (
            outcome.kind == "ok"
            and not item.probe
            and outcome.detail is None
            and outcome.usage is None
            and outcome.text is None
            and finish.output_ref is None
            and finish.assert_ms is None
            and item.attempt == 1
        )
        if simple:
            plain.append((item.run_id, item.fence, finish.started_at, finish.finished_at, item.job.job_id))
        else:
            rest.append(finish)
    ending = _ending(finishes)
    jobs.lock_many(c, sorted({f.claimed.job.job_id for f in rest} | ending))
    if plain and hot.end_well(c, plain, now) != len(plain):
        raise FenceLost
    if rest:
        _end_rest(e, c, rest, now)
    placed = [f.claimed.run_id for f in finishes if f.claimed.job.policies.groups]
    if placed:
        groups.give(c, placed)
    if ending:
        moves.finish_one_shot(e.ledger, c, sorted(ending), now)
    e.counters.settled += len(finishes)


def _end_rest(e: Engine, c: Connection, finishes: Sequence[Finish], now: int) -> None:
    """All ends that are not plain: their runs, their attempts, the outbox."""
    hot = e.ledger.hot
    again = _settle_rest(e, c, finishes, now)
    hot.close_attempts(
        c,
        [
            (
                f.claimed.run_id,
                f.claimed.attempt,
                f.started_at,
                f.finished_at,
                f.outcome.kind,
                f.outcome.reason,
                f.outcome.text,
                f.outcome.exit_code,
            )
            for f in finishes
        ],
    )
    final = [(f.claimed.job.job_id, f.claimed.run_id) for f in finishes if f.claimed.run_id not in again]
    if final:
        hot.post_final(c, final, now)


def _settle_rest(e: Engine, c: Connection, finishes: Sequence[Finish], now: int) -> frozenset[int]:
    """Answers the runs that are queued again."""
    known = rows.streaks(c, sorted({f.claimed.job.job_id for f in finishes}))
    before = {job_id: row[0] for job_id, row in known.items()}
    streaks = dict(before)
    written: list[tuple[Any, ...]] = []
    after: list[tuple[Finish, Settled]] = []
    for finish in finishes:
        item, outcome = finish.claimed, finish.outcome
        job_id = item.job.job_id
        decided = settle(
            outcome,
            attempt=item.attempt,
            attempts_allowed=_allowed(finish),
            policies=item.job.policies,
            streak=streaks.get(job_id, 0),
            now=now,
            was_probe=bool(item.probe),
            stderr_tail=(finish.stderr_tail or "")[-_STDERR:],
        )
        finish.decided = decided
        streaks[job_id] = decided.streak
        after.append((finish, decided))
        written.append(_row(finish, decided))
    if e.ledger.hot.settle_full(c, written) != len(written):
        raise FenceLost
    changed = {job_id: n for job_id, n in streaks.items() if before.get(job_id) != n}
    rows.write_streaks(c, changed)
    for finish, decided in after:
        _breaker(e, c, finish, decided, now)
    return frozenset(f.claimed.run_id for f, decided in after if decided.state is RunState.QUEUED)


def _allowed(finish: Finish) -> int:
    """A run that keeps something alive has one attempt; its end opens the next run (P-36)."""
    keeps = finish.claimed.trigger == RunTrigger.KEEP_ALIVE.value
    return 1 if keeps else int(finish.claimed.job.policies.attempts)


def _row(finish: Finish, decided: Settled) -> tuple[Any, ...]:
    item, outcome = finish.claimed, finish.outcome
    again = decided.state is RunState.QUEUED
    finish.outcome = outcome if decided.outcome == outcome.kind else _as(outcome, decided.outcome)
    return (
        item.run_id,
        item.fence,
        decided.state.value,
        finish.started_at,
        finish.finished_at,
        decided.outcome,
        decided.reason,
        outcome.text,
        outcome.exit_code,
        decided.next_attempt_at if again else None,
        1 if decided.gave_up else 0,
        finish.stdout_tail,
        finish.stderr_tail,
        finish.output_ref,
        finish.assert_exit,
        finish.assert_ms,
        finish.assert_output,
        json_text(dict(outcome.usage)) if outcome.usage else None,
        json_text(dict(outcome.detail)) if outcome.detail else None,
        1 if again and item.job.policies.overlap != "parallel" else 0,
    )


def _as(outcome: Any, kind: str) -> Any:
    return type(outcome)(
        kind, outcome.reason, outcome.text, outcome.exit_code, outcome.retry, outcome.detail, outcome.usage
    )


def _breaker(
    e: Engine,
    c: Connection,
    finish: Finish,
    decided: Settled,
    now: int,
) -> None:
    job = finish.claimed.job
    actor = Actor(e.name, "machine")
    if decided.opens_breaker:
        log.warning("job %s: %d failed in a row; paused (%s)", job.key, decided.streak, decided.opens_breaker)
        was_probe = bool(finish.claimed.probe)
        moves.open_breaker(e, c, job.job_id, job, decided.opens_breaker, now, was_probe=was_probe)
        events.post(c, now, "job.breaker", [(job.job_id, finish.claimed.run_id)])
    elif decided.closes_breaker:
        locked = jobs.lock(c, job.job_id)
        if locked["state"] == "paused" and locked["breaker_at"] is not None:
            moves.resume(e, c, locked, actor, "its probe succeeded", now)
    elif finish.claimed.probe and decided.state is not RunState.QUEUED:
        moves.probe_again(e, c, job.job_id, now)


def _ending(finishes: Sequence[Finish]) -> set[int]:
    """Jobs whose trigger ends: they are done once they have no further slot and no live run."""
    return {
        f.claimed.job.job_id
        for f in finishes
        if (t := f.claimed.job.trigger) is not None and (t.kind == "at" or t.count or t.not_after)
    }


def stale(e: Engine, c: Connection, finish: Finish, now: int) -> None:
    """A late answer under an old fence: kept as an event, never merged, and it makes the end known (G6).

    What the ledger has taken already, by a commit that raised or from the spool, is no late answer.
    """
    item = finish.claimed
    if rows.has_end(c, item.run_id, item.attempt, item.fence, finish.finished_at):
        return
    jobs.lock(c, item.job.job_id)
    text = f"{finish.outcome.kind}: {finish.outcome.reason or ''} {finish.outcome.text or ''}"[:1000]
    events.record(
        c,
        item.job.job_id,
        now,
        Actor(e.name, "machine"),
        "stale_result",
        reason=text,
        run_id=item.run_id,
    )
    rows.end_known(c, item.run_id)
    e.counters.stale += 1
    log.warning("run %d: a late answer under fence %d changes nothing (%s)", item.run_id, item.fence, text)
