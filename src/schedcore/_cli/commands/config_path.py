"""``schedcore config path``."""

from __future__ import annotations

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front

__all__ = ["command"]


@make("path")
def command(front: Front) -> int:
    """Print the path of the settings file.

    Exit 1 when there is none: everything has its default then.
    """
    path = front.config_path()
    if front.json:
        answer.emit({"path": None if path is None else str(path.absolute())})
    elif path is not None:
        answer.line(str(path.absolute()))
    else:
        answer.note("there is no settings file; `schedcore init` writes one")
    return BAD if path is None else 0
