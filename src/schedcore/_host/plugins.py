"""What the plugins of a host declare, collected once, at start, into a toolbox that never changes (P-30).

Each plugin is met alone: one that cannot be imported, raises, or declares what cannot be used is named in the
report and left out whole, and the host starts. Only two plugins that claim one kind stop the start (E-01).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from schedcore._engine.toolbox import Toolbox
from schedcore._host.kinds import kinds_rows, versions
from schedcore._host.payloads import payload_errors, validate_payload
from schedcore._host.plugin_admission import admit, implementations, manager
from schedcore._host.plugin_finding import BUILT_IN, Candidate, Choice, commands, found, given
from schedcore._host.plugin_joining import joined
from schedcore._host.plugin_meeting import Met, PluginReport
from schedcore._host.plugin_tables import hand_over, unclaimed
from schedcore._host.settings import Settings
from schedcore._host.settings_plugin import SettingsPlugin
from schedcore._version import DISTRIBUTION, __version__

__all__ = [
    "PluginReport",
    "Plugins",
    "commands",
    "gather",
    "kinds_rows",
    "payload_errors",
    "validate_payload",
    "versions",
]


@dataclass(frozen=True, slots=True)
class Plugins:
    """All plugins of a host: what those that work declared, and a report on each."""

    toolbox: Toolbox
    report: tuple[PluginReport, ...]
    trigger_kinds: Mapping[str, Callable[[str, str], Any]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Further kinds of trigger, as ``JobOrder.parse`` takes them."""
    warnings: tuple[str, ...] = ()

    def faults(self) -> tuple[PluginReport, ...]:
        """Those that were left out although they were wanted."""
        return tuple(one for one in self.report if one.state == "failed")


def gather(settings: Settings, plugins: Iterable[Any] = (), env: Mapping[str, str] | None = None) -> Plugins:
    """Find, admit and ask all plugins; ``plugins`` are further ones: objects, or pairs of name and object.

    Raises ``PluginFault`` when two plugins claim one kind; everything else that is wrong with a plugin is in
    the report.
    """
    env = os.environ if env is None else env
    installed, unread = found()
    by_hand = given(plugins, installed)
    own = Candidate(BUILT_IN, lambda: SettingsPlugin(settings, env), DISTRIBUTION, __version__)
    choice = Choice.of(settings, env)
    met = [Met(own), *(Met(one) for one in [*by_hand, *installed])]
    _set_aside(met, choice)
    pm = manager()
    for one in met:
        one.attempt(lambda each: _admit(pm, each))
    settled: dict[str, str] = {}
    for one in met:
        one.attempt(lambda each: _settle(each, settings, settled))
    for one in met:
        one.attempt(_ask)
    met[1:] = sorted(met[1:], key=lambda each: each.candidate.name)
    toolbox, trigger_kinds = joined(
        [(one.candidate, one.declared, one.fail) for one in met if one.state == "ok"], settings.kind_limits
    )
    names = {one.candidate.name for one in met}
    strange = unclaimed(settings, settled, names)
    idle = [
        f"plugin {one.candidate} declares nothing" for one in met if one.state == "ok" and not one.functions
    ]
    return Plugins(
        toolbox,
        tuple(one.report() for one in met),
        trigger_kinds,
        (*unread, *choice.strangers(names), *strange, *idle),
    )


def _set_aside(met: list[Met], choice: Choice) -> None:
    """Leave out what is not wanted, and what has the name of another."""
    for one in met[1:]:
        if why := choice.against(one.candidate):
            one.leave_out(why)
    seen: dict[str, Met] = {}
    for one in met:
        first = seen.setdefault(one.candidate.name, one)
        if first is one or one.state != "ok":
            continue
        if first is not met[0] and first.candidate.by_hand and not one.candidate.by_hand:
            one.leave_out("registered by hand")
            continue
        for each, other in ((one, first), (first, one)):
            if each.state == "ok" and each is not met[0]:
                each.fail(f"its name is also that of {other.candidate}; remove one of them")


def _admit(pm: Any, one: Met) -> None:
    begun = time.perf_counter()
    try:
        one.plugin = admit(pm, one.candidate)
    finally:
        one.load_ms = round((time.perf_counter() - begun) * 1_000, 3)
    one.functions = implementations(pm, one.plugin)


def _settle(one: Met, settings: Settings, settled: dict[str, str]) -> None:
    """The settings hook first: a plugin whose table does not fit declares nothing else (R-14)."""
    hook = "schedcore_settings"
    if hook in one.functions:
        one.declared[hook] = one.ask(hook)
        for model in one.declared[hook]:
            hand_over(model, one.candidate.name, settings, settled)


def _ask(one: Met) -> None:
    for hook in one.functions:
        if hook not in one.declared:
            one.declared[hook] = one.ask(hook)
