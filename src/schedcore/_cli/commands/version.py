"""``schedcore version``."""

from __future__ import annotations

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._version import __version__

__all__ = ["command"]


@make("version", short_help="Print the version.")
def command(front: Front) -> None:
    """Print the version."""
    if front.json:
        answer.emit({"version": __version__})
    else:
        answer.line(f"schedcore {__version__}")
