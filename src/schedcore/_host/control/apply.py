"""Making the jobs of a source what it declares: creates, edits, revives, retires, and nothing twice (F-16).

What is declared is read and checked first, once. What it changes is decided by :func:`applying.decide`, which
a dry run and the order share, and which sees all jobs of the source in one query.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._host.control import reading
from schedcore._host.control.alike import Readings
from schedcore._host.control.applying import Plan, decide, plan_retires, taken, write
from schedcore._host.control.assertions import refuse_self_made
from schedcore._host.control.ordering import clean_reason, now_of
from schedcore._host.control.ordering import order as ordered
from schedcore._host.control.stamps import stamps
from schedcore._host.progress import Progress, counted
from schedcore._ledger import declaring
from schedcore._ledger.declaring import Declared
from schedcore.domain.errors import Refused, SchedcoreError
from schedcore.domain.job import JobOrder
from schedcore.domain.names import JOB_FIELDS

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.events import Actor
    from schedcore._ledger.ledger import Connection

__all__ = ["apply"]

_LONGEST = 200


def apply(
    control: Asker,
    declared: Mapping[str, Mapping[str, Any]],
    *,
    source: str,
    prune: bool,
    dry_run: bool,
    reason: str | None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """See :meth:`Control.apply`."""
    reason = clean_reason(reason) or f"declared by {source}"
    if not isinstance(source, str) or not 1 <= len(source) <= _LONGEST or not source.isprintable():
        raise Refused("a source has a name", code="bad_source", field="source", value=source)
    with control.ledger.read() as c:
        now = now_of(control, c)
        offer = reading.offer(control, c, now)
        marks = stamps(control, offer, declared)
        known = declaring.of_source(c, source)
        rest = {i: data for i, data in declared.items() if not _still_said(known.get(i), marks.get(i))}
        found = declaring.with_definitions(c, [known[i].id for i in rest if i in known])
        good, bad = _read(control, rest, found, now, offer, progress)
        plan = _decided(control, c, good, found)
    _ask(control, plan)
    gone = plan_retires(declared, known)
    if not dry_run and (plan.changes or plan.same or (prune and gone)):

        def deed(c: Connection, actor: Actor, now: int) -> tuple[Plan, dict[str, dict[str, Any]]]:
            fresh = declaring.of_source(c, source)
            mine = declaring.with_definitions(c, [fresh[i].id for i in rest if i in fresh], lock=True)
            again = _decided(control, c, {i: o for i, o in good.items() if i not in plan.rejects}, mine)
            again.retires = plan_retires(declared, fresh) if prune else []
            write(control, c, source, again, good, mine, fresh, marks, actor, now, reason, progress)
            return again, mine

        done, found = ordered(control, deed)
        done.rejects |= plan.rejects
        plan = done
        gone = plan.retires if prune else gone
    plan.unchanged += len(declared) - len(rest)
    told = [_named(i, known[i].key) for i in gone if i in known]
    return _answer(plan, {**bad, **plan.rejects}, told, found, prune=prune, dry_run=dry_run)


def _still_said(job: Declared | None, mark: str | None) -> bool:
    """Does the job say what is declared, so that nothing of it need be read?"""
    return job is not None and mark is not None and job.declared == mark and job.state != "retired"


def _read(
    control: Asker,
    declared: Mapping[str, Mapping[str, Any]],
    found: Mapping[str, dict[str, Any]],
    now: int,
    known: reading.Offer,
    progress: Progress | None,
) -> tuple[dict[str, JobOrder], dict[str, list[SchedcoreError]]]:
    """The declared jobs that are good, and what is wrong with the others."""
    good: dict[str, JobOrder] = {}
    bad: dict[str, list[SchedcoreError]] = {}
    readings = Readings(control, now, known)
    for external_id, data in counted(declared.items(), "reading", progress):
        past_ok = external_id in found
        try:
            if not isinstance(external_id, str) or not 1 <= len(external_id) <= _LONGEST:
                raise Refused("not an external id", code="bad_source", field="external_id", value=external_id)
            whole = _with_key(data, external_id)
            good[external_id] = readings.order(whole, past_ok=past_ok)
        except SchedcoreError as error:
            bad[str(external_id)] = _all_errors(control, data, str(external_id), now, known, past_ok) or [
                error
            ]
    seen: dict[str, str] = {}
    for external_id, order in list(good.items()):
        first = seen.setdefault(order.key, external_id)
        if first != external_id:
            bad[external_id] = [taken(order.key, f"{first!r} of the same source")]
            del good[external_id]
    return good, bad


def _with_key(data: Any, external_id: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise Refused("a job is a table", code="bad_type", field="", value=data)
    if any(JOB_FIELDS.find(str(name)) == "key" for name in data):
        return dict(data)
    return {"key": external_id, **data}


def _all_errors(
    control: Asker, data: Any, external_id: str, now: int, known: reading.Offer, past_ok: bool
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
        calendars=control.calendars(),
        past_ok=past_ok,
    )
    return list(found)


def _decided(
    control: Asker, c: Connection, good: Mapping[str, JobOrder], found: Mapping[str, dict[str, Any]]
) -> Plan:
    """What becomes of each, but for what the one who orders may not say."""
    plan = decide(c, good, found)
    for external_id in {**plan.creates, **plan.edits}:
        row = found.get(external_id)
        before = {} if row is None else orjson.loads(row["current"]["policies"])
        try:
            refuse_self_made(control.actor, good[external_id].policies, before)
        except Refused as error:
            plan.rejects[external_id] = [error]
            for told in (plan.creates, plan.edits, plan.moves, plan.revives):
                told.pop(external_id, None)
    return plan


def _ask(control: Asker, plan: Plan) -> None:
    if not any("job.before_create" in one.topics for _, one in control.engine.toolbox.listeners):
        return
    for external_id, order in list(plan.creates.items()):
        try:
            reading.ask_listeners(control, order)
        except SchedcoreError as error:
            plan.rejects[external_id] = [error]
            del plan.creates[external_id]


def _answer(
    plan: Plan,
    bad: Mapping[str, list[SchedcoreError]],
    gone: list[dict[str, Any]],
    found: Mapping[str, dict[str, Any]],
    *,
    prune: bool,
    dry_run: bool,
) -> dict[str, Any]:
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
