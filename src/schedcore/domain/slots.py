"""What a trigger needs from a rule: the next slot, their number, and the newest of them (T-01).

A plugin's trigger kind gives an object of this shape. One that can only tell the next slot is wrapped in
:class:`Walked`, which counts by walking.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from schedcore.domain.clock_note import ClockNote
from schedcore.domain.errors import PluginFault

__all__ = ["SlotRule", "Walked"]


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


class Walked:
    """A rule that is only a ``next``: the rest is found by walking, at most ``limit`` slots a question.

    Raises :class:`PluginFault` (``trigger_fault``) when ``next`` answers something that is no later instant,
    or when a walk passes the limit.
    """

    __slots__ = ("_limit", "_name", "_next")

    def __init__(self, name: str, next_slot: Callable[[int], int | None], *, limit: int = 1_000_000) -> None:
        self._name, self._next, self._limit = name, next_slot, limit

    def next(self, after_us: int) -> int | None:
        """See :class:`SlotRule`."""
        slot = self._next(after_us)
        if slot is not None and (type(slot) is not int or slot <= after_us or slot % 1_000):
            raise PluginFault(
                f"trigger kind {self._name!r} answered {slot!r} to next({after_us})",
                code="trigger_fault",
                value=slot,
                hint="a slot is an int, microseconds in whole milliseconds, later than the instant given",
            )
        return slot

    def count_between(self, after_us: int, until_us: int) -> int:
        """See :class:`SlotRule`."""
        return self._walk(after_us, until_us, 0)[0]

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """See :class:`SlotRule`."""
        return self._walk(after_us, until_us, n)[1]

    def touched(self, us: int) -> ClockNote | None:
        """A rule of which nothing is known but its slots says nothing about clock changes."""
        return None

    def _walk(self, after_us: int, until_us: int, n: int) -> tuple[int, list[int]]:
        kept: deque[int] = deque(maxlen=max(n, 0))
        for count in range(self._limit):
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
