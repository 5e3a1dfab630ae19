"""``schedcore history`` (P-16)."""

from __future__ import annotations

import click

from schedcore._cli import answer, saying, times
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import job as job_argument
from schedcore.domain.clock import text

__all__ = ["command", "tell"]


@make("history")
@job_argument
@click.option("--since", metavar="WHEN", help="From an instant on, or how long ago: 24h.")
@click.option("--until", metavar="WHEN", help="Before an instant, or how long ago.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=200, show_default=True, metavar="N")
def command(front: Front, job: str, since: str | None, until: str | None, limit: int) -> None:
    """Show who changed a job, when and why."""
    from schedcore._host.now import now

    at, zone = now(), front.tz or "UTC"
    low, high = times.read_past(since, zone, at, "--since"), times.read_past(until, zone, at, "--until")
    with front.control() as control:
        found = control.history(job, limit=limit)
    found = [
        event
        for event in found
        if (low is None or event["at"] >= text(low)) and (high is None or event["at"] < text(high))
    ]
    if front.json:
        answer.emit({"events": found})
        return
    for event in found:
        tell(front, event)


def tell(front: Front, event: dict[str, object], job: str = "") -> None:
    """One event for people: a line, and below it what changed."""
    reason = f": {event['reason']}" if event.get("reason") else ""
    run = f" run {event['run']}" if event.get("run") else ""
    who = f"{event['actor_kind']} {event['actor']}"
    number = f"#{event['number']}"
    answer.line(f"{saying.local(front, event, 'at')}  {number}  {job}{event['action']}{run} by {who}{reason}")
    told = event.get("changes")
    if isinstance(told, dict) and event["action"] != "create":
        saying.changes(
            {name: pair for name, pair in told.items() if isinstance(pair, list) and len(pair) == 2}
        )
