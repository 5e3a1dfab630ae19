"""The next slots of a trigger, for people: UTC, local, and what a clock change does to them (P-12)."""

from __future__ import annotations

from dataclasses import dataclass

from schedcore.domain.clock import text
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.describe import describe_note
from schedcore.domain.errors import Refused, shown
from schedcore.domain.local import local_text
from schedcore.domain.trigger import Trigger

__all__ = ["MOST", "PreviewSlot", "preview"]

#: How many slots one preview shows at most.
MOST = 100


@dataclass(frozen=True, slots=True)
class PreviewSlot:
    """One slot to come: ``us`` in UTC, ``local`` ISO text with offset, ``note`` on a clock change.

    ``change`` is the note as data, for another language.
    """

    us: int
    local: str
    note: str | None
    change: ClockNote | None = None

    def as_dict(self) -> dict[str, str | None]:
        """The form that ``schedcore next --json`` prints."""
        return {"utc": text(self.us), "local": self.local, "note": self.note}


def preview(
    trigger: Trigger, after_us: int, n: int = 5, *, remaining: int | None = None, lang: str = "en"
) -> list[PreviewSlot]:
    """The next ``n`` (1-100) slots after an instant; fewer when the trigger ends.

    ``remaining`` is what a ``count`` leaves (:meth:`Trigger.remaining`); without it, the whole count.
    Raises :class:`Refused` (``bad_count``, ``unknown_language``).
    """
    if type(n) is not int or not 1 <= n <= MOST:
        raise Refused(
            f"{shown(n)} slots", code="bad_count", field="n", value=n, hint=f"a number, 1 to {MOST}"
        )
    left = trigger.count if remaining is None else remaining
    slots: list[PreviewSlot] = []
    while len(slots) < (n if left is None else min(n, left)):
        slot = trigger.next(after_us)
        if slot is None:
            break
        change = trigger.touched(slot)
        note = None if change is None else describe_note(change, lang)
        slots.append(PreviewSlot(slot, local_text(slot, trigger.zone), note, change))
        after_us = slot
    return slots
