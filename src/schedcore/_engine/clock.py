"""The one room that reads the machine's clocks. Everything else has time handed in."""

from __future__ import annotations

import time

__all__ = ["boot", "wall"]


def wall() -> int:
    """The machine's wall clock, in microseconds since 1970."""
    return time.time_ns() // 1000


if hasattr(time, "CLOCK_BOOTTIME"):

    def boot() -> int:
        """The boot-time clock in microseconds: it never steps, and it goes on while the machine sleeps."""
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000

else:

    def boot() -> int:
        """The monotonic clock in microseconds, where there is no boot-time clock."""
        return time.monotonic_ns() // 1000
