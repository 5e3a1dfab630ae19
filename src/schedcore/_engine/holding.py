"""What this host holds: its leases, the orders others left about it, the limits of its work.

Functions of the engine's shared state, each a short transaction or none; the loop says when.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from schedcore._engine.state import Claimed, Engine, Finish
from schedcore._engine.work import stopped
from schedcore._ledger import holds, hosts
from schedcore._ledger import runs as rows
from schedcore.domain.clock import SECOND
from schedcore.domain.outcome import Outcome

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["keep_limits", "next_judgement", "renew", "stop_overdue", "take_orders"]

log = logging.getLogger("schedcore.hold")
_MARGIN_US = 1_000


def renew(e: Engine, c: Connection) -> None:
    """All leases of this host, in one statement."""
    with e.ledger.write(c):
        lease_now = e.ledger.times.lease(c)
        hosts.renew(c, e.host_id, lease_now + e.lease_us, lease_now)
    before, e.renewed_at = e.renewed_at, e.clocks.boot()
    if e.contact_since is None or e.renewed_at - before >= e.lease_us // 2:
        e.contact_since = e.renewed_at  # stopped or asleep: perhaps so were all others


def take_orders(e: Engine, c: Connection) -> None:
    """What others have written about this host: stops, lost fences, holds, a drain."""
    held = e.running
    with e.ledger.read(c) as view:
        e.holds = tuple(h["reason"] for h in holds.opened(view))
        if not held:
            return
        undisturbed = (len(held), sum(held), sum(item.fence for item in held.values()), 0)
        if hosts.tally(view, e.host_id) == undisturbed:
            return
        mine = {row[0]: row for row in hosts.running(view, e.host_id)}
    for run_id, item in list(held.items()):
        row = mine.get(run_id)
        if row is None or row[1] != item.fence:
            if item.stop.give("lease_lost"):
                log.warning("run %d is no longer this host's; its work is stopped", run_id)
        elif row[2] is not None:
            item.stop.give(row[2])


def keep_limits(e: Engine) -> list[Finish]:
    """The time limit, kept outside the worker thread (P-17); answers the ends of work that was given up."""
    stop_overdue(e)
    boot = e.clocks.boot()
    grace = int((e.settings.kill_grace + 2) * SECOND)
    given_up = []
    for item in list(e.running.values()):
        if item.stop.reason is None or item.ended:
            continue
        if item.stopped_at is None:
            item.stopped_at = boot
        elif boot - item.stopped_at >= grace:
            given_up.append(_give_up(e, item))
    return given_up


def stop_overdue(e: Engine) -> None:
    """Order what is over its limit to stop; from any thread.

    Cut off from the ledger for two thirds of a lease, what may be started again elsewhere stops too (G8).
    """
    boot = e.clocks.boot()
    cut_off = boot - e.renewed_at >= e.lease_us * 2 // 3
    for item in list(e.running.values()):
        if item.began is not None and not item.ended and boot - item.began >= item.job.limit * SECOND:
            item.stop.give("timeout")
        policies = item.job.policies
        if cut_off and (policies.on_lost == "retry" or policies.stop_when_cut):
            item.stop.give("stopped_itself")


def _give_up(e: Engine, item: Claimed) -> Finish:
    """Work that does not end when it is told to is settled without it; its thread counts no longer."""
    told = stopped(item.stop.reason or "stopped_itself")
    now = max(e.instant(), item.claimed_at)  # the wall clock may have been set back meanwhile
    began = now if item.began is None else max(now - (e.clocks.boot() - item.began), item.claimed_at)
    text = "the work did not stop when it was told to and is still running in this process"
    finish = Finish(item, Outcome(told.kind, told.reason, text), began, now)
    replacement = Claimed(item.job, item.run_id, item.slot, item.attempt, item.fence, item.start_at)
    replacement.probe, replacement.trigger = item.probe, item.trigger
    finish.claimed = replacement
    e.running[item.run_id] = replacement
    replacement.began = None
    if item.began is not None:
        e.give_up(item.thread)
    return finish


def next_judgement(e: Engine, c: Connection) -> int:
    """When the nearest lease ends that another host holds, a second ahead at least; else one beat ahead."""
    boot = e.clocks.boot()
    with e.ledger.read(c) as view:
        nearest = rows.nearest_lease_end(view, e.host_id)
        lease_now = e.ledger.times.lease(view) if nearest is not None else 0
    if nearest is None:
        return boot + int(e.settings.beat * SECOND)
    return boot + max(SECOND, nearest - lease_now + _MARGIN_US)
