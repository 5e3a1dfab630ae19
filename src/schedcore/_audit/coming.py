"""What comes next for a job: does ``next_run_at`` follow, is the count right, is it late? (I2, L1)"""

from __future__ import annotations

from schedcore._audit.clock_of_ledger import LedgerClock
from schedcore._audit.decided import Walk
from schedcore._audit.owed import ALWAYS, NEVER, Owed, Window
from schedcore.domain.clock import text

__all__ = ["comes"]

_STILL = frozenset({"done", "retired", "pending"})


def comes(walk: Walk, clock: LedgerClock) -> None:
    """Judge the row of ``due`` of a job whose decisions were walked."""
    job = walk.job
    if job.anchor is None or not walk.windows:  # I20 says so
        return
    _left(walk)
    if job.state != "active":
        _rests(walk)
        return
    last = walk.windows[-1]
    if last.grid is None or job.faults:
        walk.note.leaves("L1", last.stored.why or "a trigger that raises is tried again")
        return
    if last.soft:
        walk.note.leaves("L1", "its next slot follows from zone data that are not installed here")
        return
    found = _following(walk, last)
    slot = None if found is None else found[0]
    due_at = None if found is None else sum(found)
    walk.note.checks("I2")
    if job.next_run_at != due_at:
        was, wanted = (("never" if us is None else text(us)) for us in (job.next_run_at, due_at))
        _finds(walk, "I2", f"its next_run_at is {was}; after last_slot it follows that it is {wanted}", slot)
    if clock.why_not is not None:
        walk.note.leaves("L1", clock.why_not)
        return
    walk.note.checks("L1")
    if due_at is not None and clock.overdue(due_at):
        _finds(
            walk,
            "L1",
            f"it was due at {text(due_at)}, and by {text(clock.now or 0)} nobody had decided it",
            slot,
        )


def _following(walk: Walk, last: Window) -> tuple[int, int] | None:
    """The first slot that is not decided and not dropped, and by how much its start is put off."""
    job = walk.job
    if last.stored.count is not None and job.slots_left == 0:
        return None
    after = job.anchor if job.last_slot is None else job.last_slot
    owed = Owed(walk.windows, NEVER)
    found = owed.next(ALWAYS if after is None else after)
    passed = 0
    while found is not None and found[1].stored.drops is not None and found[1].stored.drops.holds(found[0]):
        passed += 1  # it is decided with the next one that is kept
        found = owed.next(found[0])
    if found is None or (passed and job.slots_left is not None and passed >= job.slots_left):
        return None
    slot, window = found
    beyond = owed.next(slot) if window.stored.jitter else None
    return slot, last.stored.put_off(job.uid, slot, None if beyond is None else beyond[0])


def _left(walk: Walk) -> None:
    """What is left of a trigger's count (P-33)."""
    job, last = walk.job, walk.windows[-1]
    if (
        last.stored.count is None
        or not last.owing
        or walk.since is not None
        or job.archived_through is not None
    ):
        return
    rest = max(last.stored.count - walk.used.get(last.epoch, 0), 0)
    if job.slots_left != rest:
        _finds(walk, "I2", f"of its count {rest} slots are left, and slots_left says {job.slots_left}", None)


def _rests(walk: Walk) -> None:
    """A job that is not active has nothing due, but for the probe of an open breaker."""
    job = walk.job
    if job.next_run_at is not None and (job.state in _STILL or not job.breaker):
        _finds(
            walk, "I2", f"it is {job.state} and due at {text(job.next_run_at)} all the same", job.next_run_at
        )


def _finds(walk: Walk, rule: str, what: str, slot: int | None) -> None:
    walk.note.finds(rule, what, job=walk.job.id, slot=slot)
