"""The trigger of a job that is edited: the stored one with fields changed, or the stored one as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._engine import moves
from schedcore._engine.calendars import gone
from schedcore.domain.errors import Refused, SchedcoreError
from schedcore.domain.job_trigger import Appointed
from schedcore.domain.names import TRIGGER_FIELDS

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker

__all__ = ["edited_trigger", "stored_appointment"]

_RULE = ("cron", "every", "at", "text", "in", "kind", "anchor")
_OWN = ("zone", "calendar", "on_closed")


def edited_trigger(
    current: dict[str, Any], nested: Any, flat: Mapping[str, Any], taken: Mapping[str, Any]
) -> dict[str, Any]:
    """The stored trigger with fields changed. Another rule keeps zone, calendar and bounds, and nothing else."""
    old = orjson.loads(current["trigger"]) or {}
    if isinstance(old.get("calendar"), Mapping):  # the definition holds it whole, an order names it
        old["calendar"] = old["calendar"].get("name")
    if isinstance(nested, str):
        nested = {"text": nested}
    if nested is not None and not isinstance(nested, Mapping):
        raise Refused("a trigger is a table or a text", code="no_trigger", field="trigger", value=nested)
    new: dict[str, Any] = {}
    for name, value in {**(nested or {}), **flat}.items():
        new[TRIGGER_FIELDS.find(str(name)) or str(name)] = value
    if nested is not None and not flat:
        kept = {n: old.get(n) for n in _OWN}  # a whole trigger: these are the job's own
    elif any(name in new for name in _RULE):
        kept = {n: old[n] for n in (*_OWN, "not_before", "not_after", "count") if n in old}
    else:
        kept = {n: v for n, v in old.items() if n not in {"anchor", "anchor_given"}}
        if old.get("anchor") and (old.get("anchor_given") or old.get("kind") == "every"):
            kept["anchor"] = old["anchor"]  # the grid stays where it is
    gone = {TRIGGER_FIELDS.find(name) or name for name in taken}
    if "calendar" in gone:
        gone.add("on_closed")
    return {n: v for n, v in (kept | new).items() if v is not None and n not in gone}


def stored_appointment(control: Asker, job: dict[str, Any], current: dict[str, Any]) -> Appointed:
    """The stored trigger, as it is. Raises :class:`Refused` where it cannot be read and was not replaced."""
    try:
        trigger = moves.trigger_of(current, control.kinds())
    except SchedcoreError as error:
        raise Refused(
            f"the stored trigger cannot be read: {error.message}",
            code="invalid",
            field="trigger",
            hint="give the job a new trigger in the same edit",
        ) from None
    if trigger is None:
        raise Refused("the job has no trigger", code="missing", field="trigger")
    if gone(job["state_reason"]):  # an edit resumes what is invalid, and this would be so again
        raise Refused(
            str(job["state_reason"]).removeprefix("invalid: "),
            code="invalid",
            field="trigger.calendar",
            value=trigger.calendar.name if trigger.calendar is not None else None,
            hint="give the job another calendar, or none, in the same edit",
        )
    return Appointed(trigger, orjson.loads(job["extra"] or "{}").get("relative"))
