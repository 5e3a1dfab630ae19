"""What an order amounts to in rows, and what it would change of a job. Nothing is written here."""

from __future__ import annotations

from typing import Any

import orjson

from schedcore._ledger.json_text import json_text
from schedcore.domain.job import JobOrder

__all__ = ["differences", "extra_of", "stored"]


def stored(order: JobOrder) -> dict[str, str]:
    """The texts of a definition."""
    return {
        "kind": order.kind,
        "trigger": json_text(order.trigger.to_dict()),
        "policies": json_text(order.policies.to_dict()),
        "payload": json_text(dict(order.payload)),
        "toolset": json_text(list(order.toolset)),
    }


def extra_of(order: JobOrder, before: str | None = None) -> dict[str, Any]:
    """Our own fields of ``extra``; what a newer version wrote there stays (L-06)."""
    extra = {name: getattr(order, name) for name in ("description", "notify", "deliver_to")}
    extra |= {"relative": order.appointed.relative, "declared": order.state}
    kept = {name: value for name, value in orjson.loads(before or "{}").items() if name not in extra}
    return kept | {name: value for name, value in extra.items() if value is not None}


def differences(
    job: dict[str, Any], current: dict[str, Any], order: JobOrder
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """What an order would change: texts of the definition (old, new), and plain columns (new).

    Texts are compared as what they mean. A trigger that was declared in the same words is the same trigger,
    though its anchor, or the instant that "in 30m" came to, was another when it was read before.
    """
    new = stored(order)
    if _same_appointment(job, current, order):
        new["trigger"] = current["trigger"]
    changed = {k: [current[k], v] for k, v in new.items() if not _same_text(current[k], v)}
    columns = {
        "key": order.key,
        "name": order.name,
        "owner": order.owner,
        "scope": order.scope,
        "labels": json_text(dict(order.labels or {})),
        "extra": json_text(extra_of(order, job["extra"])),
        "why_so": order.reason or job["why_so"],
        "digest": order.digest(),
    }
    return changed, {k: v for k, v in columns.items() if not _same_text(job[k], v)}


def _same_text(old: Any, new: Any) -> bool:
    if old == new:
        return True
    try:
        return bool(orjson.loads(old) == orjson.loads(new))
    except (orjson.JSONDecodeError, TypeError):
        return False


def _same_appointment(job: dict[str, Any], current: dict[str, Any], order: JobOrder) -> bool:
    try:
        data = orjson.loads(current["trigger"])
        relative = orjson.loads(job["extra"] or "{}").get("relative")
        if data is None or relative != order.appointed.relative:
            return False
        if relative is not None:
            if order.appointed.anew:
                return False
            named = ("zone", "calendar", "on_closed")
            return bool(all(data.get(name) == order.trigger.to_dict().get(name) for name in named))
        new = order.trigger.to_dict()
        if not order.trigger.anchor_given:
            for form in (data, new):
                form.pop("anchor", None)
        return bool(data == new)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return False  # what storage holds cannot be read: the new one is another
