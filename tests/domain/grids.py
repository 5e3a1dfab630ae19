"""Tiny triggers to plan with: a grid, and a list of instants."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from schedcore.domain.clock import SECOND


@dataclass(frozen=True)
class Grid:
    """A slot at ``origin + k * step`` seconds for every whole k, as ``every`` has it."""

    step: int
    origin: int = 0

    def next(self, after: int) -> int:
        return self.origin + ((after - self.origin) // (self.step * SECOND) + 1) * self.step * SECOND

    def count_between(self, after: int, until: int) -> int:
        step = self.step * SECOND
        return max(0, (until - self.origin) // step - (after - self.origin) // step)

    def newest(self, after: int, until: int, n: int) -> list[int]:
        step = self.step * SECOND
        last = self.origin + (until - self.origin) // step * step
        return [s for s in range(last - (n - 1) * step, last + 1, step) if s > after]


class Listed:
    """The slots are these instants, in microseconds."""

    def __init__(self, slots: Iterable[int]) -> None:
        self.slots = sorted(set(slots))
        self.longest_list = 0

    def next(self, after: int) -> int | None:
        at = bisect_right(self.slots, after)
        return self.slots[at] if at < len(self.slots) else None

    def count_between(self, after: int, until: int) -> int:
        return max(0, bisect_right(self.slots, until) - bisect_right(self.slots, after))

    def newest(self, after: int, until: int, n: int) -> list[int]:
        found = [s for s in self.slots if after < s <= until][-n:]
        self.longest_list = max(self.longest_list, len(found))
        return found
