"""What is to come, by the code that fires: the next slots, and what a downtime would do (P-12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._engine import opening, planning
from schedcore._host.control import find
from schedcore._host.control.instants import instant_of
from schedcore._host.control.ordering import now_of
from schedcore._host.control.views import instants
from schedcore.domain.clock import MINUTE, SECOND
from schedcore.domain.clock import text as utc
from schedcore.domain.describe import describe
from schedcore.domain.errors import Conflict, Refused
from schedcore.domain.local import local_text
from schedcore.domain.overlap import Live
from schedcore.domain.plan import Plan, Skip, passed
from schedcore.domain.preview import preview
from schedcore.domain.trigger import Trigger
from schedcore.domain.words import words_of

if TYPE_CHECKING:
    from schedcore._engine.toolbox import Compiled
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["compiled_of", "down", "next_slots"]

_APART = 10 * MINUTE


def next_slots(
    control: Asker,
    job: str | None,
    *,
    expr: str | None,
    cron: str | None,
    every: str | None,
    at: str | None,
    calendar: str | None,
    on_closed: str | None,
    zone: str | None,
    after: str | None,
    n: int,
) -> dict[str, Any]:
    """See :meth:`Control.next`."""
    given = {"text": expr, "cron": cron, "every": every, "at": at}
    rule = {name: value for name, value in given.items() if value is not None}
    if (job is not None) + len(rule) != 1:
        raise Refused("give one of a job, an expression, cron, every, at", code="no_trigger", field="trigger")
    judged = {"zone": zone, "calendar": calendar, "on_closed": on_closed}
    rule |= {name: value for name, value in judged.items() if value is not None}
    if job is not None and (calendar or on_closed):
        raise Refused("a job has its own calendar", code="not_taken", field="calendar", hint="leave it out")
    note = None
    if job is None:
        now = _now_without_ledger(control)
        trigger = Trigger.parse(
            rule,
            now_us=now,
            default_zone=control.timezone,
            floor_s=control.every_floor,
            past_ok=True,
            kinds=control.kinds(),
            calendars=control.calendars(),
            field="",
        )
        start, left = trigger.owed_from(now), trigger.remaining(0)
    else:
        with control.ledger.read() as c:
            row = find.job_of(c, job)
            now = now_of(control, c)
            trigger = _trigger_of(compiled_of(control, c, row))
        last = row["last_slot"]
        start, left = (row["anchor"] if last is None else last), row["slots_left"]
        if row["state"] != "active":
            start = max(start, now)
            note = words_of(control.lang).say("would_have", state=row["state"])
    if after is not None:
        start = instant_of(after, zone or trigger.zone, "after")
    found = preview(trigger, start, n, remaining=left, lang=control.lang)
    slots = [slot.as_dict() for slot in found]
    dropped = [slot.dropped.as_dict() for slot in found if slot.dropped is not None]
    if zone is not None and zone != trigger.zone:
        for slot in slots:
            slot["local"] = local_text(instant_of(str(slot["utc"]), "UTC", "utc"), zone)
    told = describe(trigger, control.lang)
    answer = {"v": 1, "slots": slots, "trigger": told, "zone": trigger.zone, "note": note}
    return answer | ({"dropped": dropped} if trigger.drops else {})


def _now_without_ledger(control: Asker) -> int:
    """An expression needs no ledger, so the machine's own clock will do."""
    return control.engine.clocks.wall()


def compiled_of(control: Asker, c: Connection, row: dict[str, Any]) -> Compiled:
    """The job's definition in force, compiled as the tick compiles it. Raises :class:`Conflict`."""
    engine = control.engine
    key = (row["id"], row["definition"])
    found = engine.compiler.of([key], lambda keys: engine.ledger.hot.definitions(c, keys))[key]
    if isinstance(found, Exception):
        raise Conflict(
            f"job {row['key']!r} cannot be read: {found}", code="invalid", field="job", value=row["key"]
        )
    return found


def _trigger_of(compiled: Compiled) -> Trigger:
    if compiled.trigger is None:
        raise Refused("the job has no trigger, so it has no slots", code="no_trigger", field="job")
    return compiled.trigger


def down(control: Asker, text: str, down_from: str, up_at: str) -> dict[str, Any]:
    """See :meth:`Control.down`."""
    with control.ledger.read() as c:
        row = find.job_of(c, text)
        compiled = compiled_of(control, c, row)
    trigger = _trigger_of(compiled)
    zone = trigger.zone
    since, until = instant_of(down_from, zone, "down_from"), instant_of(up_at, zone, "up_at")
    if until < since:
        raise Refused(
            "it comes up before it goes down", code="contradiction", field="up_at", value=utc(until)
        )
    last, left = _decided_until(compiled, trigger, row, since)
    runs: list[dict[str, Any]] = []
    skipped: list[Skip] = []
    following = None
    if row["state"] == "active":
        planned = planning.plan_of(compiled, last, row["anchor"], left, until)
        following = planned.next_slot
        runs, skipped = _outcome(control, compiled, planned, until)
    elif row["state"] == "paused":
        skip = passed(trigger, last, until, _word(row), left=left)
        skipped = [skip] if skip is not None else []
        left = None if left is None else left - sum(s.count for s in skipped)
        following = trigger.next_kept(max(last, until), left)
    return {
        "v": 1,
        "key": row["key"],
        "state": row["state"],
        **instants(zone, down_from=since, up_at=until),
        "runs": runs,
        "skipped": [
            {**instants(zone, first=s.first, last=s.last), "slots": s.count, "reason": s.reason}
            for s in skipped
        ],
        "next": None if following is None else utc(following),
        "catch_up": compiled.policies.catch_up,
    }


def _word(row: dict[str, Any]) -> str:
    return "breaker" if row["breaker_at"] is not None else "paused"


def _decided_until(
    compiled: Compiled, trigger: Trigger, row: dict[str, Any], since: int
) -> tuple[int, int | None]:
    """``last_slot`` and what is left, had every slot due before the downtime been decided in time."""
    last = row["anchor"] if row["last_slot"] is None else row["last_slot"]
    left = row["slots_left"]
    if since <= last:
        return last, left
    decided = trigger.kept.newest(last, since - 1, 2)
    if decided and decided[-1] + trigger.jitter_of(compiled.uid, decided[-1]) >= since:
        decided.pop()  # it had come, and waited for its jitter
    if not decided:
        return last, left
    if left is not None:
        left = max(0, left - trigger.count_between(last, decided[-1]))
    return decided[-1], left


def _outcome(
    control: Asker, compiled: Compiled, planned: Plan, until: int
) -> tuple[list[dict[str, Any]], list[Skip]]:
    """The runs and skipped rows of a plan, as the tick writes them at ``until`` with no other run alive."""
    settings = control.engine.settings
    skips = list(planned.skips)
    opened: list[tuple[int, int, int]] = []
    for slot in planned.open:
        start_at, late, verdict = opening.judged(
            compiled, slot, Live(), until, settings.beat, several=len(planned.open) > 1
        )
        if verdict == "skip":
            skips.append(Skip(slot, slot, 1, "overlap"))
            continue
        opened.append((slot, start_at, late))
    apart = min(int(settings.catch_up_apart * SECOND), _APART // max(sum(o[2] for o in opened), 1))
    runs, waits = [], 0
    for slot, start_at, late in opened:
        starts = until + waits * apart if late else max(until, start_at)
        waits += late
        times = {"utc": utc(slot), "local": local_text(slot, compiled.zone)}
        runs.append({**times, "late": bool(late), "starts_at": utc(starts)})
    return runs, sorted(skips, key=lambda s: s.first)
