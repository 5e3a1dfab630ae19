"""``schedcore runs list``."""

from __future__ import annotations

import click

from schedcore._cli import answer, saying
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.job_argument import complete_job
from schedcore._cli.options import listing
from schedcore.domain.names import RUN_STATES

__all__ = ["command"]


@make("list")
@click.option("--job", metavar="JOB", shell_complete=complete_job, help="Of this job.")
@listing(50, *RUN_STATES.own)
@click.option(
    "--trigger",
    "triggers",
    multiple=True,
    type=click.Choice(["schedule", "manual", "backfill", "keep_alive", "event", "wrapped"]),
    help="Why the run exists.",
)
def command(
    front: Front,
    job: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    states: tuple[str, ...],
    tag: str | None,
    triggers: tuple[str, ...],
) -> None:
    """List runs, newest first."""
    with front.control() as control:
        found = control.runs(
            job=job,
            states=[RUN_STATES.read(state, "--state") for state in states],
            triggers=triggers,
            since=since,
            until=until,
            label=tag,
            limit=limit,
        )
    if front.json:
        answer.emit({"runs": found})
    elif not found:
        answer.note("there are no such runs")
    else:
        saying.runs_table(front, found)
