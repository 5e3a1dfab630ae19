"""``schedcore runs trace``."""

from __future__ import annotations

from schedcore._cli import answer, saying, times
from schedcore._cli.command import command as make
from schedcore._cli.commands.history import tell
from schedcore._cli.front import Front
from schedcore._cli.options import run as run_argument

__all__ = ["command"]


@make("trace")
@run_argument
def command(front: Front, run: str) -> None:
    """Show the events of a run in order.

    What it retries, what came of it, its attempts, and the orders that concern it.
    """
    with front.control() as control:
        found = control.trace(run)
    if front.json:
        answer.emit(found)
        return
    answer.line(saying.run_line(found["run"]))
    for name in ("retry_of", "parent"):
        if other := found.get(name):
            answer.line(f"  {name.replace('_', ' ')}: {_named(other)}")
    for attempt in found.get("attempts") or ():
        ended = attempt.get("outcome") or "running"
        took = times.length(attempt.get("duration_ms")) or "-"
        started = saying.local(front, attempt, "started_at")
        answer.line(
            f"  attempt {attempt['number']}  {started}  {ended} after {took} on {attempt.get('host')}"
        )
    for event in found.get("events") or ():
        tell(front, event)
    for name in ("retries", "children"):
        for other in found.get(name) or ():
            answer.line(f"  {name}: {_named(other)}")


def _named(other: object) -> str:
    return saying.run_line(other) if isinstance(other, dict) and "state" in other else f"run {other}"
