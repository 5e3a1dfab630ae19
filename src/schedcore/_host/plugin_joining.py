"""Many plugins, one toolbox. Where two of them claim one name, nobody guesses who was meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from schedcore._engine.toolbox import Toolbox
from schedcore._host.plugin_finding import Candidate
from schedcore.domain.errors import PluginFault

__all__ = ["joined"]

_Declared = Mapping[str, list[Any]]
_STOPS = {"schedcore_executors": "kind of work", "schedcore_triggers": "kind of trigger"}
_ONE_EACH = {
    "schedcore_calendars": "calendar",
    "schedcore_checks": "check",
    "schedcore_listeners": "listener",
    "schedcore_services": "service",
}
"""Names that are keys: what a job names, the mark of a listener in the ledger, what a service is asked for by."""


def joined(
    plugins: Iterable[tuple[Candidate, _Declared, Callable[[str], None]]], limits: Mapping[str, int]
) -> tuple[Toolbox, Mapping[str, Callable[[str, str], Any]]]:
    """The toolbox and the kinds of trigger. The third of each triple is called to leave a plugin out.

    Raises ``PluginFault`` when two plugins claim one kind. ``limits`` replace the time limits of kinds.
    """
    kept: list[tuple[str, _Declared]] = []
    owners: dict[tuple[str, str], Candidate] = {}
    for candidate, declared, leave_out in plugins:
        taken = [
            (hook, name) for hook in _ONE_EACH for name in _names(declared, hook) if (hook, name) in owners
        ]
        if taken:
            hook, name = taken[0]
            leave_out(f"its {_ONE_EACH[hook]} {name!r} is that of plugin {owners[taken[0]]}")
            continue
        for hook in (*_STOPS, *_ONE_EACH):
            for name in _names(declared, hook):
                other = owners.setdefault((hook, name), candidate)
                if other is not candidate:
                    raise PluginFault(
                        f"the {_STOPS[hook]} {name!r} is claimed by plugin {other} and by plugin {candidate}",
                        code="claimed_twice",
                        field=name,
                        hint=f'remove one of them, or turn it off: plugins.disabled = ["{candidate.name}"]',
                    )
        kept.append((candidate.name, declared))

    def all_of(hook: str) -> tuple[tuple[str, Any], ...]:
        return tuple((name, one) for name, declared in kept for one in declared.get(hook, ()))

    executors = {
        one.kind: (name, replace(one, limit=limits.get(one.kind, one.limit)))
        for name, one in all_of("schedcore_executors")
    }
    triggers = MappingProxyType({one.kind: one.parse for _, one in all_of("schedcore_triggers")})
    toolbox = Toolbox(
        executors=MappingProxyType(executors),
        gates=all_of("schedcore_gates"),
        listeners=all_of("schedcore_listeners"),
        secrets=all_of("schedcore_secrets"),
        sensitivity=all_of("schedcore_sensitivity"),
        checks=all_of("schedcore_checks"),
        services=MappingProxyType({one.name: one.make for _, one in all_of("schedcore_services")}),
        triggers=triggers,
        calendars=MappingProxyType({one.name: one for _, one in all_of("schedcore_calendars")}),
    )
    return toolbox, triggers


def _names(declared: _Declared, hook: str) -> list[str]:
    return [getattr(one, "kind", None) or one.name for one in declared.get(hook, ())]
