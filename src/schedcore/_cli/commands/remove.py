"""``schedcore remove``."""

from __future__ import annotations

from schedcore._cli import saying
from schedcore._cli.asking import sure
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import job as job_argument
from schedcore._cli.options import reason as reason_option

__all__ = ["command"]


@make("remove")
@job_argument
@reason_option
@dry_run_option
def command(front: Front, job: str, reason: str | None, dry_run: bool) -> int | None:
    """Retire a job; its history stays.

    No slot of it opens any more, and its key is free for another job. What runs now may end.
    """
    with front.control() as control:
        found = control.remove(job, reason=reason, dry_run=True)
        if not dry_run:
            if not sure(front, f"retire job {found['key']}{_live(found)}"):
                return BAD
            found = control.remove(found["id"], reason=reason)
    saying.done(front, found, f"{found['key']} is retired; its history stays{_live(found)}")
    return None


def _live(found: dict[str, object]) -> str:
    return f", of which {found['live']} runs are not final" if found.get("live") else ""
