"""``schedcore db upgrade`` (L-03)."""

from __future__ import annotations

import click

from schedcore._cli import answer, saying
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.progress import bar

__all__ = ["command"]


@make("upgrade")
@click.option("--dry-run", is_flag=True, help="Print the SQL; change nothing.")
def command(front: Front, dry_run: bool) -> None:
    """Bring the ledger to this version's schema.

    A host does so by itself when it starts.
    """
    from schedcore._host.upgrading import upgrade

    with bar(front) as progress:
        found = upgrade(front.settings(), dry_run=dry_run, progress=progress)
    if front.json:
        answer.emit(found)
    elif found["before"] == found["after"]:
        saying.done(front, {}, f"the ledger is at schema {found['after']} already")
    elif dry_run:
        click.echo(str(found["sql"]).rstrip())
    else:
        saying.done(front, {}, f"the ledger went from schema {found['before'] or 'none'} to {found['after']}")
