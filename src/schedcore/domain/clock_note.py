"""What a clock change did to a slot, as data; :mod:`describe` has the words (P-03, P-12)."""

from __future__ import annotations

from dataclasses import dataclass

from schedcore.domain.clock import DAY, MINUTE, from_us

__all__ = ["NOTES", "ClockNote", "wall_day", "wall_time"]

#: Every code of a note.
NOTES = ("fold_first", "fold_second", "gap_at_once", "gap_shift", "gap_skipped")


@dataclass(frozen=True, slots=True)
class ClockNote:
    """A clock change that touches a slot.

    ``gap_at_once``: ``wall`` does not exist on ``day``; the slot is the first instant after the gap.
    ``gap_shift``: the same, moved by the length of the gap.
    ``gap_skipped``: ``wall`` of ``day``, before this slot, did not exist and got no slot.
    ``fold_first``, ``fold_second``: ``wall`` comes twice on ``day``; which pass this slot is.
    ``wall`` is ``HH:MM``, ``until`` the last wall time concerned if there are several, ``day``
    ``YYYY-MM-DD``, ``fires`` the wall time of the slot itself.
    """

    code: str
    day: str
    wall: str
    until: str
    fires: str


def wall_time(minute: int) -> str:
    """``HH:MM`` of a wall minute."""
    hour, rest = divmod(minute % (DAY // MINUTE), 60)
    return f"{hour:02}:{rest:02}"


def wall_day(minute: int) -> str:
    """``YYYY-MM-DD`` of a wall minute."""
    return from_us(minute * MINUTE).date().isoformat()
