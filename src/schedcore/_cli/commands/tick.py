"""``schedcore tick``: one beat and exit, safe beside a live host (R-09)."""

from __future__ import annotations

import os
import time
from itertools import takewhile

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.onlooking import Onlooker
from schedcore._cli.options import dry_run as dry_run_option
from schedcore.domain.clock import text

__all__ = ["command"]

_STILL_S = 1.0


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
    from schedcore._host.host import Host

    host = Host(settings=front.settings(), env=os.environ)
    onlooker = Onlooker(front, front.zone(), now, lambda: None)
    moved = [time.monotonic(), 0.0]

    def look(event: dict[str, object]) -> None:
        moved[0] = time.monotonic()
        moved[1] += event["what"] == "finished"
        onlooker.look(event)

    host.on(look)
    with host:
        while host.busy() or time.monotonic() - moved[0] < _STILL_S:
            time.sleep(0.02)
            onlooker.drain(None)
    onlooker.drain(None)
    if front.json:
        answer.emit({"what": "ticked", "finished": int(moved[1])})
    elif not front.quiet:
        answer.line(f"{int(moved[1])} runs ended")
