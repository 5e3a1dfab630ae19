"""Commands that plugins bring: entry points of ``schedcore.commands``, known by name, imported when called."""

from __future__ import annotations

from functools import cache
from typing import Any

import click

from schedcore.domain.errors import PluginFault

__all__ = ["GROUP", "command", "names"]

GROUP = "schedcore.commands"


@cache
def _found() -> dict[str, list[Any]]:
    from importlib_metadata import entry_points

    found: dict[str, list[Any]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, []).append(point)
    return found


def names() -> dict[str, str]:
    """Every command of a plugin, with the distribution that brings it."""
    return {name: " and ".join(_who(point) for point in points) for name, points in sorted(_found().items())}


def command(name: str) -> click.Command | None:
    """The command of this name, imported now; ``None`` where there is none.

    Raises :class:`PluginFault` for one that cannot be imported or is no command; the others stay usable.
    """
    points = _found().get(name)
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        raise PluginFault(
            f"the command {name!r} is claimed twice, by {names()[name]}",
            code="claimed_twice",
            field=name,
            hint="remove one of them",
        )
    try:
        loaded = points[0].load()
    except Exception as error:
        raise PluginFault(
            f"the command {name!r} of {_who(points[0])} cannot be loaded: {type(error).__name__}: {error}",
            code="plugin_broken",
            field=name,
            hint="the other commands work; repair or remove that distribution",
        ) from error
    if not isinstance(loaded, click.Command):
        raise PluginFault(
            f"the command {name!r} of {_who(points[0])} is a {type(loaded).__name__}, not a click command",
            code="plugin_broken",
            field=name,
        )
    return loaded


def _who(point: Any) -> str:
    return str(point.dist.name) if point.dist is not None else str(point.value)
