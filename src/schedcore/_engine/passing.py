"""Slots that went by while a job was paused, waited for approval, or stood behind its breaker: counted under the
definition that owed them, and within what its count still allows (A-11, A-16, G15, P-33).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from schedcore.domain.plan import Skip, newest_allowed, passed
from schedcore.domain.trigger import Trigger
from schedcore.domain.trigger_parts import TriggerKinds

__all__ = ["Passed", "count_by", "probe", "trigger_of"]


@dataclass(slots=True)
class Passed:
    """What went by: pairs of (definition, row), the last slot of them, and what is left of the count.

    ``trigger`` is the newest that could be read and owes anything.
    """

    last: int | None
    left: int | None
    rows: list[tuple[int, Skip]] = field(default_factory=list)
    trigger: Trigger | None = None

    def take(self, number: int, skip: Skip | None) -> None:
        """One more row."""
        if skip is not None:
            self.rows.append((number, skip))
            self.last = skip.last
            self.left = self.left if self.left is None else self.left - skip.count


def trigger_of(definition: dict[str, Any], kinds: TriggerKinds | None = None) -> Trigger | None:
    """The trigger of a stored definition; ``None`` for a job without one. Raises what reading it raises."""
    data = orjson.loads(definition["trigger"])
    return Trigger.from_dict(data, kinds=kinds) if data is not None else None


def count_by(
    definitions: Sequence[dict[str, Any]],
    kinds: TriggerKinds,
    *,
    last: int | None,
    start: int,
    now: int,
    left: int | None,
    word: str,
) -> Passed:
    """Count the slots after ``start`` up to ``now``, one row for each definition that owed some of them.

    Slots that had come before a pause and were not opened yet belong to the definition of their time. What cannot
    be read owes nothing.
    """
    found = Passed(last, left)
    for definition in definitions:
        try:
            found.trigger = trigger_of(definition, kinds)
        except Exception:  # whatever storage holds; the job says that it is invalid
            found.trigger = None
        if found.trigger is None or definition["state"] in {"done", "retired"}:
            continue
        until = now if definition["valid_to"] is None else min(now, definition["valid_to"] - 1)
        reason = "pending" if definition["state"] == "pending" else word
        since = max(start if found.last is None else max(start, found.last), definition["valid_from"] - 1)
        skip = passed(found.trigger, since, until, reason, left=found.left)
        if skip is not None and definition["state"] == "active" and _all_dropped(found.trigger, skip):
            skip = replace(skip, reason="calendar")  # they had come before the pause
        found.take(definition["number"], skip)
    return found


def _all_dropped(trigger: Trigger, skip: Skip) -> bool:
    return trigger.drops and not trigger.kept.count_between(skip.first - 1, skip.last)


def probe(
    definitions: Sequence[dict[str, Any]],
    trigger: Trigger,
    kinds: TriggerKinds,
    *,
    start: int,
    now: int,
    left: int | None,
) -> tuple[int | None, Passed]:
    """The one slot that tries an open breaker after its cool-down, and what it passes (A-11).

    ``definitions`` are those since ``start``, the last of them the paused one with ``trigger``: the probe is the
    newest slot of it that has come and that the count allows, ``None`` where there is none.
    """
    *earlier, current = definitions
    found = count_by(earlier, kinds, last=None, start=start, now=now, left=left, word="breaker")
    since = max(start, found.last or start, current["valid_from"] - 1)
    until = newest_allowed(trigger, since, now, found.left)
    kept = [] if until is None else trigger.kept.newest(since, until, 1)
    slot = kept[0] if kept else None
    if slot is not None:
        found.take(current["number"], passed(trigger, since, slot - 1, "breaker", left=found.left))
        found.left = found.left if found.left is None else found.left - 1
        found.last = slot
    return slot, found
