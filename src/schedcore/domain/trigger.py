"""A trigger as one frozen value: a rule, its zone, its bounds, its calendar and its jitter (T-01).

A trigger is a pure function: the same value and the same instant give the same slot, on every host and after
every restart. All instants here are integer microseconds since 1970 in UTC; slots strictly rise.

Rule, bounds, calendar, jitter: in this order. ``line`` gives the slots that are owed a decision, ``kept``
those among them that the calendar lets run; without a calendar that drops they are one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

from schedcore.domain.at import At, refuse_past
from schedcore.domain.bounds import bounded
from schedcore.domain.calendar import Calendar, Calendars
from schedcore.domain.clock import SECOND, text
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.closing import Closing, closing_of
from schedcore.domain.cron import Cron
from schedcore.domain.errors import Refused
from schedcore.domain.every import FLOOR_S, Every
from schedcore.domain.kept import Kept
from schedcore.domain.moved import Moved
from schedcore.domain.names import fold
from schedcore.domain.open_hours import OpenHours
from schedcore.domain.slots import SlotRule
from schedcore.domain.trigger_form import read_form
from schedcore.domain.trigger_parts import TriggerKinds, read_parts
from schedcore.domain.zones import tz_version

__all__ = ["Trigger"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a job has its slots.

    Made by :meth:`parse` from what people write, or by :meth:`from_dict` from the ledger.
    ``kind`` is ``cron``, ``every``, ``at`` or a plugin's; ``text`` the rule as written; ``zone`` an IANA key.
    ``gap`` and ``fold`` are the choices of P-03. ``not_before`` and ``not_after`` bound the instants of the
    rule, both inclusive. ``count`` is how many slots there are at most: the caller knows how many there were,
    see :meth:`remaining`. ``jitter`` is in seconds. ``anchor`` is the anchor of an interval, ``anchor_given``
    whether it is a slot itself. ``calendar`` judges the slots, and ``on_closed`` says what becomes of those in
    closed time: ``drop``, ``move`` or ``keep`` (F-15).
    """

    kind: str
    text: str
    zone: str
    rule: SlotRule = field(compare=False, repr=False)
    gap: str = "at_once"
    fold: str = "first"
    not_before: int | None = None
    not_after: int | None = None
    count: int | None = None
    jitter: int = 0
    anchor: int | None = None
    anchor_given: bool = False
    calendar: Calendar | None = None
    on_closed: str = "drop"
    line: SlotRule = field(init=False, compare=False, repr=False)
    kept: SlotRule = field(init=False, compare=False, repr=False)
    hours: OpenHours | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        line = kept = bounded(self.rule, self.not_before, self.not_after)
        hours = None if self.calendar is None else OpenHours(self.calendar, self.zone)
        if hours is not None and self.on_closed == "move":
            line = kept = Moved(line, hours, even=isinstance(self.rule, Cron | Every))
        elif hours is not None and self.on_closed == "drop":
            kept = Kept(line, hours)
        for name, value in (("line", line), ("kept", kept), ("hours", hours)):
            object.__setattr__(self, name, value)

    @classmethod
    def parse(
        cls,
        data: Mapping[str, Any] | str,
        *,
        now_us: int,
        default_zone: str = "UTC",
        floor_s: int = FLOOR_S,
        past_ok: bool = False,
        closed_ok: bool = False,
        kinds: TriggerKinds | None = None,
        calendars: Calendars | None = None,
        field: str = "trigger",
    ) -> Trigger:
        """The trigger that a form, a job file or a text describes, registered at ``now_us``.

        ``default_zone`` is the host's, for a trigger that names none; ``floor_s`` the shortest interval in
        seconds; ``past_ok`` takes a one-shot of any age, for a declaration that is read again, and ``closed_ok``
        one that its calendar drops; ``calendars`` is what there is of calendars. Raises :class:`Refused` with the
        path below ``field``; nothing is read from the machine. (T-01 to T-05, P-03, P-33, T-11, F-15)
        """
        if isinstance(data, Mapping) and "cron" in data and not kinds:
            given = tuple(data.items())
            plain = all(type(value) is str and fold(str(name)) != "calendar" for name, value in given)
            if plain:  # nothing of it depends on when it is read, or by whom
                return _cron(given, default_zone, floor_s, field, tz_version())
        form = read_form(data, kinds or {}, field)
        parts = read_parts(form, field, now_us, default_zone, floor_s, kinds or {}, calendars or Calendars())
        trigger = cls(**parts)
        if isinstance(trigger.rule, At) and not past_ok:
            refuse_past(trigger.rule.us, now_us, form.field)
        if not closed_ok:
            trigger.refuse_closed(now_us, f"{field}.on_closed")
        return trigger

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, kinds: TriggerKinds | None = None) -> Trigger:
        """The inverse of :meth:`to_dict`; a wall clock is read again, with the zone data of today (P-28).

        Raises :class:`Refused` for anything else.
        """
        rest = dict(data)
        given = rest.pop("anchor_given", False) is True
        form = read_form(rest, kinds or {}, "trigger")
        if form.kind == "in":
            raise Refused("a stored trigger does not count from now", code="unknown_kind", field=form.field)
        return cls(**read_parts(form, "trigger", 0, "UTC", 1, kinds or {}, None, anchor_given=given))

    def to_dict(self) -> dict[str, Any]:
        """The stored form: ready for JSON, complete, defaults left out; instants as in L-04."""
        stored: dict[str, Any] = {"kind": self.kind, "text": self.text, "zone": self.zone}
        if self.gap != "at_once":
            stored["gap"] = self.gap
        if self.fold != "first":
            stored["fold"] = self.fold
        for name in ("not_before", "not_after", "anchor"):
            if (us := getattr(self, name)) is not None:
                stored[name] = text(us)
        if self.anchor_given:
            stored["anchor_given"] = True
        if self.count is not None:
            stored["count"] = self.count
        if self.jitter:
            stored["jitter"] = self.jitter
        if self.calendar is not None:
            stored["calendar"] = self.calendar.to_dict()
            stored["on_closed"] = self.on_closed
        return stored

    @property
    def drops(self) -> bool:
        """Does its calendar drop slots? Then those of ``line`` that are not in ``kept`` get no run."""
        return self.kept is not self.line

    def next(self, after_us: int) -> int | None:
        """The first slot strictly later than an instant; ``None`` if there is none."""
        return self.line.next(after_us)

    def next_kept(self, after_us: int, left: int | None = None) -> int | None:
        """The first slot later than an instant that is not dropped; ``left`` is what remains of the count."""
        slot = None if left == 0 else self.kept.next(after_us)
        if slot is None or left is None or not self.drops:
            return slot
        return slot if self.line.count_between(after_us, slot) <= left else None

    def owed_from(self, created_us: int) -> int:
        """The instant after which slots are owed: creation, or just before a one-shot that was due at it."""
        if isinstance(self.rule, At):
            return min(created_us, self.rule.us - 1)
        return created_us

    def first_after_creation(self, created_us: int) -> int | None:
        """The first slot of a job that was created, or got this trigger, at an instant."""
        return self.next(self.owed_from(created_us))

    def count_between(self, after_us: int, until_us: int) -> int:
        """How many slots are in ``(after, until]``, by arithmetic where the rule can."""
        return self.line.count_between(after_us, until_us)

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """The newest ``n`` slots in ``(after, until]``, oldest first."""
        return self.line.newest(after_us, until_us, n)

    def is_slot(self, us: int) -> bool:
        """Is this instant a slot?"""
        return self.next(us - 1) == us

    def touched(self, us: int) -> ClockNote | None:
        """What a clock change did to a slot (P-12)."""
        return self.line.touched(us)

    def closing(self, us: int) -> Closing | None:
        """What the calendar does to a slot, or to an instant of the rule that is moved away; else ``None``."""
        if self.calendar is None or self.hours is None:
            return None
        return closing_of(self.line, self.hours, self.on_closed, us)

    def refuse_closed(self, after_us: int, field: str | None = None) -> None:
        """Refuse (``never_fires``) a trigger whose slots after an instant are all dropped by its calendar."""
        if not self.drops or self.calendar is None or self.hours is None:
            return
        start = self.owed_from(after_us)
        first = self.line.next(start)
        if first is None or self.next_kept(start, self.count) is not None:
            return
        raise Refused(
            f"it never fires: calendar {self.calendar.name!r} drops all its slots, the first at {text(first)}"
            f" because {self.hours.entry(first)!r} is closed",
            code="never_fires",
            field=field,
            value=self.on_closed,
            hint="take on_closed = 'move', another time, or no calendar",
        )

    def remaining(self, opened: int) -> int | None:
        """How many slots are left after ``opened`` ones; ``None`` without a ``count``. (P-33)"""
        return None if self.count is None else max(self.count - opened, 0)

    def jitter_of(self, job_id: str, slot_us: int) -> int:
        """By how many microseconds the start of a slot is put off: a hash of (job, slot). (T-11)

        At least 0, below ``jitter`` seconds, and short enough to stay before the next slot; 0 without jitter.
        """
        if not self.jitter:
            return 0
        span = self.jitter * SECOND
        following = self.next(slot_us)
        if following is not None:
            span = min(span, following - slot_us)
        digest = sha256(f"{job_id}|{text(slot_us)}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % span

    def same_times(self, other: Trigger) -> bool:
        """Would both give the same slots, however they are written?

        Jitter moves no slot and does not count; nor does an anchor that was taken from the registration.
        """
        if self._limits() != other._limits():
            return False
        same: Callable[[Any], bool | None] | None = getattr(self.rule, "same_times", None)
        said = same(other.rule) if same and type(self.rule) is type(other.rule) else None
        return (self.text, self.zone) == (other.text, other.zone) if said is None else said

    def _limits(self) -> tuple[Any, ...]:
        calendar = (self.calendar, self.on_closed) if self.on_closed != "keep" else (None, "drop")
        return self.kind, self.not_before, self.not_after, self.count, *calendar


@lru_cache(4096)
def _cron(given: tuple[tuple[str, str], ...], zone: str, floor_s: int, field: str, tz: str) -> Trigger:
    """A cron trigger of texts alone, read once for all jobs that say it in the same words."""
    form = read_form(dict(given), {}, field)
    return Trigger(**read_parts(form, field, 0, zone, floor_s, {}, Calendars()))
