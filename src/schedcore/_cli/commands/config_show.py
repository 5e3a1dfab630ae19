"""``schedcore config show`` (R-15)."""

from __future__ import annotations

import json
from typing import Any

import click

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.ending import warn
from schedcore._cli.front import Front

__all__ = ["command"]


@make("show")
@click.argument("part", metavar="[KEY]", required=False)
def command(front: Front, part: str | None) -> None:
    """Show every setting and where it comes from.

    KEY shows one, or one table. Secrets are masked.
    """
    settings = front.settings()
    shown = settings.shown()
    if part is not None:
        from schedcore.domain.errors import NotFound, nearest

        found = {key: told for key, told in shown.items() if key == part or key.startswith(f"{part}.")}
        if not found:
            raise NotFound(
                f"there is no setting {part!r}",
                field="key",
                value=part,
                hint=nearest(part, set(shown)) or "`schedcore config schema` lists all",
            )
        shown = found
    if front.json:
        answer.emit({"settings": shown, "warnings": list(settings.warnings)})
        return
    answer.table(
        ("SETTING", "VALUE", "FROM"),
        [(key, _text(told["value"]), told["origin"]) for key, told in sorted(shown.items())],
    )
    for warning in settings.warnings:
        warn(warning)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)
