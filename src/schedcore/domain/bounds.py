"""A rule within bounds: ``not_before`` and ``not_after``, both inclusive (P-33)."""

from __future__ import annotations

from schedcore.domain.clock_note import ClockNote
from schedcore.domain.slots import SlotRule

__all__ = ["Bounded", "bounded"]


class Bounded:
    """The slots of a rule that lie within bounds; ``None`` is no bound."""

    __slots__ = ("_after", "_before", "rule")

    def __init__(self, rule: SlotRule, before: int | None, after: int | None) -> None:
        self.rule, self._before, self._after = rule, before, after

    def next(self, after_us: int) -> int | None:
        """See :class:`SlotRule`."""
        if self._before is not None and after_us < self._before:
            after_us = self._before - 1
        slot = self.rule.next(after_us)
        return None if slot is None or (self._after is not None and slot > self._after) else slot

    def count_between(self, after_us: int, until_us: int) -> int:
        """See :class:`SlotRule`."""
        return self.rule.count_between(*self._within(after_us, until_us))

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """See :class:`SlotRule`."""
        return self.rule.newest(*self._within(after_us, until_us), n)

    def touched(self, us: int) -> ClockNote | None:
        """See :class:`SlotRule`."""
        return self.rule.touched(us)

    def _within(self, after_us: int, until_us: int) -> tuple[int, int]:
        if self._before is not None:
            after_us = max(after_us, self._before - 1)
        if self._after is not None:
            until_us = min(until_us, self._after)
        return after_us, until_us


def bounded(rule: SlotRule, before: int | None, after: int | None) -> SlotRule:
    """The rule itself where it has no bounds."""
    return rule if before is None and after is None else Bounded(rule, before, after)
