"""The machine's wall clock for whoever only asks what time it is; decisions get theirs handed in."""

from __future__ import annotations

from schedcore._engine.clock import wall

__all__ = ["now"]


def now() -> int:
    """Microseconds since 1970."""
    return wall()
