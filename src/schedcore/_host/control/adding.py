"""Creating a job: read, checked, previewed, then one transaction (L-05, P-25)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from schedcore._engine import creating
from schedcore._host.control import reading
from schedcore._host.control.assertions import refuse_self_made
from schedcore._host.control.ordering import clean_reason, now_of
from schedcore._host.control.ordering import order as ordered
from schedcore._ledger import jobs
from schedcore.domain.describe import describe
from schedcore.domain.errors import Conflict, Refused
from schedcore.domain.job import JobOrder
from schedcore.domain.preview import preview

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["add", "refuse_taken"]


def add(
    control: Asker,
    data: Mapping[str, Any],
    *,
    reason: str | None,
    dry_run: bool,
    source: str | None,
    external_id: str | None,
) -> dict[str, Any]:
    """See :meth:`Control.add`."""
    reason = clean_reason(reason)
    if (source is None) != (external_id is None):
        raise Refused("a source and its external id come together", code="missing", field="external_id")
    with control.ledger.read() as c:
        now = now_of(control, c)
        known = reading.offer(control, c, now)
        order = reading.read_order(control, data, now, known)
        refuse_self_made(control.actor, order.policies, {})
        refuse_taken(c, order.key)
    reading.ask_listeners(control, order)
    answer = {
        "id": None,
        "key": order.key,
        "kind": order.kind,
        "state": order.state,
        "definition": 1,
        "digest": order.digest(),
        "trigger": describe(order.trigger, control.lang),
        "zone": order.zone,
        "slots": _first_slots(control, order, now),
        "warnings": reading.warnings_of(control, order, known),
        "dry_run": dry_run,
    }
    if not dry_run:
        answer["id"] = ordered(
            control,
            lambda c, actor, at: creating.create(
                control.engine, c, order, actor, at, source=source, external_id=external_id, reason=reason
            ),
        )
    return answer


def _first_slots(control: Asker, order: JobOrder, now: int) -> list[dict[str, str | None]]:
    """The first slots of a job that gets this trigger now."""
    start = order.trigger.owed_from(now)
    return [slot.as_dict() for slot in preview(order.trigger, start, 3, lang=control.lang)]


def refuse_taken(c: Connection, key: str, *, but: int | None = None) -> None:
    """Refuse a key that another live job has."""
    owner = jobs.live_keys(c, [key]).get(key)
    if owner is not None and owner != but:
        raise Conflict(
            f"a live job has the key {key!r} already",
            code="key_taken",
            field="key",
            value=key,
            hint=f"edit it with `schedcore edit {key}`, or remove it first",
        )
