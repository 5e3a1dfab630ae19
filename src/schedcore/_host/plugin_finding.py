"""Which plugins there are, and which of them are wanted; nothing of theirs is imported here.

Plugins are entry points of the group ``schedcore`` and what a program passes by hand (frozen programs,
tests). Two distributions that publish one name are both left out: picking one would be a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from schedcore._host.entry_points import points, source
from schedcore._host.settings import Settings
from schedcore.domain.errors import nearest

__all__ = ["BUILT_IN", "COMMANDS", "GROUP", "Candidate", "Choice", "commands", "found", "given", "not_found"]

GROUP = "schedcore"
COMMANDS = "schedcore.commands"
BUILT_IN = "settings"
"""The name of the core's own plugin, the resolver of the secrets that the settings name."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin that may be loaded. ``value`` is where an entry point leads, ``None`` for one given by hand."""

    name: str
    load: Callable[[], Any]
    distribution: str | None = None
    version: str | None = None
    value: str | None = None

    @property
    def by_hand(self) -> bool:
        """Was it passed by the program?"""
        return self.value is None

    def __str__(self) -> str:
        return (
            f"{self.name!r} of {self.distribution} {self.version}" if self.distribution else repr(self.name)
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """Which plugins are wanted. ``only`` concerns installed ones; what is disabled is so wherever it is from."""

    only: frozenset[str] | None
    by: str
    disabled: frozenset[str]

    @classmethod
    def of(cls, settings: Settings, env: Mapping[str, str]) -> Choice:
        """``SCHEDCORE_LOAD_PLUGINS`` (comma-separated, empty for none) goes before ``plugins.enabled``."""
        off = {name for name, table in settings.plugin_tables.items() if table.get("enabled") is False}
        disabled = frozenset(off.union(settings.plugins_disabled))
        if (listed := env.get("SCHEDCORE_LOAD_PLUGINS")) is not None:
            names = frozenset(part.strip() for part in listed.split(",") if part.strip())
            return cls(names, "SCHEDCORE_LOAD_PLUGINS", disabled)
        enabled = settings.plugins_enabled
        return cls(None if enabled is None else frozenset(enabled), "plugins.enabled", disabled)

    def against(self, candidate: Candidate) -> str | None:
        """Why it is not wanted, or ``None`` when it is."""
        if candidate.name in self.disabled:
            return "disabled in the settings"
        if self.only is not None and not candidate.by_hand and candidate.name not in self.only:
            return f"not among {self.by}"
        return None

    def strangers(self, names: Iterable[str]) -> list[str]:
        """A warning for each name that no plugin has."""
        known = set(names)
        there = [(name, self.by) for name in sorted(self.only or ()) if name not in known]
        there += [(name, "plugins.disabled") for name in sorted(self.disabled) if name not in known]
        return [f"{by} names {name!r}: {not_found(name, known)}" for name, by in there]


def not_found(name: str, known: set[str]) -> str:
    """What to say of a plugin that is not there."""
    near = nearest(name, known)
    return f"no such plugin is installed{f' ({near})' if near else ''}"


def found() -> tuple[list[Candidate], list[str]]:
    """The installed plugins, by name and distribution, and a warning for each whose metadata cannot be read."""
    installed, faults = points(GROUP)
    return [Candidate(one.name, one.load, *source(one), value=one.value) for one in installed], faults


def given(plugins: Iterable[Any], installed: Iterable[Candidate]) -> list[Candidate]:
    """Plugins passed by hand: objects, or pairs of name and object.

    A module that an entry point leads to keeps the name it has there.
    """
    at = {one.value: one for one in installed}
    candidates = []
    for one in plugins:
        if isinstance(one, tuple):
            name, plugin = one
            known = None
        else:
            plugin = one
            known = at.get(one.__name__) if isinstance(one, ModuleType) else None
            name = known.name if known else _name(one)
        source = (known.distribution, known.version) if known else (None, None)
        candidates.append(Candidate(name, lambda plugin=plugin: plugin, *source))  # type: ignore[misc]  # mypy takes a default as an argument
    return candidates


def commands() -> list[str]:
    """The names of the commands that plugins bring; nothing is imported."""
    return sorted({point.name for point in points(COMMANDS)[0]})


def _name(plugin: Any) -> str:
    if isinstance(plugin, ModuleType):
        return plugin.__name__.removesuffix(".plugin").removeprefix("schedcore_")
    return str(getattr(plugin, "__name__", type(plugin).__name__))
