"""What an apply does: decided once, by the same function for a dry run and for the order; then written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._engine import creating, moves, orders
from schedcore._host.control.editing import differences
from schedcore._host.progress import Progress, counted
from schedcore._ledger import declaring, jobs
from schedcore._ledger.declaring import Declared
from schedcore.domain.errors import Conflict, SchedcoreError
from schedcore.domain.job import JobOrder

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.events import Actor
    from schedcore._ledger.ledger import Connection

__all__ = ["Plan", "decide", "plan_retires", "taken", "write"]


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
    same: list[str] = field(default_factory=list)
    """The unchanged that were read whole: their stamps are noted."""

    @property
    def changes(self) -> bool:
        """Is there anything to write?"""
        return bool(self.creates or self.edits or self.moves or self.revives)


def plan_retires(declared: Mapping[str, Any], known: Mapping[str, Declared]) -> list[str]:
    """What the ledger has of the source, and the source no longer declares."""
    return [i for i, row in known.items() if i not in declared and row.state != "retired"]


def decide(c: Connection, good: Mapping[str, JobOrder], found: Mapping[str, dict[str, Any]]) -> Plan:
    """What becomes of each good declaration, given the jobs that are there."""
    plan = Plan()
    owners = jobs.live_keys(c, [order.key for order in good.values()])
    for external_id, order in good.items():
        row = found.get(external_id)
        owner = owners.get(order.key)
        if owner is not None and (row is None or owner != row["id"]):
            plan.rejects[external_id] = [taken(order.key, "another job")]
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
                plan.same.append(external_id)
    return plan


def _declared_move(row: dict[str, Any], order: JobOrder) -> str | None:
    """The state to go to, where the source declares another one than before; what people ordered since stays."""
    before = orjson.loads(row["extra"] or "{}").get("declared", "active")
    if order.state == before or moves.invalid(row["state_reason"]):
        return None
    if order.state == "paused" and row["state"] == "active":
        return "paused"
    return "active" if order.state == "active" and row["state"] == "paused" else None


def taken(key: str, by: str) -> Conflict:
    return Conflict(f"the key {key!r} is taken by {by}", code="key_taken", field="key", value=key)


def write(
    control: Asker,
    c: Connection,
    source: str,
    plan: Plan,
    good: Mapping[str, JobOrder],
    found: Mapping[str, dict[str, Any]],
    known: Mapping[str, Declared],
    marks: Mapping[str, str],
    actor: Actor,
    now: int,
    reason: str,
    progress: Progress | None,
) -> None:
    """Retires first, since they free keys. ``marks`` are the stamps of what is declared."""
    e = control.engine
    for external_id in plan.retires:
        moves.retire(e, c, jobs.lock(c, known[external_id].id), actor, reason, now)
    for external_id in plan.revives:
        orders.revive(e, c, jobs.lock(c, found[external_id]["id"]), good[external_id], actor, now)
    touched = dict.fromkeys([*plan.edits, *plan.moves, *plan.revives])
    for external_id in counted(touched, "changing", progress):
        job = jobs.lock(c, found[external_id]["id"])
        orders.edit(e, c, job, good[external_id], actor, now, reason=reason, stamp=marks.get(external_id))
    for external_id, to in plan.moves.items():
        job = jobs.lock(c, found[external_id]["id"])
        if to == "paused":
            moves.pause(e.ledger, c, job["id"], actor, reason, now)
        else:
            moves.resume(e, c, job, actor, reason, now)
    new = [(order, i, marks.get(i)) for i, order in plan.creates.items()]
    creator = creating.Creator(e, c, actor, now, source=source, reason=reason)
    for start in counted(range(0, len(new), creating.AT_ONCE), "writing", progress, each=1):
        creator.write(new[start : start + creating.AT_ONCE])
    declaring.stamp(c, {found[i]["id"]: marks[i] for i in plan.same if i in marks and i in found})
