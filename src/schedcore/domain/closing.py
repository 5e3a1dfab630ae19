"""What a calendar did to a slot, as data; :mod:`describe` has the words (F-15, P-12)."""

from __future__ import annotations

from dataclasses import dataclass

from schedcore.domain.moved import Moved
from schedcore.domain.open_hours import OpenHours
from schedcore.domain.slots import SlotRule

__all__ = ["CLOSINGS", "Closing", "closing_of"]

CLOSINGS = ("dropped", "kept", "moved_here", "moved_away")
"""Every code of a closing."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A slot that a calendar touches.

    ``dropped`` and ``kept``: the slot is in closed time. ``moved_here``: the slot stands for one that was at
    ``other``, in closed time; ``moved_away``: this is no slot, what would have been one is moved to ``other``.
    ``calendar`` is the calendar's name, ``entry`` what of it closes that time.
    """

    code: str
    calendar: str
    entry: str
    other: int | None = None


def closing_of(line: SlotRule, hours: OpenHours, on_closed: str, us: int) -> Closing | None:
    """What a calendar does to an instant of a line; ``None`` where it does nothing."""
    name = hours.name
    if isinstance(line, Moved):
        if (there := line.destination(us)) is not None:
            return Closing("moved_away", name, hours.entry(us) or "", there)
        origin = line.origin(us)
        return None if origin is None else Closing("moved_here", name, hours.entry(origin) or "", origin)
    entry = hours.entry(us)
    if entry is None or line.next(us - 1) != us:
        return None
    return Closing("kept" if on_closed == "keep" else "dropped", name, entry)
