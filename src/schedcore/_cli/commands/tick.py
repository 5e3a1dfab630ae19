"""``schedcore tick``: one beat and exit, safe beside a live host (R-09)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import takewhile
from threading import Event
from typing import Any

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.onlooking import Onlooker
from schedcore._cli.options import dry_run as dry_run_option
from schedcore.domain.clock import text

__all__ = ["command"]

_STILL_S = 1.0
_DRAIN_S = 25 * 3_600.0
"""What it has begun, it lets end: no time limit is longer than a day."""


@make("tick")
@dry_run_option
def command(front: Front, dry_run: bool) -> None:
    """Do what is due, once, and exit.

    Due slots are opened, and what this host can take is run to its end. Beside a live host it does no harm: a
    slot has one run, whoever opens it. So a line in a crontab may be the net below the service.
    """
    from schedcore._host.now import now

    if dry_run:
        with front.control() as control:
            at = text(now())
            due = takewhile(lambda job: (job["next_run_at"] or "9") <= at, control.jobs())
            keys = [job["key"] for job in due]
        if front.json:
            answer.emit({"due": keys, "dry_run": True})
        else:
            answer.line(f"due now: {', '.join(keys) or 'nothing'}")
        return
    ended, again = _tick(front, now)
    if front.json:
        answer.emit({"what": "ticked", "finished": ended, "again": again})
    elif not front.quiet:
        answer.line(f"{f'{again} to be tried again, ' if again else ''}{ended} runs ended")


def _tick(front: Front, now: Callable[[], int]) -> tuple[int, int]:
    """Run what was due when this began, and nothing that became due since; answers how many runs ended, and
    how many attempts are followed by another."""
    from schedcore._host.host import Host

    host = Host(settings=front.settings(), env=os.environ)
    onlooker = Onlooker(front, front.zone(), now, lambda: None)
    began, over, ended, again = text(now()), Event(), 0, 0
    moved = time.monotonic()

    def look(event: dict[str, Any]) -> None:
        nonlocal ended, again, moved
        moved = time.monotonic()
        if event["what"] == "finished":
            again += bool(event.get("again_at"))
            ended += not event.get("again_at")
        if event["scheduled_for"] > began:
            over.set()
        onlooker.look(event)

    host.on(look)
    drain_s = 0.0
    try:
        host.start()
        while not over.is_set() and (host.busy() or time.monotonic() - moved < _STILL_S):
            time.sleep(0.02)
            onlooker.drain(None)
        drain_s = _DRAIN_S
    finally:
        host.stop(drain_s)
        onlooker.drain(None)
    return ended, again
