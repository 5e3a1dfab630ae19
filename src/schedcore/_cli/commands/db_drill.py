"""``schedcore db drill`` (R-12)."""

from __future__ import annotations

from pathlib import Path

import click

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore._cli.progress import bar

__all__ = ["command"]


@make("drill")
@click.argument("backup", required=False, type=click.Path(path_type=Path))
@click.option("--scratch", metavar="URL", help="An empty database for it, where the role may make none.")
def command(front: Front, backup: Path | None, scratch: str | None) -> int:
    """Try whether the newest backup can be restored.

    BACKUP is a file, or a folder whose newest is taken. It is restored into a scratch ledger, compared with its
    manifest, audited as `schedcore fsck` does, and removed. Exit 1 when anything is wrong.
    """
    from schedcore._host.drilling import drill

    with bar(front) as progress:
        found = drill(front.settings(), front.actor(), backup, scratch=scratch, progress=progress)
    if front.json:
        answer.emit(found)
        return 0 if found["ok"] else BAD
    for problem in found["problems"]:
        answer.line(problem)
    for one in found["findings"]:
        answer.line(f"{one['rule']}  {one['job'] or ''}: {one['what']}")
    if found["ok"] and not front.quiet:
        rows = sum(found["backup"]["tables"].values())
        answer.line(f"{found['backup']['file']}: {rows} rows restored, the same as backed up, and true")
    return 0 if found["ok"] else BAD
