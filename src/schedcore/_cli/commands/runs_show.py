"""``schedcore runs show`` (L-08)."""

from __future__ import annotations

import json
from typing import Any

from schedcore._cli import answer, saying, times
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import run as run_argument

__all__ = ["command", "tell"]

_TAILS = ("stdout_tail", "stderr_tail")


@make("show")
@run_argument
def command(front: Front, run: str) -> None:
    """Show everything about a run."""
    with front.control() as control:
        found = control.run_show(run)
    if front.json:
        answer.emit(found)
    else:
        tell(front, found)


def tell(front: Front, found: dict[str, Any]) -> None:
    """A run for people: field by field, the ends of its output last."""
    answer.fields((name, _said(front, found, name, value)) for name, value in found.items() if _shown(name))
    for name in _TAILS:
        if text := found.get(name):
            answer.line(f"end of {name.removesuffix('_tail')}:")
            for line in str(text).splitlines():
                answer.line(f"  {line}")


def _shown(name: str) -> bool:
    return name != "v" and name not in _TAILS and not name.endswith("_local")


def _said(front: Front, found: dict[str, Any], name: str, value: Any) -> str | None:
    if value in (None, "", [], {}):
        return None
    if f"{name}_local" in found:
        return saying.both(front, found, name)
    if name.endswith("_ms"):
        return times.length(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
