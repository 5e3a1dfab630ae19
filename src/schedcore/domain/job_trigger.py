"""The trigger of a job as people write it: a table or a text, or flat beside the other fields.

``cron``, ``every``, ``at``, ``in`` and ``zone`` may stand in the job itself or in its ``trigger``. What is
relative (``in``, or no trigger at all, which is a one-shot due at once, T-21) becomes an instant here, and is
remembered, so that the same declaration read later is still the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from schedcore.domain.calendar import Calendars
from schedcore.domain.clock import SECOND, text
from schedcore.domain.duration import parse_duration
from schedcore.domain.errors import Refused
from schedcore.domain.names import TRIGGER_FIELDS
from schedcore.domain.reading import path, same, twice, wrong
from schedcore.domain.trigger import Trigger
from schedcore.domain.trigger_parts import TriggerKinds

__all__ = ["Appointed", "read_trigger"]

_YEAR = 366 * 86_400
_KINDS = ("cron", "every", "at", "text")


@dataclass(frozen=True, slots=True)
class Appointed:
    """A trigger, and how it is relative to the moment of reading: ``now``, ``in N`` (seconds), or not."""

    trigger: Trigger
    relative: str | None = None
    anew: bool = False
    """Whether "relative" counts from this order on, even where the job said the same before: so in an edit that
    names it. A declaration that is read again means the job as it is."""

    def content(self) -> Any:
        """What of it is the declaration's own, the same whenever it is read: of a calendar, its name."""
        stored = self.trigger.to_dict()
        if self.trigger.calendar is not None:
            stored["calendar"] = self.trigger.calendar.name
        if self.relative is not None:
            judged = [stored[name] for name in ("calendar", "on_closed") if name in stored]
            return [self.relative, self.trigger.zone, *judged]
        if not self.trigger.anchor_given:
            stored.pop("anchor", None)
        return stored


def read_trigger(
    nested: Any,
    flat: Mapping[str, Any],
    *,
    now_us: int,
    default_zone: str,
    floor_s: int,
    past_ok: bool = False,
    kinds: TriggerKinds | None = None,
    calendars: Calendars | None = None,
    nested_name: str = "trigger",
) -> Appointed:
    """The trigger of a job ordered at ``now_us``.

    ``nested`` is its field ``trigger``, ``flat`` what stands beside it, by the names given. The other
    arguments are those of :meth:`Trigger.parse`. Raises ``Refused`` with the path as it was written.
    """
    given, paths = _merged(nested, flat, nested_name)
    relative = None
    if "in" in given:
        if any(name in given for name in _KINDS):
            raise wrong("one trigger has one kind", paths["in"], given["in"], "two_kinds", "keep one of them")
        seconds = parse_duration(given.pop("in"), paths["in"], maximum=_YEAR)
        given["at"], paths["at"], relative = text(now_us + seconds * SECOND), paths["in"], f"in {seconds}"
    elif not any(name in given for name in (*_KINDS, "kind", *(kinds or ()))):
        given["at"], relative = text(now_us), "now"
    try:
        trigger = Trigger.parse(
            given,
            now_us=now_us,
            default_zone=default_zone,
            floor_s=floor_s,
            past_ok=past_ok,
            closed_ok=past_ok and relative is not None,
            kinds=kinds,
            calendars=calendars,
            field="",
        )
    except Refused as error:
        raise _placed(error, paths, nested_name) from None
    return Appointed(trigger, relative)


def _merged(nested: Any, flat: Mapping[str, Any], at: str) -> tuple[dict[str, Any], dict[str, str]]:
    """All fields by own name, and where each stood."""
    given: dict[str, Any] = {}
    paths: dict[str, str] = {}
    if as_text := isinstance(nested, str):
        nested = {"text": nested}
    elif nested is not None and not isinstance(nested, Mapping):
        raise wrong("a trigger is a table or a text", at, nested, "no_trigger", '{cron = "0 9 * * 1-5"}')
    for place, fields in (("", flat), (at, nested or {})):
        for name, raw in fields.items():
            own = TRIGGER_FIELDS.find(str(name)) or str(name)
            where = at if place == at and as_text else path(place, str(name))
            if raw is None:
                continue
            value = raw.isoformat() if isinstance(raw, date) else raw
            if own in given and not same(given[own], value):
                raise twice(paths[own], where, value)
            given[own], paths[own] = value, where
    return given, paths


def _placed(error: Refused, paths: Mapping[str, str], at: str) -> Refused:
    """The error under the name by which its field was given."""
    field = (error.field or "").lstrip(".")
    head, dot, rest = field.partition(".")
    error.field = f"{paths.get(head, path(at, head) if head else at)}{dot}{rest}"
    return error
