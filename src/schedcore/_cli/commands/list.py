"""``schedcore list``."""

from __future__ import annotations

from typing import Any

import click

from schedcore._cli import answer, saying, times
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import listing
from schedcore.domain.clock import text
from schedcore.domain.names import JOB_STATES

__all__ = ["command"]


@make("list")
@click.argument("part", metavar="[TEXT]", required=False)
@listing(1000, *JOB_STATES.own)
@click.option("--kind", metavar="KIND", help="Of this kind of work.")
@click.option("--all", "everything", is_flag=True, help="Retired ones too.")
def command(
    front: Front,
    part: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    states: tuple[str, ...],
    tag: str | None,
    kind: str | None,
    everything: bool,
) -> None:
    """List the jobs, what comes next first.

    TEXT is a part of their keys. --since and --until bound the next slot.
    """
    from schedcore._host.now import now

    at, zone = now(), front.tz or "UTC"
    low, high = times.read_past(since, zone, at, "--since"), times.read_past(until, zone, at, "--until")
    wanted = [JOB_STATES.read(state, "--state") for state in states]
    with front.control() as control:
        found = control.jobs(
            states=wanted, kind=kind, label=tag, text=part, limit=limit, all_states=everything
        )
    found = [job for job in found if _within(job["next_run_at"], low, high)]
    if front.json:
        answer.emit({"jobs": found})
        return
    if not found:
        answer.note("there are no jobs here; schedcore add --help says how to add one")
        return
    titles = ("NEXT", "LEFT", "LAST", "PASSED", "JOB", "TRIGGER", "STATE")
    answer.table(titles, [_row(front, job, at) for job in found], states=[6])


def _within(next_run: str | None, low: int | None, high: int | None) -> bool:
    if low is None and high is None:
        return True
    if next_run is None:
        return False
    return (low is None or next_run >= text(low)) and (high is None or next_run < text(high))


def _row(front: Front, job: dict[str, Any], now: int) -> tuple[Any, ...]:
    last = job.get("last")
    slot = None if last is None else saying.instant(last["scheduled_for"])
    return (
        saying.local(front, job, "next_run_at"),
        times.left(saying.instant(job["next_run_at"]), now),
        None if last is None else saying.local(front, last, "scheduled_for"),
        None if slot is None else times.span(now - slot),
        job["key"],
        job["trigger"],
        job["state"] if not job.get("state_reason") else f"{job['state']}: {job['state_reason']}",
    )
