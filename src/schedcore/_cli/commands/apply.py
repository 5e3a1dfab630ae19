"""``schedcore apply``: the jobs of files (F-16)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from schedcore._cli import answer, saying
from schedcore._cli.asking import sure
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD, USAGE, WOULD_CHANGE
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import reason as reason_option
from schedcore._cli.progress import bar
from schedcore.domain.errors import Refused

__all__ = ["command"]


@make("apply")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--diff", is_flag=True, help="Show each field that changes.")
@click.option("--prune", is_flag=True, help="Retire jobs of this source that are no longer declared.")
@click.option("--check", is_flag=True, help="Write nothing; exit 10 when something would change.")
@reason_option
@dry_run_option
def command(
    front: Front, file: Path | None, diff: bool, prune: bool, check: bool, reason: str | None, dry_run: bool
) -> int:
    """Make the jobs what a file declares.

    FILE is TOML or JSON with [jobs.KEY] tables; without it, the settings file and its job_files are taken.
    Jobs are found by key. Nothing is deleted, and only --prune retires. A job that is refused is named, and
    the others are taken.
    """
    from schedcore._host import job_files

    settings = front.settings()
    declared = job_files.read_all(settings) if file is None else job_files.read_file(file)
    source = job_files.SOURCE if file is None else job_files.source_of(settings, file)
    if declared.faults and prune:
        raise _first(declared.faults, "nothing is retired while a file cannot be read whole")
    with front.control(plugins=True) as control:
        with bar(front) as progress:
            found = control.apply(
                declared.orders, source=source, prune=prune, dry_run=True, reason=reason, progress=progress
            )
        write = not (dry_run or check)
        if write and prune and found["retires"]:
            keys = ", ".join(job["key"] for job in found["retires"])
            if not sure(front, f"retire {keys}"):
                return BAD
        if write and found["changes"]:
            with bar(front) as progress:
                found = control.apply(
                    declared.orders, source=source, prune=prune, reason=reason, progress=progress
                )
    found = {**found, "dry_run": not write}
    found["rejects"] = [*(_fault(error) for error in declared.faults), *found["rejects"]]
    if front.json:
        answer.emit(found)
    else:
        _tell(front, found, diff=diff)
    if found["rejects"]:
        return USAGE
    return WOULD_CHANGE if check and found["changes"] else 0


def _first(faults: list[Refused], hint: str) -> Refused:
    error = faults[0]
    error.hint = f"{error.hint}; {hint}" if error.hint else hint
    return error


def _fault(error: Refused) -> dict[str, Any]:
    return {"external_id": None, "errors": [error.as_dict()]}


def _tell(front: Front, found: dict[str, Any], *, diff: bool) -> None:
    signs = (("creates", "+"), ("edits", "~"), ("revives", "^"), ("retires", "-"))
    for name, sign in signs:
        for job in found[name]:
            answer.line(f"{sign} {job['key']}")
            if diff:
                saying.changes(job.get("changed") or {})
            saying.warnings(job)
    for job in found["rejects"]:
        for error in job["errors"]:
            where = ".".join(part for part in (job["external_id"], error.get("field")) if part)
            hint = f" ({error['hint']})" if error.get("hint") else ""
            answer.note(f"refused: {where}: {error['message']}{hint}")
    if found.get("would_retire"):
        keys = ", ".join(job["key"] for job in found["would_retire"])
        answer.note(f"no longer declared: {keys}; --prune retires them")
    if not front.quiet:
        counts = ", ".join(f"{len(found[name])} {_said(name)}" for name, _ in signs if found[name])
        would = "would be: " if found["dry_run"] and counts else ""
        answer.line(f"{would}{counts or 'nothing to change'}; {found['unchanged']} unchanged")


def _said(name: str) -> str:
    return {"creates": "created", "edits": "edited", "revives": "revived", "retires": "retired"}[name]
