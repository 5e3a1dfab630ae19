"""What a trigger needs from a rule: the next slot, their number, and the newest of them (T-01).

A plugin's trigger kind gives an object of this shape, or one that can only tell the next slot.
:class:`Offered` completes the latter by walking, and watches both.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol, runtime_checkable

from schedcore.domain.clock import MILLISECOND
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.errors import PluginFault

__all__ = ["Offered", "SlotRule"]


@runtime_checkable
class SlotRule(Protocol):
    """A pure rule: the answers depend on the arguments and on nothing else, and the slots strictly rise.

    All instants are integer microseconds since 1970 in UTC; a slot is a whole millisecond.
    """

    def next(self, after_us: int) -> int | None:
        """The first slot strictly later than ``after_us``, or ``None`` when there is none."""
        ...

    def count_between(self, after_us: int, until_us: int) -> int:
        """How many slots are in ``(after_us, until_us]``."""
        ...

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """The newest ``n`` slots in ``(after_us, until_us]``, oldest first."""
        ...

    def touched(self, us: int) -> ClockNote | None:
        """What a clock change did to the slot ``us``, or ``None``."""
        ...


class Offered:
    """A plugin's rule, watched: its slots rise, and what it cannot tell is found by walking.

    ``rule`` has at least ``next``. Its own ``count_between``, ``newest``, ``touched`` and ``same_times`` are
    used where it has them; else at most ``limit`` slots are walked a question. Raises :class:`PluginFault`
    (``trigger_fault``) when ``next`` answers something that is no later slot, or a walk passes the limit.
    """

    __slots__ = ("_limit", "_name", "_rule")

    def __init__(self, name: str, rule: Any, *, limit: int = 1_000_000) -> None:
        if not callable(getattr(rule, "next", None)):
            raise PluginFault(
                f"trigger kind {name!r} gave {type(rule).__name__}, which has no next()",
                code="trigger_fault",
                hint="see SlotRule",
            )
        self._name, self._rule, self._limit = name, rule, limit

    def next(self, after_us: int) -> int | None:
        """See :class:`SlotRule`."""
        slot = self._rule.next(after_us)
        if slot is None or (type(slot) is int and slot > after_us and slot % MILLISECOND == 0):
            return slot
        raise PluginFault(
            f"trigger kind {self._name!r} answered {slot!r} to next({after_us})",
            code="trigger_fault",
            value=slot,
            hint="a slot is an int, microseconds in whole milliseconds, later than the instant given",
        )

    def count_between(self, after_us: int, until_us: int) -> int:
        """See :class:`SlotRule`."""
        own = getattr(self._rule, "count_between", None)
        return own(after_us, until_us) if own else self._walk(after_us, until_us, 0)[0]

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """See :class:`SlotRule`."""
        own = getattr(self._rule, "newest", None)
        return own(after_us, until_us, n) if own else self._walk(after_us, until_us, n)[1]

    def touched(self, us: int) -> ClockNote | None:
        """See :class:`SlotRule`."""
        own = getattr(self._rule, "touched", None)
        return own(us) if own else None

    def same_times(self, other: Offered) -> bool | None:
        """What the rule itself says; ``None`` when it says nothing."""
        own = getattr(self._rule, "same_times", None)
        return bool(own(other._rule)) if own else None

    def _walk(self, after_us: int, until_us: int, n: int) -> tuple[int, list[int]]:
        kept: deque[int] = deque(maxlen=max(n, 0))
        for count in range(self._limit + 1):
            slot = self.next(after_us)
            if slot is None or slot > until_us:
                return count, list(kept)
            kept.append(slot)
            after_us = slot
        raise PluginFault(
            f"trigger kind {self._name!r} has more than {self._limit} slots in one question",
            code="trigger_fault",
            hint="the kind should offer count_between and newest of its own",
        )
