"""``schedcore runs retry`` (A-15)."""

from __future__ import annotations

import click

from schedcore._cli import saying
from schedcore._cli.command import command as make
from schedcore._cli.following import follow
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import reason as reason_option
from schedcore._cli.options import run as run_argument

__all__ = ["command"]


@make("retry")
@run_argument
@click.option("--wait", is_flag=True, help="Print what it writes, and exit with its outcome.")
@click.option("--timeout", type=click.FloatRange(0), metavar="SECONDS", help="With --wait: how long at most.")
@reason_option
@dry_run_option
def command(
    front: Front, run: str, wait: bool, timeout: float | None, reason: str | None, dry_run: bool
) -> int | None:
    """Run a final run's job again, linked to it.

    The new run keeps the delivery key of the first, so that nothing is sent twice.
    """
    with front.control() as control:
        found = control.retry(run, reason, dry_run=dry_run)
        if dry_run or not wait:
            new = "a further run" if dry_run else f"run {found['run']}"
            saying.done(front, found, f"{new} of {found['key']} retries run {run}")
            return None
        saying.warnings(found)
        return follow(front, control, found["run"], timeout)
