"""How catch-up runs start: oldest first, apart, never in the way of present ones (P-24)."""

from __future__ import annotations

from schedcore.domain.clock import MINUTE, SECOND

__all__ = ["Pace"]

_WITHIN = 10 * MINUTE


class Pace:
    """The pace of one host: the smaller of ``apart`` seconds and 10 min / how many wait, per burst."""

    __slots__ = ("_apart", "_burst", "next_at")

    def __init__(self, apart_s: float) -> None:
        self._apart = int(apart_s * SECOND)
        self._burst = 0
        self.next_at = 0

    def due(self, now: int, waiting: int) -> bool:
        """May a catch-up run start now? ``waiting`` is how many there are; none ends the burst."""
        if not waiting:
            self._burst = 0
            return False
        self._burst = max(self._burst, waiting)
        return now >= self.next_at

    def began(self, now: int) -> None:
        """One has started."""
        self.next_at = now + min(self._apart, _WITHIN // max(self._burst, 1))
