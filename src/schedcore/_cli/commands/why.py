"""``schedcore why`` (P-02)."""

from __future__ import annotations

import click

from schedcore._cli import answer, saying
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import job as job_argument

__all__ = ["command"]


@make("why")
@job_argument
@click.argument("time")
def command(front: Front, job: str, time: str) -> None:
    """Say why a job ran, or did not, at a time.

    TIME is an instant such as 2026-11-01T09:30:00-05:00, or a clock of the job's zone. The answer comes from
    the ledger alone.
    """
    with front.control() as control:
        found = control.why(job, time)
    if front.json:
        answer.emit(found)
        return
    answer.line(str(found["sentence"]))
    told = [
        ("definition", found.get("definition")),
        ("by", found.get("actor")),
        ("reason", found.get("reason")),
    ]
    if found.get("run"):
        told.append(("run", found["run"] if not isinstance(found["run"], dict) else found["run"].get("id")))
    answer.fields([(name, value) for name, value in told if value is not None and not front.quiet])
    saying.warnings(found)
