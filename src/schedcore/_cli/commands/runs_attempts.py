"""``schedcore runs attempts`` (L-21)."""

from __future__ import annotations

from schedcore._cli import answer, saying, times
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import run as run_argument

__all__ = ["command"]


@make("attempts")
@run_argument
def command(front: Front, run: str) -> None:
    """List the attempts of a run."""
    with front.control() as control:
        found = control.attempts(run)
    if front.json:
        answer.emit({"attempts": found})
        return
    if not found:
        answer.note(f"run {run} was not tried yet")
        return
    rows = [
        (
            attempt["number"],
            saying.local(front, attempt, "started_at"),
            times.length(attempt.get("duration_ms")),
            attempt.get("outcome") or "running",
            attempt.get("error_kind") or attempt.get("reason"),
            attempt.get("exit_code"),
            attempt.get("host"),
            attempt.get("error_text") or attempt.get("text"),
        )
        for attempt in found
    ]
    titles = ("TRY", "STARTED", "TOOK", "OUTCOME", "REASON", "EXIT", "HOST", "ERROR")
    answer.table(titles, rows, states=[3])
