"""Intervals: slots at anchor + k·period on the UTC line, in closed form (T-03).

The anchor is fixed once, at registration, so a slow run, a restart or a manual run never moves the grid, and
a clock change is not noticed. An anchor that was given is itself a slot; one taken from the registration is
not.
"""

from __future__ import annotations

from schedcore.domain.clock import MILLISECOND, SECOND
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.duration import parse_duration
from schedcore.domain.errors import Refused

__all__ = ["CEILING_S", "FLOOR_S", "Every", "parse_every"]

#: Shortest period unless the host lowers it, to 1 s at the least; and the longest. Seconds.
FLOOR_S = 60
CEILING_S = 366 * 86_400


class Every:
    """An interval of ``period_s`` seconds from ``anchor_us``; ``given`` says whether the anchor is a slot."""

    __slots__ = ("_period", "anchor_us", "given", "period_s")

    def __init__(self, period_s: int, anchor_us: int, *, given: bool = False) -> None:
        if anchor_us % MILLISECOND:
            raise Refused(
                "an anchor is a whole millisecond", code="bad_anchor", field="anchor", value=anchor_us
            )
        self.period_s, self.anchor_us, self.given = period_s, anchor_us, given
        self._period = period_s * SECOND

    def next(self, after_us: int) -> int:
        """The first slot strictly later than an instant."""
        return self.anchor_us + self._first(after_us) * self._period

    def count_between(self, after_us: int, until_us: int) -> int:
        """How many slots are in ``(after, until]``."""
        return max(self._first(until_us) - self._first(after_us), 0)

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """The newest ``n`` slots in ``(after, until]``, oldest first."""
        end = self._first(until_us)
        start = max(self._first(after_us), end - max(n, 0))
        return [self.anchor_us + k * self._period for k in range(start, end)]

    def touched(self, us: int) -> ClockNote | None:
        """Never: the grid is on the UTC line."""
        return None

    def same_times(self, other: Every) -> bool:
        """The same period and, where both were given, the same anchor; one that was not given may be kept."""
        if self.period_s != other.period_s or self.given != other.given:
            return False
        return not self.given or self.anchor_us == other.anchor_us

    def _first(self, after_us: int) -> int:
        """The number k of the first slot later than an instant."""
        return max((after_us - self.anchor_us) // self._period + 1, 0 if self.given else 1)


def parse_every(text: str, field: str | None = "every", *, floor_s: int = FLOOR_S) -> int:
    """The period in seconds of an interval text. Raises :class:`Refused` (``bad_duration``). (T-03)"""
    return parse_duration(text, field, minimum=max(floor_s, 1), maximum=CEILING_S)
