"""``schedcore db check``."""

from __future__ import annotations

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front

__all__ = ["command"]


@make("check")
def command(front: Front) -> int:
    """Check whether the ledger is whole.

    Its schema, what its rows refer to, and the database's own check of itself.
    """
    with front.control() as control:
        found = control.check()
    if front.json:
        answer.emit(found)
    else:
        for problem in found["problems"]:
            answer.line(f"{problem['check']}: {problem['what']}")
        if found["ok"] and not front.quiet:
            answer.line("the ledger is whole")
    return 0 if found["ok"] else BAD
