"""Runs whose holder is lost: judged by lease time alone, never by a wall clock (G7, G8, P-06).

Nobody judges before the ledger's server has been up, and this host in contact with it, for one lease length.
One rescue that fails does not stop the others: each is a transaction of its own.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from schedcore._engine import moves
from schedcore._engine.state import Engine
from schedcore._ledger import events, jobs
from schedcore._ledger import runs as rows
from schedcore._ledger.events import Actor
from schedcore.domain.clock import SECOND
from schedcore.domain.errors import SchedcoreError
from schedcore.domain.outcome import Outcome
from schedcore.domain.run import RunState, state_of
from schedcore.domain.settle import settle

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["close_lost", "may_judge", "recover"]

log = logging.getLogger("schedcore.recover")


def may_judge(e: Engine, c: Connection, lease_now: int) -> bool:
    """Has the server been up, and this host in contact, for one lease length?

    ``lease_now`` was read before: a host that was stopped in between has not renewed since, and judges nobody.
    """
    boot = e.clocks.boot()
    if e.contact_since is None or boot - e.contact_since < e.lease_us:
        return False
    if boot - e.renewed_at >= e.lease_us // 2:
        return False
    return bool(lease_now - e.ledger.times.up_since(c) >= e.lease_us)


def recover(e: Engine) -> int:
    """Take every lost run from its holder; answers how many. Errors are contained, named and met again."""
    ledger = e.ledger
    with ledger.read() as c:
        lease_now = ledger.times.lease(c)
        if not may_judge(e, c, lease_now):
            return 0
        found = [r for r in _lost(e, c, lease_now) if r["id"] not in e.running]
    done = 0
    for run in found:
        try:
            with ledger.write() as c:
                done += _rescue(e, c, run, ledger.times.now(c))
        except SchedcoreError:
            raise
        except Exception as error:  # the next one is rescued all the same
            what = f"run {run['id']} could not be rescued; the next beat tries again"
            e.loops.fault("loop", error, what)
    return done


def _lost(e: Engine, c: Connection, lease_now: int) -> list[dict[str, Any]]:
    return rows.lost(c, lease_now, e.ledger.boot_id)


def _rescue(e: Engine, c: Connection, run: dict[str, Any], now: int) -> int:
    job = jobs.lock(c, run["job_id"])
    reason, kind = ("lease_lost", "interrupted")
    if run["stop_reason"] in {"operator", "replaced"}:
        reason, kind = run["stop_reason"], "cancelled"  # it was ordered to stop, and it has stopped
    text = f"the host {run['host'] or run['host_id']} that held it is lost"
    outcome = Outcome(kind, reason, text)  # type: ignore[arg-type]  # one of the two above
    if not close_lost(e, c, run, job, outcome, now, lease_end=run["lease_end"]):
        return 0
    e.counters.lost_leases += 1
    log.warning("run %d of job %s: %s; closed as %s", run["id"], job["key"], text, kind)
    return 1


def close_lost(
    e: Engine,
    c: Connection,
    run: dict[str, Any],
    job: dict[str, Any],
    outcome: Outcome,
    now: int,
    *,
    lease_end: int | None = None,
) -> bool:
    """Close the open attempt of a run taken from its holder, and settle the run by its policy.

    With ``lease_end`` only where the lease was not renewed since it was judged.
    Until the end of the work is known, the job's overlap rule counts it for at most its time limit.
    """
    key = (run["job_id"], run["definition"])
    compiled = e.compiler.of([key], lambda keys: e.ledger.hot.definitions(c, keys))[key]
    limit, decided = 300, None
    if not isinstance(compiled, Exception):
        limit = compiled.limit
        decided = settle(
            outcome,
            attempt=run["attempts"],
            attempts_allowed=compiled.policies.attempts,
            policies=compiled.policies,
            streak=job["streak"],
            now=now,
            was_probe=bool(run["probe"]),
        )
    state = decided.state if decided is not None else state_of(outcome.kind)
    again = decided.next_attempt_at if decided is not None and state is RunState.QUEUED else None
    began = rows.claimed_at(c, run["id"]) or now
    values: dict[str, Any] = {
        "state": state.value,
        "outcome": outcome.kind,
        "reason": outcome.reason,
        "text": outcome.text,
        "lost_until": max(now, min(now, began) + limit * SECOND),
        "finished_at": None if again else now,
        "next_attempt_at": again,
        "gave_up": 1 if decided is not None and decided.gave_up else 0,
    }
    if again:
        values |= {"start_at": again, "alone": 1}
    attempt = {"outcome": outcome.kind, "reason": outcome.reason, "text": outcome.text}
    if not rows.close_lost(c, run["id"], run["fence"], now, values, attempt, lease_end):
        return False
    actor = Actor(e.name, "machine")
    events.record(c, run["job_id"], now, actor, "run_" + outcome.kind, reason=outcome.text, run_id=run["id"])
    if decided is not None and state is not RunState.QUEUED:
        if decided.streak != job["streak"]:
            rows.write_streaks(c, {run["job_id"]: decided.streak})
        if decided.opens_breaker and not isinstance(compiled, Exception):
            probe = bool(run["probe"])
            moves.open_breaker(e, c, run["job_id"], compiled, decided.opens_breaker, now, was_probe=probe)
    if again is None:
        moves.ended_idle(e, c, [(run["job_id"], run["id"])], now)
    return True
