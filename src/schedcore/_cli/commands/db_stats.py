"""``schedcore db stats``."""

from __future__ import annotations

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.front import Front

__all__ = ["command"]


@make("stats")
def command(front: Front) -> None:
    """Count what is in the ledger."""
    with front.control() as control:
        found = control.stats()
    if front.json:
        answer.emit(found)
        return
    answer.table(("TABLE", "ROWS"), sorted(found["tables"].items()))
    answer.fields(
        (name.replace("_", " "), value) for name, value in found.items() if name not in {"v", "tables"}
    )
