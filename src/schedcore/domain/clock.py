"""Instants as values: integer microseconds in UTC, and the one text form outside the tables (L-04).

This module reads no clock. Inside the core an instant is an ``int``, microseconds since 1970 in UTC;
at a Python door it is an aware ``datetime``; in keys, exports and JSON it is the 24 characters
``YYYY-MM-DDTHH:MM:SS.mmmZ``. A slot is a whole millisecond.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from schedcore.domain.errors import Refused

__all__ = ["DAY", "HOUR", "MILLISECOND", "MINUTE", "SECOND", "from_us", "parse_text", "text", "to_us"]

MILLISECOND = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_US = timedelta(microseconds=1)
_TEXT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z", re.ASCII
)


def to_us(instant: datetime) -> int:
    """Microseconds since 1970 of an aware ``datetime``.

    Raises :class:`Refused` (``naive_instant``) for a naive one.
    """
    if instant.tzinfo is None:
        raise Refused(
            f"{instant.isoformat()} has no time zone",
            code="naive_instant",
            value=instant.isoformat(),
            hint="give an aware datetime, e.g. datetime(…, tzinfo=timezone.utc)",
        )
    return (instant - _EPOCH) // _US


def from_us(us: int) -> datetime:
    """The aware ``datetime`` in UTC of an instant in microseconds."""
    return _EPOCH + us * _US


def text(us: int) -> str:
    """The 24 characters ``YYYY-MM-DDTHH:MM:SS.mmmZ``; microseconds are cut. Text order is time order."""
    return (_EPOCH + us * _US).isoformat(timespec="milliseconds")[:23] + "Z"


def parse_text(value: str) -> int:
    """The inverse of :func:`text`: exactly those 24 characters, else ``ValueError``."""
    if not _TEXT.fullmatch(value):
        raise ValueError(f"not an instant of the form YYYY-MM-DDTHH:MM:SS.mmmZ: {value!r}")
    return (datetime.fromisoformat(value) - _EPOCH) // _US
