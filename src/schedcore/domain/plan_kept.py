"""The catch-up decision where a calendar drops slots: those that are kept, planned as ever, and rows for the rest.

A dropped slot is decided together with the next one that is kept, so that nothing wakes for it, and a closed
night is one row. What comes late is told apart exactly, up to a number of rows. See ``docs/decisions/0020``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from schedcore.domain.bounds import Bounded
from schedcore.domain.plan import Plan, Skip, end_of, plan
from schedcore.domain.trigger import Trigger

__all__ = ["MOST_ROWS", "plan_trigger"]

MOST_ROWS = 100
"""Rows before the first run of one decision; where they would be more, the oldest become one (G19)."""


def plan_trigger(
    trigger: Trigger,
    *,
    last_slot: int | None,
    anchor: int,
    now: int,
    left: int | None = None,
    jitter_us: Callable[[int], int] | int = 0,
    **policy: Any,
) -> Plan:
    """:func:`plan` for a whole trigger; ``policy`` are its ``catch_up``, ``catch_up_max``, ``late_limit_us``.

    Where its calendar drops slots, they are rows of the reason ``calendar``, each uses one of the count, and
    ``next_slot`` is the next one that is kept. Range rows never overlap, and none of them counts both sorts of
    slots, but for the oldest where a decision would have more than :data:`MOST_ROWS`.
    """
    start = anchor if last_slot is None else last_slot
    kept, until, at_most = trigger.kept, now, left
    if trigger.drops and left is not None:
        at_most = None  # the bound stands in for it, since dropped slots are counted too
        if left == 0 or trigger.count_between(start, now) > left:
            until = start if left == 0 else end_of(trigger, start, now, left)[0]
            kept = Bounded(kept, None, until)
    done = plan(
        kept, last_slot=last_slot, anchor=anchor, now=now, left=at_most, jitter_us=jitter_us, **policy
    )
    if not trigger.drops:
        return done
    last = start if done.last_slot is None else done.last_slot
    rest = None if left is None else left - trigger.count_between(start, last)
    following = trigger.next_kept(last, rest)
    end = last
    if following is None and (tail := trigger.newest(last, until, 1)):
        end = tail[0]  # nothing will come along which they could be decided with
        rest = None if rest is None else rest - trigger.count_between(last, end)
    if end == start:
        return replace(done, left=left, next_slot=following, next_due=_due(following, jitter_us))
    rows = _fewer(list(_rows(trigger, start, end, done)), done)
    decided = replace(done, skips=tuple(rows), last_slot=end, left=rest, next_slot=following)
    return replace(decided, next_due=_due(following, jitter_us))


def _due(slot: int | None, jitter_us: Callable[[int], int] | int) -> int | None:
    return None if slot is None else slot + (jitter_us if isinstance(jitter_us, int) else jitter_us(slot))


def _rows(trigger: Trigger, start: int, end: int, done: Plan) -> Iterator[Skip]:
    """The rows for all slots in ``(start, end]`` that get no run, in order: closed ones, and those of the plan
    cut where closed ones lie between."""
    row: Skip | None = None
    for first, last, closed in _stretches(trigger, start, end):
        parts = [(first, last, "calendar")] if closed else _of_plan(trigger, first, last, done)
        for low, high, reason in parts:
            if row is not None and row.reason == reason and not _run_between(done, row.last, low):
                row = Skip(row.first, high, row.count + trigger.count_between(low - 1, high), reason)
                continue
            if row is not None:
                yield row
            row = Skip(low, high, trigger.count_between(low - 1, high), reason)
    if row is not None:
        yield row


def _stretches(trigger: Trigger, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Slots in ``(start, end]`` as stretches of one sort: the first, the last, and whether they are closed."""
    assert trigger.hours is not None
    after = start
    while (first := trigger.next(after)) is not None and first <= end:
        piece = trigger.hours.piece(first)
        after = min(piece.until - 1, end)
        yield first, trigger.newest(first - 1, after, 1)[0], not piece.open


def _of_plan(trigger: Trigger, first: int, last: int, done: Plan) -> Iterator[tuple[int, int, str]]:
    """What of a stretch of open slots the plan skips."""
    for skip in done.skips:
        low, high = max(first, skip.first), min(last, skip.last)
        if low <= high:
            yield low, high, skip.reason


def _run_between(done: Plan, low: int, high: int) -> bool:
    at = bisect_right(done.open, low)
    return at < len(done.open) and done.open[at] < high


def _fewer(rows: list[Skip], done: Plan) -> list[Skip]:
    """The rows with the oldest made one, where too many lie before the first run."""
    before = sum(1 for row in rows if not done.open or row.last < done.open[0])
    if before <= MOST_ROWS:
        return rows
    many = rows[: before - MOST_ROWS + 1]
    reason = next((row.reason for row in reversed(many) if row.reason != "calendar"), "calendar")
    return [Skip(many[0].first, many[-1].last, sum(row.count for row in many), reason), *rows[len(many) :]]
