"""``schedcore db restore`` (R-12, G12)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from schedcore._cli import answer, saying
from schedcore._cli.asking import sure
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.progress import bar

__all__ = ["command"]


@make("restore")
@click.argument("backup", required=False, type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Write over a ledger that has jobs or runs in it.")
@dry_run_option
def command(front: Front, backup: Path | None, replace: bool, dry_run: bool) -> int | None:
    """Put a backup in the ledger's place.

    BACKUP is a file, or a folder whose newest is taken. Nothing is written before it is checked, and then all
    of it or nothing. The hold `restored` stops all claims until `schedcore halt off`.
    """
    from schedcore._host.restoring import restore

    settings, actor = front.settings(), front.actor()
    with bar(front) as progress:
        found = restore(settings, actor, backup, dry_run=True, progress=progress)
    if not dry_run:
        if replace and not found["target"]["empty"] and not sure(front, _question(found)):
            return BAD
        with bar(front) as progress:
            file = Path(found["backup"]["file"])
            found = restore(settings, actor, file, replace=replace, progress=progress)
    _say(front, found)
    return None


def _question(found: Mapping[str, Any]) -> str:
    there = found["target"]
    return (
        f"write the backup of {found['backup']['made_at']} over {there['ledger']}, with {there['jobs']} jobs and"
        f" {there['runs']} runs, the newest event of {there['newest_event_at']}"
    )


def _say(front: Front, found: Mapping[str, Any]) -> None:
    if front.json or front.quiet:
        saying.done(front, found, "")
        return
    backup, there = found["backup"], found["target"]
    lost = "nothing" if there["empty"] else f"{there['jobs']} jobs and {there['runs']} runs"
    answer.fields(
        (
            ("backup", backup["file"]),
            ("made at", backup["made_at"]),
            ("holds", f"{backup['tables'].get('jobs', 0)} jobs, {backup['tables'].get('runs', 0)} runs"),
            ("ledger", there["ledger"]),
            ("written over", lost),
            ("incarnation", found["incarnation"]),
        )
    )
    saying.done(front, found, "restored; all claims are held until `schedcore halt off`")
