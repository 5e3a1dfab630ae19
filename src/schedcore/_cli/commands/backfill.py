"""``schedcore backfill`` (A-15)."""

from __future__ import annotations

import click

from schedcore._cli import answer, saying
from schedcore._cli.asking import sure
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import job as job_argument
from schedcore._cli.options import reason as reason_option
from schedcore._cli.progress import bar

__all__ = ["command"]


@make("backfill")
@job_argument
@click.argument("from_", metavar="FROM")
@click.argument("to", metavar="TO")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, metavar="N")
@reason_option
@dry_run_option
def command(
    front: Front, job: str, from_: str, to: str, limit: int, reason: str | None, dry_run: bool
) -> int | None:
    """Run the slots of a past period that got no run.

    FROM and TO are instants, both inclusive. The oldest slots come first, and they run today's definition
    of the job.
    """
    with front.control() as control:
        with bar(front) as progress:
            found = control.backfill(
                job, from_, to, limit=limit, reason=reason, dry_run=True, progress=progress
            )
        if not dry_run and found["opened"]:
            if not sure(
                front, f"open {found['opened']} runs of {found.get('key', job)}, from {from_} to {to}"
            ):
                return BAD
            with bar(front) as progress:
                found = control.backfill(job, from_, to, limit=limit, reason=reason, progress=progress)
        elif not dry_run:
            found = {**found, "dry_run": False}
    left = f"; {found['left']} more are left" if found.get("left") else ""
    already = f"; {found['answered']} have an answer already" if found.get("answered") else ""
    saying.done(front, found, f"{found['opened']} slots opened{already}{left}")
    if found.get("note") and not front.json:
        answer.note(str(found["note"]))
    return None
