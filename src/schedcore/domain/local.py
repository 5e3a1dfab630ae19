"""An instant as the clock of a zone shows it, with its offset (L-04: beside UTC, never instead of it)."""

from __future__ import annotations

from datetime import timedelta, timezone

from schedcore.domain.clock import SECOND, from_us
from schedcore.domain.timeline import timeline

__all__ = ["local_text"]


def local_text(us: int, zone: str) -> str:
    """``2026-03-08T03:00:00-04:00``, with milliseconds when there are any. Raises as ``zones.zone`` does."""
    offset = timezone(timedelta(seconds=timeline(zone).offset(us) // SECOND))
    there = from_us(us).astimezone(offset)
    return there.isoformat(timespec="milliseconds" if us % SECOND else "seconds")
