"""``schedcore db backup`` (R-12)."""

from __future__ import annotations

from pathlib import Path

import click

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.progress import bar

__all__ = ["command"]


@make("backup")
@click.argument("dest", required=False, type=click.Path(path_type=Path))
@click.option(
    "--keep", type=click.IntRange(1, 365), metavar="N", help="Backups that stay in the folder; 14 unless set."
)
@dry_run_option
def command(front: Front, dest: Path | None, keep: int | None, dry_run: bool) -> None:
    """Back the ledger up while hosts go on.

    DEST is a folder, or a new file ending in .backup. It holds one instant of the ledger, and beside it stands
    a manifest with its checksum.
    """
    from schedcore._host.backing_up import backup

    with bar(front) as progress:
        found = backup(front.settings(), front.actor(), dest, keep=keep, dry_run=dry_run, progress=progress)
    if front.json:
        answer.emit(found)
    elif dry_run:
        answer.line(f"the backup would be {found['file']} (dry run: nothing was written)")
    elif not front.quiet:
        gone = len(found["removed"])
        older = f"; {gone} older {'is' if gone == 1 else 'are'} removed" if gone else ""
        answer.line(f"{found['file']}: {found['bytes']} bytes{older}")
