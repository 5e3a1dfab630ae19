"""``schedcore init``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from schedcore._cli import answer, templates
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore.domain.errors import Conflict

__all__ = ["command"]


@make("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@dry_run_option
def command(front: Front, folder: Path, dry_run: bool) -> None:
    """Write a first schedcore.toml with an example job.

    Into FOLDER, the current one by default, or to the path of --config. What is there is never overwritten.
    """
    target = Path(front.config) if front.config else folder / "schedcore.toml"
    script = target.parent / "hello.sh"
    files = {target: (templates.CONFIG, 0o644), script: (templates.SCRIPT, 0o755)}
    for path in files:
        if path.exists() or path.is_symlink():
            raise Conflict(
                f"{path} is there already; it was left as it is",
                code="exists",
                field="folder",
                value=str(path),
                hint="name another folder, or move it away",
            )
    if not dry_run:
        target.parent.mkdir(parents=True, exist_ok=True)
        for path, (text, mode) in files.items():
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with open(fd, "w", encoding="utf-8") as file:
                file.write(text)
    names = [str(path) for path in files]
    if front.json:
        answer.emit({"written": names, "dry_run": dry_run})
        return
    if not front.quiet:
        would = "would be written" if dry_run else "written"
        answer.line(f"{would}: {', '.join(names)}")
    if not dry_run and not front.quiet:
        answer.note(f"next: schedcore --config {target} serve")
