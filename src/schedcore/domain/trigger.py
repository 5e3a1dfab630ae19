"""A trigger as one frozen value: a rule, its zone, its bounds and its jitter (T-01).

A trigger is a pure function: the same value and the same instant give the same slot, on every host and after
every restart. All instants here are integer microseconds since 1970 in UTC; slots strictly rise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

from schedcore.domain.at import At, refuse_past
from schedcore.domain.clock import SECOND, text
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.errors import Refused
from schedcore.domain.every import FLOOR_S
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
    ``gap`` and ``fold`` are the choices of P-03. ``not_before`` and ``not_after`` bound the slots, both
    inclusive. ``count`` is how many slots there are at most: the caller knows how many there were, see
    :meth:`remaining`. ``jitter`` is in seconds. ``anchor`` is the anchor of an interval, ``anchor_given``
    whether it is a slot itself.
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

    @classmethod
    def parse(
        cls,
        data: Mapping[str, Any] | str,
        *,
        now_us: int,
        default_zone: str = "UTC",
        floor_s: int = FLOOR_S,
        past_ok: bool = False,
        kinds: TriggerKinds | None = None,
        field: str = "trigger",
    ) -> Trigger:
        """The trigger that a form, a job file or a text describes, registered at ``now_us``.

        ``default_zone`` is the host's, for a trigger that names none; ``floor_s`` the shortest interval in
        seconds; ``past_ok`` takes a one-shot of any age, for a declaration that is read again.
        Raises :class:`Refused` with the path below ``field``; nothing is read from the machine.
        (T-01 to T-05, P-03, P-33, T-11)
        """
        if isinstance(data, Mapping) and "cron" in data and not kinds:
            given = tuple(data.items())
            if all(isinstance(value, str) for _, value in given):  # nothing of it depends on when it is read
                return _cron(given, default_zone, floor_s, field, tz_version())
        form = read_form(data, kinds or {}, field)
        trigger = cls(**read_parts(form, field, now_us, default_zone, floor_s, kinds or {}))
        if isinstance(trigger.rule, At) and not past_ok:
            refuse_past(trigger.rule.us, now_us, form.field)
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
        return cls(**read_parts(form, "trigger", 0, "UTC", 1, kinds or {}, anchor_given=given))

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
        return stored

    def next(self, after_us: int) -> int | None:
        """The first slot strictly later than an instant, within the bounds; ``None`` if there is none."""
        if self.not_before is not None and after_us < self.not_before:
            after_us = self.not_before - 1
        slot = self.rule.next(after_us)
        if slot is None or (self.not_after is not None and slot > self.not_after):
            return None
        return slot

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
        return self.rule.count_between(*self._bounded(after_us, until_us))

    def newest(self, after_us: int, until_us: int, n: int) -> list[int]:
        """The newest ``n`` slots in ``(after, until]``, oldest first."""
        return self.rule.newest(*self._bounded(after_us, until_us), n)

    def is_slot(self, us: int) -> bool:
        """Is this instant a slot?"""
        return self.next(us - 1) == us

    def touched(self, us: int) -> ClockNote | None:
        """What a clock change did to a slot (P-12)."""
        return self.rule.touched(us)

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
        if self.kind != other.kind or (self.not_before, self.not_after, self.count) != (
            other.not_before,
            other.not_after,
            other.count,
        ):
            return False
        same: Callable[[Any], bool | None] | None = getattr(self.rule, "same_times", None)
        said = same(other.rule) if same and type(self.rule) is type(other.rule) else None
        return (self.text, self.zone) == (other.text, other.zone) if said is None else said

    def _bounded(self, after_us: int, until_us: int) -> tuple[int, int]:
        if self.not_before is not None:
            after_us = max(after_us, self.not_before - 1)
        if self.not_after is not None:
            until_us = min(until_us, self.not_after)
        return after_us, until_us


@lru_cache(4096)
def _cron(given: tuple[tuple[str, str], ...], zone: str, floor_s: int, field: str, tz: str) -> Trigger:
    """A cron trigger of texts alone, read once for all jobs that say it in the same words."""
    return Trigger(**read_parts(read_form(dict(given), {}, field), field, 0, zone, floor_s, {}))
