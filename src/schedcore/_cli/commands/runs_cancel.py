"""``schedcore runs cancel`` (F-11)."""

from __future__ import annotations

from schedcore._cli import saying
from schedcore._cli.asking import sure
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import reason as reason_option
from schedcore._cli.options import run as run_argument

__all__ = ["command"]


@make("cancel")
@run_argument
@reason_option
@dry_run_option
def command(front: Front, run: str, reason: str | None, dry_run: bool) -> int | None:
    """Stop a run.

    One that waits ends cancelled at once; one that runs is asked to end, and killed 10 s later. A --reason
    is needed.
    """
    with front.control() as control:
        found = control.cancel(run, reason, dry_run=True)
        if not dry_run:
            if not sure(front, f"stop run {run} of {found['key']}"):
                return BAD
            found = control.cancel(run, reason)
    saying.done(front, found, f"run {run} of {found['key']} is {found['now']}")
    return None
