"""What ``doctor`` looks at in jobs and runs. Each check yields findings; its name is the name of the check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._engine.toolbox import Compiled
from schedcore._host.control import reading
from schedcore._host.control.assertions import check_assertion
from schedcore._ledger import calendars as declared
from schedcore._ledger import health, jobs
from schedcore.domain.calendar import closed_time
from schedcore.domain.clock import MINUTE, text
from schedcore.domain.errors import SchedcoreError
from schedcore.domain.local import local_text
from schedcore.domain.run import RunState

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["CHECKS", "active_jobs"]

Findings = Iterator[dict[str, Any]]
_OVERDUE = 15 * MINUTE
_BAD_ENDS = (RunState.FAILED, RunState.INTERRUPTED, RunState.BLOCKED)


def failures(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Runs that ended badly since, by job."""
    for row in health.bad_ends(c, since, [s.value for s in _BAD_ENDS]):
        word = RunState(row["state"]).word
        times = "once" if row["runs"] == 1 else f"{row['runs']} times"
        what = f"{word} {times} since {text(since)}, last {row['reason'] or 'without a reason'}"
        remedy = f"see `schedcore runs logs {row['newest']}`"
        yield {"level": "bad", "what": what, "remedy": remedy, "job": row["key"], "run": row["newest"]}


def overdue(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Slots that nobody decided 15 minutes after their time."""
    for row in health.overdue(c, now - _OVERDUE):
        what = f"a slot is overdue since {text(row['next_run_at'])}"
        remedy = f"see `schedcore why {row['key']} {text(row['next_run_at'])}`"
        yield {"level": "bad", "what": what, "remedy": remedy, "job": row["key"]}


def paused(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Open breakers, and jobs that cannot be read or whose trigger raised."""
    for row in health.stopped(c):
        reason = row["state_reason"] or ""
        if row["breaker_at"] is not None:
            what = f"its breaker is open since {text(row['breaker_at'])} ({row['streak']} failed in a row)"
            yield {"level": "bad", "what": what, "remedy": "mend it, then resume it", "job": row["key"]}
        elif reason.startswith(("invalid:", "trigger_error")):
            remedy = (
                "edit it; that resumes it" if reason.startswith("invalid:") else "mend it, then resume it"
            )
            yield {"level": "bad", "what": f"it is paused: {reason}", "remedy": remedy, "job": row["key"]}


def no_next(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Active jobs that will never fire again, and are not done."""
    for row in health.without_next(c):
        remedy = "give it a new trigger, or remove it"
        yield {
            "level": "bad",
            "what": "it is active and has no next slot",
            "remedy": remedy,
            "job": row["key"],
        }


def unresolved(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Jobs that no live host can run: their kind, tags or environment is nobody's; payloads that do not fit."""
    known = reading.offer(control, c, now)
    for row, job in active_jobs(control, c):
        if isinstance(job, Exception):
            yield {"level": "bad", "what": f"its definition cannot be read: {job}", "job": row["key"]}
            continue
        kind, policies = job.kind, job.policies
        fitting = [h for h in known.live if kind in h["kinds"]]
        if kind not in known.known:
            remedy = "install the plugin that offers it"
            yield {
                "level": "bad",
                "what": f"nobody knows the kind {kind!r}",
                "remedy": remedy,
                "job": row["key"],
            }
        elif known.live and not fitting:
            remedy = "start a host that has its plugin"
            yield {
                "level": "bad",
                "what": f"no live host offers {kind!r}",
                "remedy": remedy,
                "job": row["key"],
            }
        elif fitting and not any(
            h["tags"].issuperset(policies.tags)
            and (not policies.environments or h["environment"] in policies.environments)
            for h in fitting
        ):
            wishes = ", ".join([*policies.tags, *policies.environments])
            yield {"level": "bad", "what": f"no live host has what it requires: {wishes}", "job": row["key"]}
        for refusal in _refusals(control, job, known):
            remedy = "edit the job, or install what it needs"
            yield {"level": "bad", "what": refusal, "remedy": remedy, "job": row["key"]}


def _refusals(control: Asker, job: Compiled, known: reading.Offer) -> Iterator[str]:
    """What would be refused, were the job ordered now."""
    try:
        if job.kind in known.here:
            reading.check_payload(control, job.kind, orjson.loads(job.payload), known)
    except SchedcoreError as error:
        yield str(error)
    try:
        check_assertion(control.engine.toolbox, job.policies.assertion)
    except SchedcoreError as error:
        yield str(error)


def calendars(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Calendars of jobs that no live host declares, and those whose list of dates has come to its end (F-15)."""
    live = declared.declared_by_live(c, now)
    ended: set[str] = set()
    for row, job in active_jobs(control, c):
        if isinstance(job, Exception) or job.trigger is None or job.trigger.calendar is None:
            continue
        held = job.trigger.calendar
        if live is not None and held.name not in live | control.engine.toolbox.calendars.keys():
            what = f"no live host declares its calendar {held.name!r}; the next start pauses it"
            yield {"level": "bad", "what": what, "remedy": "declare it, or edit the job", "job": row["key"]}
        last = closed_time(held).last_date()
        if (
            last is not None
            and last < local_text(now // 1000 * 1000, job.zone)[:10]
            and held.name not in ended
        ):
            ended.add(held.name)
            what = f"the last date of its calendar {held.name!r} was {last}"
            yield {"level": "note", "what": what, "remedy": "add the dates to come", "job": row["key"]}


def unchecked(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Jobs whose green means exit 0 only (A-05, A-06), and jobs of nobody."""
    for row, job in active_jobs(control, c):
        if isinstance(job, Exception):
            continue
        extra = orjson.loads(row["extra"] or "{}")
        required = (extra.get("notify") or {}).get("require", False)
        if job.policies.assertion is None and not required and job.policies.unchecked is None:
            remedy = "add an assertion, or `unchecked` with a reason"
            yield {"level": "note", "what": "green means exit 0 only", "remedy": remedy, "job": row["key"]}
        if not row["owner"]:
            yield {"level": "note", "what": "it has no owner", "remedy": "add `owner`", "job": row["key"]}


def active_jobs(control: Asker, c: Connection) -> Iterator[tuple[dict[str, Any], Compiled | Exception]]:
    """The active jobs, compiled as the tick compiles them."""
    rows = jobs.listed(c, states=("active",), limit=100_000)
    engine = control.engine
    for start in range(0, len(rows), 500):
        batch = rows[start : start + 500]
        keys = [(row["id"], row["definition"]) for row in batch]
        made = engine.compiler.of(keys, lambda missing: engine.ledger.hot.definitions(c, missing))
        for row, key in zip(batch, keys, strict=True):
            yield row, made[key]


CHECKS = (failures, overdue, paused, no_next, unresolved, calendars, unchecked)
