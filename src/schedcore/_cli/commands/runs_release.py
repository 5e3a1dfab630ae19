"""``schedcore runs release`` (F-11)."""

from __future__ import annotations

from functools import partial

from schedcore._cli import saying
from schedcore._cli.asking import asked_first
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore._cli.options import run_order

__all__ = ["command"]


@make("release")
@run_order
def command(front: Front, run: str, reason: str | None, dry_run: bool) -> int | None:
    """Take a run from a host that is dead.

    It ends interrupted. If its host lives after all, its work goes on beside whatever runs next: use cancel
    for that. A --reason is needed.
    """
    with front.control() as control:
        found = asked_first(
            front,
            partial(control.release, run, reason),
            lambda found: f"take run {run} of {found.get('key', 'its job')} from its host",
            dry_run=dry_run,
        )
    if found is None:
        return BAD
    saying.done(front, found, f"run {run} is interrupted")
    return None
