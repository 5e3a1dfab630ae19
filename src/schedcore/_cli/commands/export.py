"""``schedcore export``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.progress import bar

__all__ = ["command"]


@make("export")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Into a new file.")
@click.option("--only", type=click.Choice(["jobs", "runs", "events"]), multiple=True, help="Only these.")
@click.option("--dry-run", is_flag=True, help="Count the lines; write none.")
def command(front: Front, output: Path | None, only: tuple[str, ...], dry_run: bool) -> None:
    """Write the ledger as JSON lines.

    Jobs with all their definitions, runs with their attempts, skipped slots, events; the archive too.
    """
    wanted = set(only or ("jobs", "runs", "events"))
    count = 0
    with front.control() as control, bar(front, beside=output is not None or dry_run) as progress:
        lines = control.export(
            jobs="jobs" in wanted, runs="runs" in wanted, events="events" in wanted, progress=progress
        )
        if dry_run:
            count = sum(1 for _ in lines)
        elif output is None:
            for record in lines:
                click.echo(json.dumps(record))
            return
        else:
            fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(fd, "w", encoding="utf-8") as file:
                for record in lines:
                    file.write(json.dumps(record) + "\n")
                    count += 1
    if front.json:
        answer.emit({"lines": count, "file": None if output is None else str(output), "dry_run": dry_run})
    elif not front.quiet:
        answer.line(f"{count} lines" + ("" if dry_run or output is None else f" are in {output}"))
