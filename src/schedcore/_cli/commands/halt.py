"""``schedcore halt`` (A-17)."""

from __future__ import annotations

import click

from schedcore._cli import saying
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import reason as reason_option

__all__ = ["command"]


@make("halt")
@click.argument("state", type=click.Choice(["on", "off"]), default="on")
@reason_option
@dry_run_option
def command(front: Front, state: str, reason: str | None, dry_run: bool) -> None:
    """Stop all claims, or let them go on.

    On every host: nothing new begins until `schedcore halt off`; what runs now may end. A --reason is needed.
    """
    with front.control() as control:
        found = control.halt(state == "on", reason, dry_run=dry_run)
    already = "" if found["changed"] else " already"
    is_so = f"halted{already}: nothing new begins" if found["halted"] else f"not halted{already}"
    saying.done(front, found, f"all hosts are {is_so}")
