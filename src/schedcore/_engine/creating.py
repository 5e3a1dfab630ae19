"""New jobs, written many at a time (``docs/decisions/0018``). The caller holds a writing transaction.

Everything was checked before; what is refused here is what only the ledger's present state can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from schedcore._engine import moves
from schedcore._engine.ordered import extra_of, stored
from schedcore._engine.state import Engine
from schedcore._engine.toolbox import needs_text
from schedcore._ledger import events, jobs
from schedcore._ledger.events import Actor
from schedcore._ledger.json_text import json_text
from schedcore.domain.job import JobOrder
from schedcore.domain.job_fields import canonical
from schedcore.domain.trigger import Trigger
from schedcore.domain.zones import tz_version

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["AT_ONCE", "Creator", "create"]

AT_ONCE = 500


def create(
    e: Engine,
    c: Connection,
    order: JobOrder,
    actor: Actor,
    now: int,
    *,
    source: str | None = None,
    external_id: str | None = None,
    reason: str | None = None,
) -> str:
    """A new job; answers its public id. Raises :class:`Conflict` when a live job has the key."""
    creator = Creator(e, c, actor, now, source=source, reason=reason)
    return creator.write([(order, external_id, None)])[0]


class Creator:
    """Writes new jobs, for one actor in one transaction."""

    def __init__(
        self,
        e: Engine,
        c: Connection,
        actor: Actor,
        now: int,
        *,
        source: str | None = None,
        reason: str | None = None,
    ) -> None:
        self._engine, self._c = e, c
        self._by = _By(actor, now, source, reason, tz_version())
        self._shared: dict[tuple[int, ...], _Alike] = {}
        self._lanes: dict[str, int] = {}

    def write(self, new: Sequence[tuple[JobOrder, str | None, str | None]]) -> list[str]:
        """New jobs, one statement per table and :data:`AT_ONCE` of them; answers their public ids in order.

        Rows of (order, external id, stamp of its declaration), which outlive this object. Raises
        :class:`Conflict` when a live job has a key.
        """
        c, made = self._c, []
        for start in range(0, len(new), AT_ONCE):
            part, rows = new[start : start + AT_ONCE], _Rows()
            for (order, external_id, stamp), job_id in zip(part, jobs.new_ids(c, len(part)), strict=True):
                alike, lane = self._alike(order)
                made.append(_add(rows, job_id, order, external_id, stamp, alike, lane, self._by))
            jobs.insert_many(c, rows.jobs)
            jobs.open_definitions(c, rows.definitions)
            jobs.new_due(c, rows.due)
            events.record_first(c, rows.events)
            events.post(c, self._by.now, "job.created", [(job["id"], None) for job in rows.jobs])
        self._engine.ledger.dialect.notify(c)
        return made

    def _alike(self, order: JobOrder) -> tuple[_Alike, int]:
        """What it has in common with others, and its lane. Orders that were read alike are made of the same
        objects, all but key, name and payload."""
        parts = (
            id(order.appointed), id(order.policies), id(order.toolset), id(order.labels), id(order.notify),
            id(order.deliver_to), id(order.description), id(order.state), id(order.kind),
        )  # fmt: skip
        alike = self._shared.get(parts)
        if alike is None:
            alike = self._shared[parts] = _Alike.of(order, self._by)
        if alike.needs not in self._lanes:
            self._lanes[alike.needs] = jobs.lane(self._c, alike.needs)
        return alike, self._lanes[alike.needs]


class _By(NamedTuple):
    """Who makes them, when, from where and why."""

    actor: Actor
    now: int
    source: str | None
    reason: str | None
    tz: str


class _Rows:
    """What is written of several new jobs."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []
        self.definitions: list[dict[str, Any]] = []
        self.due: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []


class _Alike(NamedTuple):
    """What orders have in common that were read alike."""

    texts: dict[str, str]
    frame: tuple[str, str]
    labels: str
    extra: str
    needs: str
    trigger: Trigger
    anchor: int
    left: int | None
    next_at: int | None
    changes: str

    @classmethod
    def of(cls, order: JobOrder, by: _By) -> _Alike:
        """Made from one of them."""
        trigger, texts = order.trigger, stored(order)
        anchor, left = trigger.owed_from(by.now), trigger.remaining(0)
        del texts["payload"]
        return cls(
            texts=texts,
            frame=order.frame(),
            labels=json_text(dict(order.labels or {})),
            extra=json_text(extra_of(order)),
            needs=needs_text(order.kind, order.policies),
            trigger=trigger,
            anchor=anchor,
            left=left,
            next_at=trigger.next_kept(anchor, left) if order.state == "active" else None,
            changes=json_text({name: [None, text] for name, text in texts.items()})[1:],
        )


def _add(
    rows: _Rows,
    job_id: int,
    order: JobOrder,
    external_id: str | None,
    stamp: str | None,
    alike: _Alike,
    lane: int,
    by: _By,
) -> str:
    """The rows of one new job; answers its public id."""
    uid, payload, now = jobs.new_uid(), json_text(dict(order.payload)), by.now
    before, after = alike.frame
    digest = sha256(f"{before}{canonical(order.payload)}{after}".encode()).hexdigest()
    rows.jobs.append(
        {
            "id": job_id,
            "uid": uid,
            "key": order.key,
            "name": order.name,
            "kind": order.kind,
            "state": order.state,
            "state_reason": by.reason if order.state != "active" else None,
            "state_actor": by.actor.name,
            "state_at": now,
            "definition": 1,
            "digest": digest,
            "source": by.source,
            "external_id": external_id,
            "declared": stamp,
            "owner": order.owner,
            "scope": order.scope,
            "labels": alike.labels,
            "creator": by.actor.name,
            "creator_kind": by.actor.kind,
            "why_so": order.reason,
            "created_at": now,
            "updated_at": now,
            "extra": alike.extra,
        }
    )
    rows.definitions.append(
        {
            "job_id": job_id,
            "number": 1,
            "valid_from": min(now, alike.anchor),
            "state": order.state,
            "state_reason": None,
            "tz_version": by.tz,
            "digest": digest,
            **alike.texts,
            "payload": payload,
        }
    )
    next_at = alike.next_at
    if next_at is not None and alike.trigger.jitter:
        next_at = moves.next_due({"uid": uid}, alike.trigger, alike.anchor, alike.left)
    rows.due.append(
        {
            "job_id": job_id,
            "lane": lane,
            "anchor": alike.anchor,
            "definition": 1,
            "next_run_at": next_at,
            "slots_left": alike.left,
        }
    )
    first = json_text({"key": [None, order.key], "payload": [None, payload]})
    rows.events.append(
        events.line(
            job_id, now, by.actor, "create",
            reason=by.reason, changes=f"{first[:-1]},{alike.changes}", digests=(None, digest),
        )
    )  # fmt: skip
    return uid
