"""``schedcore runs release`` (F-11)."""

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


@make("release")
@run_argument
@reason_option
@dry_run_option
def command(front: Front, run: str, reason: str | None, dry_run: bool) -> int | None:
    """Take a run from a host that is dead.

    It ends interrupted. If its host lives after all, its work goes on beside whatever runs next: use cancel
    for that. A --reason is needed.
    """
    with front.control() as control:
        found = control.release(run, reason, dry_run=True)
        if not dry_run:
            if not sure(front, f"take run {run} of {found.get('key', 'its job')} from its host"):
                return BAD
            found = control.release(run, reason)
    saying.done(front, found, f"run {run} is interrupted")
    return None
