"""``schedcore resume``."""

from __future__ import annotations

from schedcore._cli import saying
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import job as job_argument
from schedcore._cli.options import reason as reason_option

__all__ = ["command"]


@make("resume")
@job_argument
@reason_option
@dry_run_option
def command(front: Front, job: str, reason: str | None, dry_run: bool) -> None:
    """Open slots of a paused job again.

    The slots that passed meanwhile are counted in one row; none of them runs.
    """
    with front.control() as control:
        found = control.resume(job, reason=reason, dry_run=dry_run)
    passed = f"; {found['passed']} slots passed meanwhile" if found.get("passed") else ""
    coming = saying.local(front, found, "next_run_at")
    following = f"; the next slot is {coming}" if coming else "; there is no further slot"
    saying.done(front, found, f"{found['key']} is {found['state']}{passed}{following}")
