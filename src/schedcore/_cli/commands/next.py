"""``schedcore next``: what comes, by the code that fires (P-12). An expression needs no ledger."""

from __future__ import annotations

from typing import Any

import click

from schedcore._cli import answer, saying, times
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.job_argument import complete_job
from schedcore.domain.calendar import ON_CLOSED, Calendars
from schedcore.domain.clock import text
from schedcore.domain.describe import describe
from schedcore.domain.duration import bare_duration_hint
from schedcore.domain.errors import Refused
from schedcore.domain.preview import PreviewSlot, preview
from schedcore.domain.trigger import Trigger
from schedcore.domain.trigger_form import kind_of
from schedcore.domain.words import words_of

__all__ = ["command"]


@make("next")
@click.argument("what", metavar="[JOB | EXPRESSION]", required=False, shell_complete=complete_job)
@click.option("--every", metavar="DURATION", help="Instead of a job: an interval, such as 2h.")
@click.option("--at", metavar="INSTANT", help="Instead of a job: a single instant.")
@click.option("--in", "in_", metavar="DURATION", help="Instead of a job: a single instant, this far ahead.")
@click.option("--calendar", metavar="NAME", help="With an expression: the calendar that judges its slots.")
@click.option(
    "--on-closed",
    type=click.Choice(ON_CLOSED),
    help="What becomes of slots in its closed time; drop by default.",
)
@click.option("--after", metavar="INSTANT", help="From when on; now by default.")
@click.option(
    "-n", "n", type=int, default=5, show_default=True, metavar="N", help="How many slots, 1 to 100."
)
@click.option("--down-from", metavar="INSTANT", help="With a job: what if no host lived from here …")
@click.option("--up-at", metavar="INSTANT", help="… to here? Shows what would run or be skipped, and why.")
def command(
    front: Front,
    what: str | None,
    every: str | None,
    at: str | None,
    in_: str | None,
    calendar: str | None,
    on_closed: str | None,
    after: str | None,
    n: int,
    down_from: str | None,
    up_at: str | None,
) -> None:
    """Show the next slots of a job or an expression.

    \b
    schedcore next backup
    schedcore next "0 9 * * 1-5" --tz Europe/Berlin -n 3
    schedcore next --every 2h
    schedcore next "0 9 * * *" --calendar france --on-closed move
    """
    if sum(value is not None for value in (what, every, at, in_)) != 1:
        raise click.UsageError("give a job, an expression, --every, --at or --in: exactly one of them")
    if what is not None and not _is_expression(what):
        if calendar or on_closed:
            raise click.UsageError("a job has its own calendar")
        _of_job(front, what, after, n, down_from, up_at)
        return
    if down_from or up_at:
        raise click.UsageError("--down-from and --up-at need a job: what is skipped depends on its policies")
    from schedcore._host.now import now

    options = {"every": every, "at": at, "in": in_}
    given = {name: value for name, value in options.items() if value} or {kind_of(str(what)): str(what)}
    given |= {name: value for name, value in (("calendar", calendar), ("on_closed", on_closed)) if value}
    zone = front.zone()
    start = now() if after is None else times.read_instant(after, zone, "--after")
    try:
        trigger = Trigger.parse(
            given,
            now_us=start,
            default_zone=zone,
            past_ok=True,
            calendars=_calendars(front, calendar),
            field="",
        )
    except Refused as error:
        error.field = (error.field or "").lstrip(".") or None
        raise
    show(front, trigger, preview(trigger, start, n, lang=front.language()), now())


def show(front: Front, trigger: Trigger, slots: list[PreviewSlot], now: int) -> None:
    """The slots, and what the trigger is in words."""
    if front.json:
        dropped = [slot.dropped.as_dict() for slot in slots if slot.dropped is not None]
        answer.emit(
            {"slots": [slot.as_dict() for slot in slots], **({"dropped": dropped} if dropped else {})}
        )
        return
    answer.line(describe(trigger, front.language()))
    if not slots:
        answer.note(words_of(front.language()).say("no_further_slot"))
        return
    zone = front.tz or trigger.zone
    rows = [
        (text(slot.us), times.there(slot.us, zone), times.left(slot.us, now), slot.note or "")
        for slot in slots
    ]
    columns = 4 if any(slot.note for slot in slots) else 3
    answer.table(("UTC", "LOCAL", "LEFT", "NOTE")[:columns], [row[:columns] for row in rows])


def _calendars(front: Front, name: str | None) -> Calendars | None:
    """The calendars there are; plugins are asked only for a name that the settings have not."""
    if name is None:
        return None
    settings = front.settings()
    known = settings.calendars
    if name not in known:
        from schedcore._host.plugins import gather

        known = gather(settings).toolbox.calendars
    return Calendars(known, settings.day_time)


def _is_expression(what: str) -> bool:
    if hint := bare_duration_hint(what):
        raise Refused(
            f"{what!r} may be each time or once", code="bare_duration", field="what", value=what, hint=hint
        )
    return " " in what.strip() or what.startswith("@") or kind_of(what) == "at"


def _of_job(
    front: Front, job: str, after: str | None, n: int, down_from: str | None, up_at: str | None
) -> None:
    if (down_from is None) != (up_at is None):
        raise click.UsageError("--down-from and --up-at go together")
    with front.control() as control:
        if down_from is not None and up_at is not None:
            _tell_down(front, control.down(job, down_from, up_at))
            return
        found = control.next(job, zone=front.tz, after=after, n=n)
    if front.json:
        told = {name: found[name] for name in ("slots", "dropped") if found.get(name) is not None}
        answer.emit(told)
        return
    from schedcore._host.now import now

    answer.line(str(found["trigger"]))
    if found.get("note"):
        answer.note(str(found["note"]))
    if found["slots"]:
        saying.slots(front, found["slots"], str(found.get("zone") or "UTC"), now())
    else:
        answer.note(words_of(front.language()).say("no_further_slot"))


def _tell_down(front: Front, found: dict[str, Any]) -> None:
    if front.json:
        answer.emit(found)
        return
    for run in found["runs"]:
        late = ", late" if run.get("late") else ""
        answer.line(f"would run      {run['utc']}  {run['local']}  starts {run['starts_at']}{late}")
    for row in found["skipped"]:
        to = "" if row["first"] == row["last"] else f" to {row['last']}"
        answer.line(f"would be skipped  {row['first']}{to}  {row['slots']} slots: {row['reason']}")
    if not found["runs"] and not found["skipped"]:
        answer.line("no slot falls into that time")
    if found.get("next"):
        answer.line(f"after that: {found['next']}")
