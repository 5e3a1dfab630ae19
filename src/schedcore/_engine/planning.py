"""What becomes of the slots of one job up to now: its plan, asked of the domain in the engine's words.

Nothing is written here; :mod:`opening` does what the plan says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedcore.domain.clock import SECOND
from schedcore.domain.plan import Plan, passed
from schedcore.domain.plan_kept import plan_trigger
from schedcore.domain.trigger import Trigger

if TYPE_CHECKING:
    from schedcore._engine.toolbox import Compiled

__all__ = ["plan_all", "plan_due", "plan_of"]


def plan_due(
    job: Compiled,
    next_run_at: int | None,
    last_slot: int | None,
    anchor: int,
    left: int | None,
    now: int,
) -> Plan:
    """What becomes of the slots of a job that is due. ``next_run_at`` is the due slot itself, or ``None`` where
    the cache cannot be taken for one."""
    trigger = job.trigger
    assert trigger is not None
    if next_run_at is not None and job.bare and not job.policies.late_limit and left is None:
        following = trigger.next(next_run_at)  # the plain case: one slot is due, and the next is not
        if following is None or following > now:
            return Plan((next_run_at,), (), next_run_at, following, None, following)
    return plan_of(job, last_slot, anchor, left, now)


def plan_of(job: Compiled, last_slot: int | None, anchor: int, left: int | None, now: int) -> Plan:
    """What becomes of every slot of a job up to now, by its policies: what a tick does, and what a preview shows."""
    trigger, policies = job.trigger, job.policies
    assert trigger is not None
    return plan_trigger(
        trigger,
        last_slot=last_slot,
        anchor=anchor,
        now=now,
        left=left,
        catch_up=policies.catch_up,
        catch_up_max=policies.catch_up_max,
        late_limit_us=policies.late_limit * SECOND,
        jitter_us=(lambda slot: trigger.jitter_of(job.uid, slot)) if job.jittered else 0,
    )


def plan_all(job: Compiled, last_slot: int | None, anchor: int, left: int | None, now: int) -> Plan:
    """As :func:`plan_of`, with all that has come and would still wait: the slot that waits for its jitter is
    owed, so it is opened too, and slots that the calendar drops around it are counted."""
    planned = plan_of(job, last_slot, anchor, left, now)
    assert job.trigger is not None
    start = anchor if last_slot is None else last_slot
    slot = planned.next_slot
    if slot is not None and slot <= now:
        planned = _with_dropped(job.trigger, planned, start, slot - 1)
        left = None if planned.left is None else planned.left - 1
        planned = replace(planned, open=(*planned.open, slot), last_slot=slot, left=left)
    planned = _with_dropped(job.trigger, planned, start, now)
    last = start if planned.last_slot is None else planned.last_slot
    following = job.trigger.next_kept(last, planned.left)
    due = None if following is None else following + job.trigger.jitter_of(job.uid, following)
    return replace(planned, next_slot=following, next_due=due)


def _with_dropped(trigger: Trigger, planned: Plan, start: int, until: int) -> Plan:
    last = start if planned.last_slot is None else planned.last_slot
    row = passed(trigger, last, until, "calendar", left=planned.left)
    if row is None:
        return planned
    left = None if planned.left is None else planned.left - row.count
    return replace(planned, skips=(*planned.skips, row), last_slot=row.last, left=left)
