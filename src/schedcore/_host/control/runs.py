"""Looking at runs: the list, one run whole, its attempts, what led to it, and waiting for its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schedcore._host.control import find
from schedcore._host.control.instants import ago_or_instant
from schedcore._host.control.jobs import MOST, zone_by_job
from schedcore._host.control.ordering import now_of
from schedcore._host.control.views import event, instants, run_line, run_whole, skip_line
from schedcore._ledger import events, runs
from schedcore.domain.clock import SECOND
from schedcore.domain.errors import Refused, nearest
from schedcore.domain.keys import render_key
from schedcore.domain.names import RUN_STATES
from schedcore.domain.run import FINAL, RunState, RunTrigger, run_key

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["attempts", "listed", "show", "trace", "wait"]

_FINAL = {s.value for s in FINAL}
_TRIGGERS = {t.word: t.value for t in RunTrigger}


def listed(
    control: Asker,
    job: str | None,
    states: Sequence[str],
    triggers: Sequence[str],
    since: str | None,
    until: str | None,
    label: str | None,
    after: int | None,
    limit: int,
) -> list[dict[str, Any]]:
    """See :meth:`Control.runs`."""
    if not 1 <= limit <= MOST:
        raise Refused(f"{limit} runs", code="out_of_range", field="limit", value=limit, hint=f"1 to {MOST}")
    wanted = [RunState[RUN_STATES.read(s, "state").upper()].value for s in states]
    kinds = [_trigger(word) for word in triggers]
    with control.ledger.read() as c:
        now = now_of(control, c)
        found = runs.listed(
            c,
            job_id=find.job_of(c, job)["id"] if job is not None else None,
            states=wanted,
            triggers=kinds,
            since=ago_or_instant(since, now, "since"),
            until=ago_or_instant(until, now, "until"),
            after_id=after,
            limit=limit,
            label=label,
        )
        zones = zone_by_job(control, c, [row["job_id"] for row in found])
    return [run_line(row, zones.get(row["job_id"], "UTC")) for row in found]


def _trigger(word: str) -> int:
    if word not in _TRIGGERS:
        hint = nearest(word, set(_TRIGGERS)) or "one of: " + ", ".join(_TRIGGERS)
        raise Refused(f"{word!r} is no trigger", code="unknown_value", field="trigger", value=word, hint=hint)
    return _TRIGGERS[word]


def show(control: Asker, run: int | str) -> dict[str, Any]:
    """See :meth:`Control.run_show`."""
    with control.ledger.read() as c:
        return _whole(control, c, find.run_of(c, run))


def _whole(control: Asker, c: Connection, row: dict[str, Any]) -> dict[str, Any]:
    zone = zone_by_job(control, c, [row["job_id"]]).get(row["job_id"], "UTC")
    covers = sum(s["slots"] for s in runs.covered(c, row["id"]))
    whole = run_whole(row, zone, covers)
    if row["delivery_key"] is None:
        whole["delivery_key"] = _delivery_key(control, c, row)
    return whole


def _delivery_key(control: Asker, c: Connection, row: dict[str, Any]) -> str | None:
    """The key that the run's definition renders; ``None`` where that cannot be read."""
    key = (row["job_id"], row["definition"])
    engine = control.engine
    compiled = engine.compiler.of([key], lambda keys: engine.ledger.hot.definitions(c, keys)).get(key)
    if compiled is None or isinstance(compiled, Exception):
        return None
    slot = row["scheduled_for"]
    own = run_key(row["uid"], slot)
    template = compiled.policies.delivery_key
    return render_key(template, job_id=row["uid"], run_key=own, scheduled_for=slot, zone=compiled.zone)


def attempts(control: Asker, run: int | str) -> list[dict[str, Any]]:
    """See :meth:`Control.attempts`."""
    with control.ledger.read() as c:
        row = find.run_of(c, run)
        zone = zone_by_job(control, c, [row["job_id"]]).get(row["job_id"], "UTC")
        return [_attempt(a, zone) for a in runs.attempts_of(c, row["id"])]


def _attempt(row: dict[str, Any], zone: str) -> dict[str, Any]:
    began, ended = row["started_at"], row["finished_at"]
    return {
        "number": row["number"],
        "fence": row["fence"],
        "host": row["host"],
        **instants(zone, claimed_at=row["claimed_at"], started_at=began, finished_at=ended),
        "duration_ms": None if began is None or ended is None else (ended - began) // 1000,
        "outcome": row["outcome"],
        "reason": row["reason"],
        "text": row["text"],
        "exit_code": row["exit_code"],
        "repair": row["repair"],
    }


def trace(control: Asker, run: int | str) -> dict[str, Any]:
    """See :meth:`Control.trace`."""
    with control.ledger.read() as c:
        row = find.run_of(c, run)
        zone = zone_by_job(control, c, [row["job_id"]]).get(row["job_id"], "UTC")
        related = runs.related(c, row["id"])
        origins = {n: runs.one(c, row[n]) for n in ("retry_of_id", "parent_run_id") if row[n] is not None}
        return {
            "v": 1,
            "run": _whole(control, c, row),
            "attempts": [_attempt(a, zone) for a in runs.attempts_of(c, row["id"])],
            "events": [event(e, zone) for e in events.of_run(c, row["job_id"], row["id"])],
            "retry_of": _brief(origins.get("retry_of_id"), zone),
            "parent": _brief(origins.get("parent_run_id"), zone),
            "retries": [_brief(r, zone) for r in related if r["retry_of_id"] == row["id"]],
            "children": [_brief(r, zone) for r in related if r["parent_run_id"] == row["id"]],
            "covers": [skip_line(s, zone) for s in runs.covered(c, row["id"])],
        }


def _brief(row: dict[str, Any] | None, zone: str) -> dict[str, Any] | None:
    return None if row is None else run_line(row, zone)


def wait(control: Asker, run: int | str, timeout: float | None, *, every: float) -> dict[str, Any]:
    """See :meth:`Control.wait`."""
    clocks = control.engine.clocks
    until = None if timeout is None else clocks.boot() + int(timeout * SECOND)
    while True:
        with control.ledger.read() as c:
            row = find.run_of(c, run)
        if row["state"] in _FINAL or (until is not None and clocks.boot() >= until):
            return show(control, row["id"])
        control.sleep(every)
