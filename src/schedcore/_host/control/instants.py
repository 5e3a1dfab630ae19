"""Instants as people write them in a question: RFC 3339, a wall clock of the job's zone, or so long ago."""

from __future__ import annotations

from schedcore.domain.at import parse_instant
from schedcore.domain.clock import SECOND
from schedcore.domain.duration import parse_duration
from schedcore.domain.errors import Refused

__all__ = ["ago_or_instant", "instant_of"]


def instant_of(value: str, zone: str, field: str) -> int:
    """The instant of a text. Raises :class:`Refused` (``bad_instant``)."""
    return parse_instant(value, zone, field)[0]


def ago_or_instant(value: str | None, now: int, field: str) -> int | None:
    """``24h`` is that long before now; anything else is an instant, in UTC where it names no offset."""
    if value is None:
        return None
    if isinstance(value, str) and value[:1].isdigit() and "-" not in value:
        return now - parse_duration(value, field, maximum=100 * 366 * 86_400) * SECOND
    if isinstance(value, str) and value[:1] == "P":
        return now - parse_duration(value, field, maximum=100 * 366 * 86_400) * SECOND
    try:
        return instant_of(value, "UTC", field)
    except Refused as error:
        error.hint = f"{error.hint}; or how long ago, such as '24h'"
        raise
