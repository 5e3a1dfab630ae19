"""``schedcore why`` (P-02)."""

from __future__ import annotations

import click

from schedcore._cli import answer
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
