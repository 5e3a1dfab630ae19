"""``schedcore runs logs`` (L-16)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.following import print_new
from schedcore._cli.front import Front
from schedcore._cli.options import run as run_argument

if TYPE_CHECKING:
    from schedcore._host.control import Control

__all__ = ["command"]


@make("logs")
@run_argument
@click.option("-f", "--follow", is_flag=True, help="Until the run is final.")
def command(front: Front, run: str, follow: bool) -> None:
    """Print what a run wrote.

    The whole of it lies on the host that ran it; elsewhere the last 8 KiB are shown, and that host is named.
    """
    with front.control() as control:
        for found in control.follow_logs(run) if follow else _whole(control, run):
            if front.json:
                answer.emit(found)
                continue
            print_new(found)
            if found.get("note"):
                answer.note(str(found["note"]))


def _whole(control: Control, run: str) -> Iterator[dict[str, Any]]:
    """All that is there now, piece by piece."""
    found = control.logs(run)
    yield found
    while found["where"] == "file" and found["text"]:
        found = control.logs(run, offset=found["offset"])
        if found["text"]:
            yield found
