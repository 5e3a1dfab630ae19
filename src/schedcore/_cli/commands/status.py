"""``schedcore status``: how the engine is doing, and with --check whether that is well."""

from __future__ import annotations

import json
from typing import Any

import click

from schedcore._cli import answer, saying
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front

__all__ = ["command"]


@make("status")
@click.option("--check", is_flag=True, help="Exit 1 when something is not as it should be.")
def command(front: Front, check: bool) -> int:
    """Show how the engine is doing.

    With --check it is the health check of a container or a monitor.
    """
    with front.control() as control:
        found = control.status(check=check)
    if front.json:
        answer.emit(found)
    elif not front.quiet:
        _tell(front, found)
    return BAD if check and not found["ok"] else 0


def _tell(front: Front, found: dict[str, Any]) -> None:
    now = saying.instant(found["now"])
    assert now is not None
    answer.fields((name, _text(value, now)) for name, value in found.items() if _shown(name, value))
    for problem in found.get("problems") or ():
        answer.line(f"not well: {problem}")
    if found.get("ok"):
        answer.line("all is well")


def _shown(name: str, value: Any) -> bool:
    return name not in {"v", "ok", "problems"} and not name.endswith("_local") and value not in (None, [], {})


def _text(value: Any, now: int) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(each, now)}" for key, each in value.items() if _shown(key, each))
    if isinstance(value, list):
        return "; ".join(_text(each, now) for each in value)
    return value if isinstance(value, str) else json.dumps(value)
