"""From what somebody ordered to a checked order: kind known, payload fitting, nothing written yet (L-06, T-18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._host.control.assertions import check_assertion
from schedcore._ledger import hosts
from schedcore.domain.errors import PluginFault, Refused
from schedcore.domain.job import JobOrder
from schedcore.domain.policy import Policies, Resolved, resolve
from schedcore.domain.reading import table

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection
    from schedcore.spec.declarations import Executor

__all__ = [
    "Offer",
    "ask_listeners",
    "offer",
    "policies_of",
    "read_order",
    "warnings_of",
]


class Offer:
    """What is known of kinds of work: those of this process, those any host announced, those offered now."""

    def __init__(self, control: Asker, c: Connection, now: int) -> None:
        self.here = {kind: executor for kind, (_, executor) in control.engine.toolbox.executors.items()}
        self.announced = hosts.known_kinds(c)
        self.live = hosts.live(c, now)
        self.known = tuple(sorted(self.here.keys() | self.announced.keys()))

    def declared(self, kind: str) -> Executor | Mapping[str, Any]:
        """The executor of this process, else the announced JSON Schema."""
        if kind in self.here:
            return self.here[kind]
        schema = orjson.loads(self.announced[kind]["schema"])
        return schema if isinstance(schema, Mapping) else {}

    def defaults(self, kind: str) -> tuple[Policies, bool]:
        """What a kind declares: its limit and attempts, and whether a lost run may be tried again."""
        if kind in self.here:
            executor = self.here[kind]
            return Policies(attempts=executor.attempts, timeout=executor.limit), executor.retry_lost
        if kind in self.announced:
            row = self.announced[kind]
            return Policies(attempts=row["attempts"], timeout=row["limit_s"]), bool(row["retry_lost"])
        return Policies(), True


def offer(control: Asker, c: Connection, now: int) -> Offer:
    """What is known of kinds of work now."""
    return Offer(control, c, now)


def read_order(
    control: Asker, data: Mapping[str, Any], now: int, known: Offer, *, past_ok: bool = False
) -> JobOrder:
    """The order in ``data``, whole and checked. Raises :class:`Refused` with the path of the field."""
    order = JobOrder.parse(
        table(data, ""),
        now_us=now,
        default_zone=control.timezone,
        floor_s=control.every_floor,
        known_kinds=known.known,
        trigger_kinds=control.kinds(),
        calendars=control.calendars(),
        past_ok=past_ok,
    )
    check_payload(control, order.kind, order.payload, known)
    check_assertion(control.engine.toolbox, order.policies.assertion)
    return order


def check_payload(control: Asker, kind: str, payload: Mapping[str, Any], known: Offer) -> None:
    """Refuse a payload that the kind's model, its own check or its announced schema does not take."""
    control.validate(known.declared(kind), payload)


def ask_listeners(control: Asker, order: JobOrder) -> None:
    """Listeners of ``job.before_create`` may refuse, before anything is written (F-05)."""
    for plugin, listener in control.engine.toolbox.listeners:
        if "job.before_create" not in listener.topics:
            continue
        told = {
            "topic": "job.before_create",
            "job": {"key": order.key, "name": order.name, "kind": order.kind, "zone": order.zone},
            "trigger": order.trigger.to_dict(),
            "payload": dict(order.payload),
            "actor": {"name": control.actor.name, "kind": control.actor.kind},
        }
        try:
            listener.tell(told)
        except Refused:
            raise
        except Exception as error:
            raise PluginFault(
                f"listener {listener.name!r} of plugin {plugin!r} raised {type(error).__name__}: {error}",
                code="listener_fault",
                hint="nothing was written; mend or turn off that plugin",
            ) from error


def warnings_of(control: Asker, order: JobOrder, known: Offer) -> list[str]:
    """What is taken, but worth saying: nobody would run it now, or a wish that its kind forbids."""
    told = []
    policies = order.policies
    fitting = [h for h in known.live if order.kind in h["kinds"]]
    if not fitting:
        told.append(f"no live host offers {order.kind!r} now; its slots count as no_executor until one does")
    elif not any(
        h["tags"].issuperset(policies.tags or ())
        and (not policies.environments or h["environment"] in policies.environments)
        for h in fitting
    ):
        told.append("no live host has the tags and environment that this job requires; its runs will wait")
    _, retry_lost = known.defaults(order.kind)
    if policies.on_lost == "retry" and not retry_lost:
        told.append(f"kind {order.kind!r} forbids on_lost = 'retry'; a lost run will stop")
    return told


def policies_of(control: Asker, stored: str, kind: str, known: Offer) -> Resolved:
    """Every policy with value and origin, for a stored text."""
    of_kind, retry_lost = known.defaults(kind)
    given = Policies.from_dict(orjson.loads(stored))
    return resolve(given, control.engine.settings.policies, of_kind, retry_lost=retry_lost)
