"""A clock that stands still, is advanced, and is sometimes set back (P-15)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from schedcore.domain.clock import SECOND, from_us, to_us

__all__ = ["ManualClock"]


class ManualClock:
    """The wall clock, the boot-time clock and lease time of a test; nothing moves them but the test.

    ``start`` is an aware ``datetime`` or a text that ``datetime.fromisoformat`` reads, with its offset.
    """

    def __init__(self, start: datetime | str = "2026-06-01T08:00:00+00:00") -> None:
        given = datetime.fromisoformat(start) if isinstance(start, str) else start
        self._wall = to_us(given)
        self._boot = 1_000_000 * SECOND

    def wall(self) -> int:
        """Microseconds since 1970."""
        return self._wall

    def boot(self) -> int:
        """Microseconds of the boot-time clock."""
        return self._boot

    def now(self, c: Any = None) -> int:
        """Now, as the ledger tells it."""
        return self._wall

    def lease(self, c: Any = None) -> int:
        """Lease time, as the ledger tells it: the boot-time clock."""
        return self._boot

    @property
    def instant(self) -> datetime:
        """Now as an aware ``datetime`` in UTC."""
        return from_us(self._wall)

    def advance(self, seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Let time pass: both clocks move."""
        by = round((seconds + 60 * minutes + 3600 * hours + 86400 * days) * SECOND)
        self._wall += by
        self._boot += by

    def step(self, seconds: float = 0, *, hours: float = 0, days: float = 0) -> None:
        """Step the wall clock, forward or back; the boot-time clock and lease time do not see it."""
        self._wall += round((seconds + 3600 * hours + 86400 * days) * SECOND)

    def set(self, instant: datetime | str) -> None:
        """Let time pass until an instant."""
        given = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
        by = to_us(given) - self._wall
        self._wall += by
        self._boot += max(by, 0)
