"""Making the jobs of a source what it declares: creates, edits, revives, retires, and nothing twice (F-16).

What is declared is read and checked first, once; what it changes is decided by :func:`_decide`, which a dry run
and the order share, and which sees all jobs of the source in one query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._engine import moves, orders
from schedcore._host.control import reading
from schedcore._host.control.editing import differences
from schedcore._host.control.ordering import clean_reason, now_of
from schedcore._host.control.ordering import order as ordered
from schedcore._ledger import jobs
from schedcore.domain.errors import Conflict, Refused, SchedcoreError
from schedcore.domain.job import JobOrder
from schedcore.domain.names import JOB_FIELDS

if TYPE_CHECKING:
    from schedcore._host.control.door import Control
    from schedcore._ledger.events import Actor
    from schedcore._ledger.ledger import Connection

__all__ = ["apply"]

_LONGEST = 200


@dataclass(slots=True)
class Plan:
    """What an apply does, by external id; ``moves`` are states that the source declares anew."""

    creates: dict[str, JobOrder] = field(default_factory=dict)
    edits: dict[str, dict[str, Any]] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    revives: dict[str, str] = field(default_factory=dict)
    retires: list[str] = field(default_factory=list)
    rejects: dict[str, list[SchedcoreError]] = field(default_factory=dict)
    unchanged: int = 0

    @property
    def changes(self) -> bool:
        """Is there anything to write?"""
        return bool(self.creates or self.edits or self.moves or self.revives)


def apply(
    control: Control,
    declared: Mapping[str, Mapping[str, Any]],
    *,
    source: str,
    prune: bool,
    dry_run: bool,
    reason: str | None,
) -> dict[str, Any]:
    """See :meth:`Control.apply`."""
    reason = clean_reason(reason) or f"declared by {source}"
    if not isinstance(source, str) or not 1 <= len(source) <= _LONGEST or not source.isprintable():
        raise Refused("a source has a name", code="bad_source", field="source", value=source)
    with control.ledger.read() as c:
        found = jobs.with_definitions(c, source)
        good, bad = _read(control, c, declared, found)
        plan = _decide(control, c, good, found)
    _ask(control, plan)
    writes = plan.changes or (prune and plan_retires(declared, found))
    if writes and not dry_run:

        def deed(c: Connection, actor: Actor, now: int) -> tuple[Plan, dict[str, dict[str, Any]]]:
            fresh = jobs.with_definitions(c, source, lock=True)
            again = _decide(control, c, {i: o for i, o in good.items() if i not in plan.rejects}, fresh)
            again.retires = plan_retires(declared, fresh) if prune else []
            _write(control, c, source, again, good, fresh, actor, now, reason)
            return again, fresh

        done, found = ordered(control, deed)
        done.rejects |= plan.rejects
        plan = done
    return _answer(plan, {**bad, **plan.rejects}, declared, found, prune=prune, dry_run=dry_run)


def plan_retires(declared: Mapping[str, Any], found: Mapping[str, dict[str, Any]]) -> list[str]:
    """What the ledger has of the source, and the source no longer declares."""
    return [i for i, row in found.items() if i not in declared and row["state"] != "retired"]


def _read(
    control: Control,
    c: Connection,
    declared: Mapping[str, Mapping[str, Any]],
    found: Mapping[str, dict[str, Any]],
) -> tuple[dict[str, JobOrder], dict[str, list[SchedcoreError]]]:
    """The declared jobs that are good, and what is wrong with the others."""
    now = now_of(control, c)
    known = reading.offer(control, c, now)
    good: dict[str, JobOrder] = {}
    bad: dict[str, list[SchedcoreError]] = {}
    for external_id, data in declared.items():
        past_ok = external_id in found
        try:
            if not isinstance(external_id, str) or not 1 <= len(external_id) <= _LONGEST:
                raise Refused("not an external id", code="bad_source", field="external_id", value=external_id)
            whole = _with_key(data, external_id)
            good[external_id] = reading.read_order(control, whole, now, known, past_ok=past_ok)
        except SchedcoreError as error:
            bad[str(external_id)] = _all_errors(control, data, str(external_id), now, known, past_ok) or [
                error
            ]
    seen: dict[str, str] = {}
    for external_id, order in list(good.items()):
        first = seen.setdefault(order.key, external_id)
        if first != external_id:
            bad[external_id] = [_taken(order.key, f"{first!r} of the same source")]
            del good[external_id]
    return good, bad


def _with_key(data: Any, external_id: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise Refused("a job is a table", code="bad_type", field="", value=data)
    if any(JOB_FIELDS.find(str(name)) == "key" for name in data):
        return dict(data)
    return {"key": external_id, **data}


def _all_errors(
    control: Control, data: Any, external_id: str, now: int, known: reading.Offer, past_ok: bool
) -> list[SchedcoreError]:
    if not isinstance(data, Mapping):
        return []
    found = JobOrder.errors(
        _with_key(data, external_id),
        now_us=now,
        default_zone=control.timezone,
        floor_s=control.every_floor,
        known_kinds=known.known,
        trigger_kinds=control.kinds(),
        past_ok=past_ok,
    )
    return list(found)


def _decide(
    control: Control, c: Connection, good: Mapping[str, JobOrder], found: Mapping[str, dict[str, Any]]
) -> Plan:
    """What becomes of each good declaration, given the jobs that are there."""
    plan = Plan()
    owners = jobs.live_keys(c, [order.key for order in good.values()])
    for external_id, order in good.items():
        row = found.get(external_id)
        owner = owners.get(order.key)
        if owner is not None and (row is None or owner != row["id"]):
            plan.rejects[external_id] = [_taken(order.key, "another job")]
        elif row is None:
            plan.creates[external_id] = order
        else:
            changed = differences(row, row["current"], order)
            changed.pop("declared", None)
            if row["state"] == "retired":
                plan.revives[external_id] = row["state_before"] or "active"
            elif to := _declared_move(row, order):
                plan.moves[external_id] = to
            if changed:
                plan.edits[external_id] = changed
            elif external_id not in plan.revives and external_id not in plan.moves:
                plan.unchanged += 1
    return plan


def _declared_move(row: dict[str, Any], order: JobOrder) -> str | None:
    """The state to go to, where the source declares another one than before; what people ordered since stays."""
    before = orjson.loads(row["extra"] or "{}").get("declared", "active")
    if order.state == before or moves.invalid(row["state_reason"]):
        return None
    if order.state == "paused" and row["state"] == "active":
        return "paused"
    return "active" if order.state == "active" and row["state"] == "paused" else None


def _taken(key: str, by: str) -> Conflict:
    return Conflict(f"the key {key!r} is taken by {by}", code="key_taken", field="key", value=key)


def _ask(control: Control, plan: Plan) -> None:
    for external_id, order in list(plan.creates.items()):
        try:
            reading.ask_listeners(control, order)
        except SchedcoreError as error:
            plan.rejects[external_id] = [error]
            del plan.creates[external_id]


def _write(
    control: Control,
    c: Connection,
    source: str,
    plan: Plan,
    good: Mapping[str, JobOrder],
    found: Mapping[str, dict[str, Any]],
    actor: Actor,
    now: int,
    reason: str,
) -> None:
    """Retires first, since they free keys."""
    e = control.engine
    for external_id in plan.retires:
        moves.retire(e.ledger, c, jobs.lock(c, found[external_id]["id"]), actor, reason, now)
    for external_id in plan.revives:
        orders.revive(e, c, jobs.lock(c, found[external_id]["id"]), good[external_id], actor, now)
    touched = dict.fromkeys([*plan.edits, *plan.moves, *plan.revives])
    for external_id in touched:
        job = jobs.lock(c, found[external_id]["id"])
        orders.edit(e, c, job, good[external_id], actor, now, reason=reason)
    for external_id, to in plan.moves.items():
        job = jobs.lock(c, found[external_id]["id"])
        if to == "paused":
            moves.pause(e.ledger, c, job["id"], actor, reason, now)
        else:
            moves.resume(e, c, job, actor, reason, now)
    for external_id, order in plan.creates.items():
        orders.create(e, c, order, actor, now, source=source, external_id=external_id, reason=reason)


def _answer(
    plan: Plan,
    bad: Mapping[str, list[SchedcoreError]],
    declared: Mapping[str, Any],
    found: Mapping[str, dict[str, Any]],
    *,
    prune: bool,
    dry_run: bool,
) -> dict[str, Any]:
    gone = [_named(i, found[i]["key"]) for i in plan_retires(declared, found)]
    moved = {i: {"state": [found[i]["state"], to]} for i, to in plan.moves.items()}
    edited = {i: {**plan.edits.get(i, {}), **moved.get(i, {})} for i in {**plan.edits, **moved}}
    return {
        "v": 1,
        "creates": [_named(i, order.key) for i, order in plan.creates.items()],
        "edits": [_named(i, found[i]["key"]) | {"changed": changed} for i, changed in edited.items()],
        "revives": [_named(i, found[i]["key"]) | {"state": to} for i, to in plan.revives.items()],
        "retires": gone if prune else [],
        "would_retire": [] if prune else gone,
        "rejects": [
            {"external_id": i, "errors": [error.as_dict() for error in errors]} for i, errors in bad.items()
        ],
        "unchanged": plan.unchanged,
        "changes": plan.changes or bool(prune and gone),
        "dry_run": dry_run,
    }


def _named(external_id: str, key: str) -> dict[str, Any]:
    return {"external_id": external_id, "key": key}
