"""``schedcore pause``."""

from __future__ import annotations

import click

from schedcore._cli import saying
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import job as job_argument
from schedcore._cli.options import reason as reason_option

__all__ = ["command"]


@make("pause")
@job_argument
@click.option("--stop", is_flag=True, help="Stop what runs now, too; it ends cancelled.")
@reason_option
@dry_run_option
def command(front: Front, job: str, stop: bool, reason: str | None, dry_run: bool) -> None:
    """Stop opening slots of a job.

    What runs may end, unless --stop is given.
    """
    with front.control() as control:
        found = control.pause(job, reason=reason, mode="stop" if stop else "drain", dry_run=dry_run)
    live = "".join(f"; run {run['run']} is {run['now']}" for run in found.get("runs") or ())
    saying.done(front, found, f"{found['key']} is paused{live}")
