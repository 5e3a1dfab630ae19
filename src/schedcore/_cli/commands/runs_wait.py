"""``schedcore runs wait``."""

from __future__ import annotations

import click

from schedcore._cli import answer, saying
from schedcore._cli.command import command as make
from schedcore._cli.ending import TIMED_OUT
from schedcore._cli.front import Front
from schedcore._cli.options import run as run_argument

__all__ = ["command"]


@make("wait")
@run_argument
@click.option("--timeout", type=click.FloatRange(0), metavar="SECONDS", help="How long at most.")
def command(front: Front, run: str, timeout: float | None) -> int:
    """Wait until a run is final.

    The exit code is that of its outcome: 0 for succeeded and no_op, 1 for the others, 124 when it takes
    longer than --timeout.
    """
    with front.control() as control:
        found = control.wait(run, timeout)
    if front.json:
        answer.emit(found)
    elif not front.quiet:
        answer.line(saying.run_line(found))
    return TIMED_OUT if found.get("final") is False else saying.code_of(found)
