"""The catch-up decision: what becomes of every slot that has come due (T-09, T-10, P-01, P-33).

Slots are counted by arithmetic; at most ``catch_up_max`` of them are ever listed, however long nobody
lived. Whether an opened slot may start is the overlap rule's business, not this one's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from schedcore.domain.clock import MINUTE

__all__ = ["SKIP_LATE_LIMIT", "Plan", "Skip", "Slots", "end_of", "newest_allowed", "passed", "plan"]

SKIP_LATE_LIMIT = 15 * MINUTE
"""The late limit of ``catch_up = "skip"`` where none is given, in microseconds (T-10)."""


class Slots(Protocol):
    """The part of a trigger that planning needs; all instants are microseconds in UTC."""

    def next(self, after_us: int, /) -> int | None:
        """The first slot strictly after an instant, or ``None`` when there is none."""
        ...

    def count_between(self, after_us: int, until_us: int, /) -> int:
        """How many slots lie in ``(after, until]``."""
        ...

    def newest(self, after_us: int, until_us: int, n: int, /) -> list[int]:
        """The newest ``n`` slots in ``(after, until]``, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class Skip:
    """Slots that get no run: the first, the last, how many, and the reason of the row."""

    first: int
    last: int
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A decision for every slot up to ``last_slot``.

    ``open`` are the slots that become runs, oldest first; ``skips`` the ranges that do not, in order and
    disjoint. ``next_slot`` is the one after, due at ``next_due`` (its jitter added); ``left`` is what remains
    of the trigger's count. All instants are microseconds.
    """

    open: tuple[int, ...]
    skips: tuple[Skip, ...]
    last_slot: int | None
    next_slot: int | None
    left: int | None
    next_due: int | None = None


def plan(
    trigger: Slots,
    *,
    last_slot: int | None,
    anchor: int,
    now: int,
    left: int | None = None,
    catch_up: str = "run_once",
    catch_up_max: int = 10,
    late_limit_us: int | None = None,
    jitter_us: Callable[[int], int] | int = 0,
) -> Plan:
    """Decide every slot in ``(last_slot or anchor, now]``.

    A slot is due at slot + jitter, and late when now is more than the limit after that; a slot exactly at the
    limit runs. ``late_limit_us`` ``None`` is 15 min under ``skip`` and no limit otherwise, 0 is no limit, and
    anything else holds under every policy. ``left`` is how many slots the trigger's ``count`` still allows;
    every decided slot uses one. Late slots are a ``late`` row; of the others the newest one runs, or under
    ``all`` the newest ``catch_up_max``, and the older ones are a ``coalesced`` row. A clock that stands
    before ``last_slot`` decides nothing.
    """
    start = anchor if last_slot is None else last_slot
    first = None if left == 0 else trigger.next(start)
    if first is None or first > now:
        return Plan((), (), last_slot, first, left, _due(first, jitter_us))
    limit = (SKIP_LATE_LIMIT if catch_up == "skip" else 0) if late_limit_us is None else late_limit_us
    second = None if left == 1 else trigger.next(first)
    if second is None or second > now:
        due = first + _jitter(first, jitter_us)
        if due > now:
            return Plan((), (), last_slot, first, left, due)
        rest = None if left is None else left - 1
        if limit and now - due > limit:
            skips = (Skip(first, first, 1, "late"),)
            return Plan((), skips, first, second, rest, _due(second, jitter_us))
        return Plan((first,), (), first, second, rest, _due(second, jitter_us))
    return _several(trigger, start, now, left, catch_up, catch_up_max, limit, jitter_us)


def _several(
    trigger: Slots,
    start: int,
    now: int,
    left: int | None,
    catch_up: str,
    catch_up_max: int,
    limit: int,
    jitter_us: Callable[[int], int] | int,
) -> Plan:
    """Two slots or more lie in ``(start, now]``. Jitter ends before the next slot, so it can hold back only
    the newest of them, and lateness grows with age: the late ones are the oldest."""
    last, total = end_of(trigger, start, now, left)
    if last + _jitter(last, jitter_us) > now:
        (last,), total = trigger.newest(start, last - 1, 1), total - 1
    late_until = start
    if limit and now - limit > start:
        late_until = min(now - limit, last)  # its newest slot may be at the limit, or within it by jitter
        edge = trigger.newest(start, late_until, 1)
        if edge and now - edge[0] - _jitter(edge[0], jitter_us) <= limit:
            late_until = edge[0] - 1
    late = trigger.count_between(start, late_until) if late_until > start else 0
    skips = [_range(trigger, start, late_until, late, "late")] if late else []
    fresh = total - late
    runs = trigger.newest(late_until, last, catch_up_max if catch_up == "all" else 1) if fresh else []
    if fresh > len(runs):
        skips.append(_range(trigger, late_until, runs[0] - 1, fresh - len(runs), "coalesced"))
    rest = None if left is None else left - total
    following = None if rest == 0 else trigger.next(last)
    return Plan(tuple(runs), tuple(skips), last, following, rest, _due(following, jitter_us))


def passed(
    trigger: Slots, last_slot: int, until: int, reason: str, *, left: int | None = None
) -> Skip | None:
    """The one row for all slots in ``(last_slot, until]`` that went by paused, pending or behind a breaker.

    ``None`` when there is none. ``left`` bounds it by the trigger's count; the row's count is to be taken
    from it.
    """
    if left == 0 or until <= last_slot or not trigger.count_between(last_slot, until):
        return None
    last, total = end_of(trigger, last_slot, until, left)
    return _range(trigger, last_slot, last, total, reason)


def newest_allowed(trigger: Slots, after: int, until: int, left: int | None) -> int | None:
    """The newest slot in ``(after, until]`` that the trigger's count allows; ``None`` where there is none."""
    if left == 0 or until <= after or not trigger.count_between(after, until):
        return None
    return end_of(trigger, after, until, left)[0]


def _range(trigger: Slots, after: int, until: int, count: int, reason: str) -> Skip:
    first = trigger.next(after)
    (last,) = trigger.newest(after, until, 1)
    return Skip(first if first is not None else last, last, count, reason)


def end_of(trigger: Slots, after: int, until: int, left: int | None) -> tuple[int, int]:
    """The newest slot in ``(after, until]`` that the count allows, and how many there are up to it; there is one."""
    total = trigger.count_between(after, until)
    if left is None or total <= left:
        return trigger.newest(after, until, 1)[0], total
    low, high = after, until
    while high - low > 1:
        middle = (low + high) // 2
        if trigger.count_between(after, middle) < left:
            low = middle
        else:
            high = middle
    return high, left


def _jitter(slot: int, jitter_us: Callable[[int], int] | int) -> int:
    return jitter_us if isinstance(jitter_us, int) else jitter_us(slot)


def _due(slot: int | None, jitter_us: Callable[[int], int] | int) -> int | None:
    return None if slot is None else slot + _jitter(slot, jitter_us)
