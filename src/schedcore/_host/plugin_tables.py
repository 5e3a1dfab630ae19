"""``[plugins.NAME]``: each plugin's own table, checked by its own model before it declares anything else."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from schedcore._host.payloads import model_errors
from schedcore._host.plugin_finding import not_found
from schedcore._host.setting_views import masked
from schedcore._host.settings import Settings
from schedcore.domain.errors import PluginFault
from schedcore.spec import SettingsModel

__all__ = ["hand_over", "unclaimed"]

_OURS = "enabled"
"""A key of every plugin's table that is the host's: whether to load it."""


def hand_over(declared: SettingsModel, plugin: str, settings: Settings, settled: dict[str, str]) -> None:
    """Check a plugin's table and give the plugin what it made of it. ``settled`` says who has which table.

    Raises ``PluginFault`` with the path of the key.
    """
    other = settled.setdefault(declared.name, plugin)
    if other != plugin:
        raise PluginFault(
            f"its table [plugins.{declared.name}] is that of plugin {other!r}", code="claimed_twice"
        )
    table = {k: v for k, v in settings.plugin_tables.get(declared.name, {}).items() if k != _OURS}
    at = f"plugins.{declared.name}"
    model, errors = model_errors(declared.model, table, at)
    if errors:
        first = errors[0]
        name = (first.field or "").rpartition(".")[2]
        given = "" if first.value is None else f", not {masked(name, first.value)!r:.100}"
        more = f"; {len(errors) - 1} more" if len(errors) > 1 else ""
        origin = settings.origin.get(first.field or "")
        raise PluginFault(
            f"{first.field}: {first.message}{given}{more}",
            code="plugin_settings",
            hint="; ".join(filter(None, [first.hint, f"it comes from {origin}" if origin else None])) or None,
        )
    declared.accept(model)


def unclaimed(settings: Settings, settled: Mapping[str, str], names: Collection[str]) -> list[str]:
    """A warning for each table that belongs to no plugin that is known here."""
    known = {*names, *settled}
    return [
        f"[plugins.{name}]: {not_found(name, known)}" for name in settings.plugin_tables if name not in known
    ]
