"""Editing a job: its stored order with some fields changed, read and checked like a new one (P-27)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._engine import orders
from schedcore._engine.ordered import differences as stored_differences
from schedcore._host.control import find, reading
from schedcore._host.control.adding import refuse_taken
from schedcore._host.control.assertions import refuse_self_made
from schedcore._host.control.edited_trigger import edited_trigger, stored_appointment
from schedcore._host.control.ordering import clean_reason, now_of
from schedcore._host.control.ordering import order as ordered
from schedcore._host.control.views import changes_of, instants
from schedcore._ledger import jobs
from schedcore.domain.describe import describe
from schedcore.domain.errors import Conflict, Refused
from schedcore.domain.job import JobOrder
from schedcore.domain.job_form import read_form
from schedcore.domain.names import POLICY_FIELDS
from schedcore.domain.preview import preview

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._host.control.reading import Offer
    from schedcore._ledger.ledger import Connection

__all__ = ["differences", "edit", "stored_order"]

_PLAIN = ("name", "owner", "scope")


def edit(
    control: Asker, text: str, changes: Mapping[str, Any], *, reason: str | None, dry_run: bool
) -> dict[str, Any]:
    """See :meth:`Control.edit`."""
    reason = clean_reason(reason)
    with control.ledger.read() as c:
        now = now_of(control, c)
        known = reading.offer(control, c, now)
        job = find.job_of(c, text)
        _refuse_retired(job)
        current = jobs.definition(c, job["id"], job["definition"])
        order = changed_order(control, job, current, changes, now, known)
        refuse_taken(c, order.key, but=job["id"])
        told = differences(job, current, order)
    if not dry_run and told:
        told = ordered(control, lambda c, actor, at: _deed(control, c, job["id"], changes, actor, at, reason))
    with control.ledger.read() as c:
        after = jobs.by_ids(c, [job["id"]])[job["id"]]
    return {
        "id": job["uid"],
        "key": after["key"],
        "state": after["state"],
        "definition": after["definition"],
        "changed": told,
        "trigger": describe(order.trigger, control.lang),
        **instants(order.zone, next_run_at=after["next_run_at"]),
        "slots": [
            s.as_dict()
            for s in preview(order.trigger, max(now, after["last_slot"] or 0), 3, lang=control.lang)
        ],
        "warnings": reading.warnings_of(control, order, known),
        "dry_run": dry_run,
    }


def _deed(
    control: Asker,
    c: Connection,
    job_id: int,
    changes: Mapping[str, Any],
    actor: Any,
    now: int,
    reason: str | None,
) -> dict[str, Any]:
    """The edit, read again under the job's lock: what somebody else changed meanwhile stays changed."""
    job = jobs.lock(c, job_id)
    _refuse_retired(job)
    current = jobs.definition(c, job_id, job["definition"])
    known = reading.offer(control, c, now)
    order = changed_order(control, job, current, changes, now, known)
    return changes_of(orders.edit(control.engine, c, job, order, actor, now, reason=reason))


def _refuse_retired(job: dict[str, Any]) -> None:
    if job["state"] == "retired":
        raise Conflict(f"job {job['key']!r} is retired", code="wrong_state", field="job", value=job["key"])


def differences(job: dict[str, Any], current: dict[str, Any], order: JobOrder) -> dict[str, Any]:
    """What an order would change of a job, field by field: ``{field: [old, new]}``."""
    changed, plain = stored_differences(job, current, order)
    return changes_of({**changed, **{name: [job[name], value] for name, value in plain.items()}})


def changed_order(
    control: Asker,
    job: dict[str, Any],
    current: dict[str, Any],
    changes: Mapping[str, Any],
    now: int,
    known: Offer,
) -> JobOrder:
    """The job's stored order with fields changed; ``None`` takes a field away. Raises :class:`Refused`."""
    form = read_form({name: value for name, value in changes.items() if value is not None})
    if "state" in form.given:
        raise Refused(
            "a state is not edited",
            code="not_taken",
            field=form.name("state"),
            value=form.given["state"],
            hint="use pause, resume or remove",
        )
    taken = read_form({name: _any_of(name) for name, value in changes.items() if value is None})
    if bad := {"key", "kind", "trigger"} & taken.given.keys():
        name = min(bad)
        raise Refused("a job cannot be without it", code="missing", field=taken.name(name))
    data = stored_order(job, current)
    for name in taken.given:
        data.pop(name, None)
    for name in taken.policies:
        data.pop(_policy(name), None)
    if form.policies:
        named = {_policy(name) for name in form.policies}
        data = {name: value for name, value in data.items() if name not in named}
    payload = {name: form.given.pop(name) for name in ("prompt", "workspace") if name in form.given}
    if payload:
        form.given["payload"] = {**(form.given.get("payload") or data.get("payload") or {}), **payload}
    touches = "trigger" in form.given or form.flat or taken.flat
    given = {form.names.get(n, n): v for n, v in form.given.items() if n != "trigger"}
    data = {n: v for n, v in data.items() if n not in form.given} | given | form.policies
    if touches:
        data["trigger"] = edited_trigger(current, form.given.get("trigger"), form.flat, taken.flat)
        order = reading.read_order(control, data, now, known)
        order = replace(order, appointed=replace(order.appointed, anew=True))
    else:
        order = reading.read_order(control, data, now, known, past_ok=True)
        order = replace(order, appointed=stored_appointment(control, job, current))
    refuse_self_made(control.actor, order.policies, orjson.loads(current["policies"]))
    return order


def stored_order(job: dict[str, Any], current: dict[str, Any]) -> dict[str, Any]:
    """The order that a job's rows amount to, without its trigger and state."""
    extra = orjson.loads(job["extra"] or "{}")
    data = {"key": job["key"], "kind": current["kind"], "payload": orjson.loads(current["payload"])}
    data |= {name: job[name] for name in _PLAIN if job[name] is not None}
    data |= {
        "toolset": orjson.loads(current["toolset"] or "[]"),
        "labels": orjson.loads(job["labels"] or "{}"),
    }
    data |= {n: extra[n] for n in ("description", "notify", "deliver_to") if extra.get(n) is not None}
    data["state"] = extra.get("declared") or "active"
    if job["why_so"]:
        data["reason"] = job["why_so"]
    return data | _policies(current)


def _policies(current: dict[str, Any]) -> dict[str, Any]:
    """The stored policies that can be read one by one; an edit of an invalid job replaces what is bad."""
    data = orjson.loads(current["policies"])
    return {name: value for name, value in data.items() if POLICY_FIELDS.find(name)}


def _policy(name: str) -> str:
    return POLICY_FIELDS.find(name) or ("assert" if name.lower().startswith("assert") else name)


def _any_of(name: str) -> Any:
    """A value that only names its field, for sorting which fields are taken away."""
    return False if name.strip().lower() == "enabled" else ""
