"""``schedcore run``: now (A-15)."""

from __future__ import annotations

import click

from schedcore._cli import saying
from schedcore._cli.command import command as make
from schedcore._cli.following import follow
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import job as job_argument
from schedcore._cli.options import reason as reason_option

__all__ = ["command"]


@make("run")
@job_argument
@click.option("--wait", is_flag=True, help="Print what it writes, and exit with its outcome.")
@click.option("--timeout", type=click.FloatRange(0), metavar="SECONDS", help="With --wait: how long at most.")
@click.option(
    "--overlap", type=click.Choice(["parallel"]), help="Run even beside a live run; it is recorded."
)
@reason_option
@dry_run_option
def command(
    front: Front,
    job: str,
    wait: bool,
    timeout: float | None,
    overlap: str | None,
    reason: str | None,
    dry_run: bool,
) -> int | None:
    """Run a job now.

    The run is made at once and begun by a host that lives. The job's schedule does not move.
    """
    with front.control() as control:
        found = control.run(job, reason=reason, overlap=overlap, dry_run=dry_run)
        if dry_run or not wait:
            would = "a run of {key} would be made" if dry_run else "run {run} of {key} is queued"
            saying.done(front, found, would.format(**found))
            return None
        saying.warnings(found)
        return follow(front, control, found["run"], timeout)
