"""The next slots of a trigger, for people: UTC, local, and what clock changes and calendars do to them (P-12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedcore.domain.clock import text
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.closing import Closing
from schedcore.domain.describe import describe_before, describe_closing, describe_note
from schedcore.domain.errors import Refused, shown
from schedcore.domain.local import local_text
from schedcore.domain.trigger import Trigger

__all__ = ["MOST", "Dropped", "PreviewSlot", "preview"]

#: How many slots one preview shows at most.
MOST = 100


@dataclass(frozen=True, slots=True)
class Dropped:
    """Slots in a row that a calendar drops: the first, the last, how many, and in words why the first is."""

    first: int
    last: int
    count: int
    zone: str
    note: str

    def as_dict(self) -> dict[str, Any]:
        """The form that ``schedcore next --json`` prints."""
        ends = {"first": text(self.first), "first_local": local_text(self.first, self.zone)}
        ends |= {"last": text(self.last), "last_local": local_text(self.last, self.zone)}
        return {**ends, "slots": self.count, "reason": "calendar", "note": self.note}


@dataclass(frozen=True, slots=True)
class PreviewSlot:
    """One slot to come that is not dropped: ``us`` in UTC, ``local`` ISO text with offset.

    ``note`` says what a clock change, a calendar, or a stretch of dropped slots before it has to do with it;
    ``change`` and ``closing`` are the note as data, for another language, and ``dropped`` is that stretch.
    """

    us: int
    local: str
    note: str | None
    change: ClockNote | None = None
    closing: Closing | None = None
    dropped: Dropped | None = None

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
    while len(slots) < n and (slot := trigger.next_kept(after_us, left)) is not None:
        slots.append(_shown(trigger, after_us, slot, lang))
        left = None if left is None else left - trigger.count_between(after_us, slot)
        after_us = slot
    return slots


def _shown(trigger: Trigger, after_us: int, slot: int, lang: str) -> PreviewSlot:
    change, closing, dropped = trigger.touched(slot), trigger.closing(slot), None
    notes = [] if change is None else [describe_note(change, lang)]
    if closing is not None:
        notes.append(describe_closing(closing, trigger.zone, lang))
    if trigger.drops and (count := trigger.count_between(after_us, slot - 1)):
        dropped = _dropped(trigger, after_us, slot, count, lang)
        notes.append(describe_before(dropped.note, lang))
    return PreviewSlot(
        slot, local_text(slot, trigger.zone), "; ".join(notes) or None, change, closing, dropped
    )


def _dropped(trigger: Trigger, after_us: int, slot: int, count: int, lang: str) -> Dropped:
    first, last = trigger.next(after_us), trigger.newest(after_us, slot - 1, 1)[0]
    assert first is not None
    closing = trigger.closing(first)
    assert closing is not None
    note = describe_closing(closing, trigger.zone, lang, count=count)
    return Dropped(first, last, count, trigger.zone, note)
