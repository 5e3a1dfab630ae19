"""``schedcore runs logs`` (L-16)."""

from __future__ import annotations

import click

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.following import print_new
from schedcore._cli.front import Front
from schedcore._cli.options import run as run_argument

__all__ = ["command"]


@make("logs")
@run_argument
@click.option("-f", "--follow", is_flag=True, help="Until the run is final.")
def command(front: Front, run: int, follow: bool) -> None:
    """Print what a run wrote.

    The whole of it lies on the host that ran it; elsewhere the last 8 KiB are shown, and that host is named.
    """
    with front.control() as control:
        looks = control.follow_logs(run) if follow else iter([control.logs(run)])
        for found in looks:
            if front.json:
                answer.emit(found)
            elif found["where"] == "file":
                print_new(found)
            elif not follow or found["final"]:
                for name in ("stdout_tail", "stderr_tail"):
                    print_new({"text": found.get(name)})
            if found.get("note") and not front.json:
                answer.note(str(found["note"]))
