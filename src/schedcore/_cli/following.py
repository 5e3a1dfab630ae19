"""Following a run to its end: its output as it comes, then its outcome as the exit code."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from schedcore._cli import answer, saying
from schedcore._cli.ending import TIMED_OUT
from schedcore.domain.lines import escape

if TYPE_CHECKING:
    from schedcore._cli.front import Front
    from schedcore._host.control import Control

__all__ = ["follow", "print_new"]


def follow(front: Front, control: Control, run: str, timeout: float | None) -> int:
    """Print what a run writes until it is final; answers the exit code of its outcome.

    With ``--json`` nothing of its output is printed, only the run, once.
    """
    until = None if timeout is None else time.monotonic() + timeout
    offset, printed = 0, False
    while not front.json:
        found = control.logs(run, offset=offset)
        in_file = found["where"] == "file"
        if found["text"] and (in_file or (found["final"] and not printed)):
            print_new(found)
            printed = True
        if in_file:
            offset = found["offset"]
        more = in_file and bool(found["text"])
        if (found["final"] and not more) or (until is not None and time.monotonic() >= until):
            break
        if not more:
            control.sleep(0.2)
    left = None if until is None else max(0.0, until - time.monotonic())
    ended = control.wait(run, left)
    if front.json:
        answer.emit(ended)
    elif not front.quiet:
        answer.note(saying.run_line(ended))
    return TIMED_OUT if ended.get("final") is False else saying.code_of(ended)


def print_new(found: dict[str, Any]) -> None:
    """What a look at the output brought: as it is into a file or pipe, harmless on a terminal."""
    text = str(found.get("text") or "")
    if text and sys.stdout.isatty():
        text = "\n".join(escape(line).replace("\\t", "\t") for line in text.split("\n"))
    click.echo(text, nl=False)
