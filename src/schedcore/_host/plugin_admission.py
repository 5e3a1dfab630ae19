"""One plugin at the door: imported, written for this core, well spelt, synchronous; or refused with its fault.

Whatever is raised here belongs to one plugin; the caller names it and goes on (P-30). Isolation means that the
start survives, not that foreign code is harmless: it runs in this process, with its rights.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import pluggy

from schedcore._host.plugin_finding import Candidate
from schedcore._version import __version__
from schedcore.domain.errors import PluginFault, nearest
from schedcore.spec import API_VERSION, hooks
from schedcore.spec.markers import PROJECT

__all__ = ["HOOKS", "admit", "implementations", "manager"]

HOOKS = tuple(hooks.__all__)
_MARK = f"{PROJECT}_impl"
_WANTED = re.compile(r"(>=|<=|==|!=|>|<)[ ]*([0-9]+(?:\.[0-9]+)*)", re.ASCII)
_COMPARE = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
}


def manager() -> pluggy.PluginManager:
    """An empty plugin manager that knows the hooks."""
    made = pluggy.PluginManager(PROJECT)
    made.add_hookspecs(hooks)
    return made


def admit(manager: pluggy.PluginManager, candidate: Candidate) -> Any:
    """Import and register a plugin; what it registered is taken back when it does not pass.

    Raises whatever its import raises, and ``PluginFault`` for what is wrong with it.
    """
    plugin = candidate.load()
    if plugin is None or inspect.isclass(plugin):
        raise PluginFault(
            f"its entry point leads to {plugin!r}", hint="lead it to a module, or to an object of that class"
        )
    _check_versions(plugin, candidate)
    if manager.is_registered(plugin):
        raise PluginFault(f"it is registered already, as {manager.get_name(plugin)!r}", code="given_twice")
    manager.register(plugin, name=candidate.name)
    try:
        _check_spelling(plugin)
        manager.check_pending()
        for name, function in implementations(manager, plugin).items():
            if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
                raise PluginFault(f"{name} is async", hint="hooks declare; write def, not async def")
    except BaseException:
        manager.unregister(plugin)
        raise
    return plugin


def implementations(manager: pluggy.PluginManager, plugin: Any) -> dict[str, Any]:
    """The plugin's functions by hook, in the order hooks are asked. A wrapper is refused: it could change what
    others declare."""
    mine: dict[str, Any] = {}
    for caller in manager.get_hookcallers(plugin) or ():
        for one in caller.get_hookimpls():
            if one.plugin is not plugin:
                continue
            if one.wrapper or one.hookwrapper:
                raise PluginFault(f"{caller.name} is a wrapper", hint="hooks declare; return a list")
            mine[caller.name] = one.function
    return {name: mine[name] for name in HOOKS if name in mine}


def _check_versions(plugin: Any, candidate: Candidate) -> None:
    given = getattr(plugin, "api_version", API_VERSION if candidate.by_hand else None)
    if given is None:
        raise PluginFault("it does not say for which api_version it was written", hint="add: api_version = 1")
    major = str(given).split(".", maxsplit=1)[0]
    if major != str(API_VERSION):
        raise PluginFault(
            f"it was written for api_version {given!r}, this core has {API_VERSION}",
            code="api_version",
            hint=f"install a version of it for schedcore {__version__}, or another core",
        )
    wanted = getattr(plugin, "requires_core", None)
    if wanted is not None and not _meets(__version__, wanted):
        raise PluginFault(
            f"it requires a core {wanted}, this one is {__version__}",
            code="requires_core",
            hint="install a version of it that fits, or another core",
        )


def _meets(version: str, wanted: Any) -> bool:
    """Does a version meet ``>=0.1,<0.3``? Numbers with dots only, which is all that a core's version has."""
    have = _numbers(version)
    for part in str(wanted).split(","):
        found = _WANTED.fullmatch(part.strip())
        if found is None:
            raise PluginFault(
                f"its requires_core {wanted!r} cannot be read",
                code="requires_core",
                hint="such as '>=0.1,<0.3'",
            )
        if not _COMPARE[found[1]](have, _numbers(found[2])):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    release = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    numbers = [int(part) for part in release[0].split(".")] if release else [0]
    return tuple([*numbers, 0, 0, 0, 0][:4])


def _check_spelling(plugin: Any) -> None:
    """A function named as a hook and not marked, or marked and named otherwise, would do nothing in silence."""
    for name in dir(plugin):
        function = inspect.getattr_static(plugin, name)
        marked = getattr(function, _MARK, None)
        if isinstance(marked, dict):
            hook = marked.get("specname") or name
            if hook not in HOOKS and not marked.get("optionalhook"):
                hint = nearest(hook, set(HOOKS)) or "`schedcore plugins hooks` lists all"
                raise PluginFault(f"there is no hook {hook}", code="misspelt_hook", hint=hint)
        elif name in HOOKS and inspect.isroutine(function):
            raise PluginFault(
                f"{name} is not marked as a hook", code="misspelt_hook", hint="write @hookimpl above it"
            )
