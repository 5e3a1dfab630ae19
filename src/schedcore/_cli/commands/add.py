"""``schedcore add``."""

from __future__ import annotations

from typing import Any

import click

from schedcore._cli import answer, saying
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import reason as reason_option
from schedcore._cli.ordering import OrderCommand, fields_given, job_fields
from schedcore.domain.words import words_of

__all__ = ["command", "preview"]


@make("add", cls=OrderCommand)
@click.argument("key")
@click.argument("schedule", required=False)
@job_fields
@reason_option
@dry_run_option
def command(
    front: Front, key: str, schedule: str | None, reason: str | None, dry_run: bool, **options: Any
) -> None:
    """Add a job.

    Its next slots are shown before it is stored; --dry-run stops there. SCHEDULE is a cron expression or an
    instant; without any, the job is due once, at once.

    \b
    schedcore add backup "30 2 * * *" --zone Europe/Berlin -- /usr/local/bin/backup --all
    schedcore add ping --every 30m --set timeout=20s -- curl -fsS https://example.org
    schedcore add report --at 2026-11-01T09:30 --payload @report.json
    """
    order = fields_given(click.get_current_context(), schedule, **options)
    order = {"kind": "script", **order, "key": key}
    if front.tz and "zone" not in order:
        order["zone"] = front.tz
    with front.control(plugins=True) as control:
        found = control.add(order, reason=reason, dry_run=True)
        preview(front, found)
        if not dry_run:
            found = control.add(order, reason=reason)
    would = "would be added" if dry_run else f"is added, {found['state']}, as {found['id']}"
    saying.done(front, found, f"{found['key']} {would}")


def preview(front: Front, found: dict[str, Any]) -> None:
    """What the trigger is in words, and its next slots; for people."""
    if front.json or front.quiet or "slots" not in found:
        return
    from schedcore._host.now import now

    zone = str(found.get("zone") or "UTC")
    if isinstance(found.get("trigger"), str):
        answer.line(found["trigger"])
    if found["slots"]:
        saying.slots(front, found["slots"], zone, now())
    else:
        answer.line(words_of(front.language()).say("no_further_slot"))
