"""``schedcore runs cancel`` (F-11)."""

from __future__ import annotations

from functools import partial

from schedcore._cli import saying
from schedcore._cli.asking import asked_first
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore._cli.options import run_order

__all__ = ["command"]


@make("cancel")
@run_order
def command(front: Front, run: str, reason: str | None, dry_run: bool) -> int | None:
    """Stop a run.

    One that waits ends cancelled at once; one that runs is asked to end, and killed 10 s later. A --reason
    is needed.
    """
    with front.control() as control:
        found = asked_first(
            front,
            partial(control.cancel, run, reason),
            lambda found: f"stop run {run} of {found['key']}",
            dry_run=dry_run,
        )
    if found is None:
        return BAD
    saying.done(front, found, f"run {run} of {found['key']} is {found['now']}")
    return None
