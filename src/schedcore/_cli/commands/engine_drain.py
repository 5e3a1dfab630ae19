"""``schedcore engine drain``."""

from __future__ import annotations

import click

from schedcore._cli import saying
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import reason as reason_option

__all__ = ["command"]


@make("drain")
@click.argument("host")
@reason_option
@dry_run_option
def command(front: Front, host: str, reason: str | None, dry_run: bool) -> None:
    """Let a host finish its work and take no more.

    HOST is an id or a name from `schedcore engine list`.
    """
    with front.control() as control:
        found = control.drain(host, reason=reason, dry_run=dry_run)
    names = ", ".join(f"{each['name']} (id {each['id']})" for each in found["hosts"])
    saying.done(front, found, f"{names}: takes no more work")
