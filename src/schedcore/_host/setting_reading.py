"""From merged layers to the values of ``Settings``: each read by its field, each refusal with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from schedcore._host.folders import default_state_folder, host_name
from schedcore._host.setting_fields import FIELDS
from schedcore._host.setting_layers import Layers
from schedcore._host.setting_readers import absolute, absolute_ledger
from schedcore._host.setting_strangers import strangers
from schedcore.domain.errors import Refused
from schedcore.domain.reading import whole

__all__ = ["origins", "places", "read_layers"]


def read_layers(layers: Layers) -> tuple[dict[str, Any], list[Refused]]:
    """The values by attribute, and what is refused."""
    tree = layers.tree
    values: dict[str, Any] = {}
    faults = [_from(error, layers) for error in strangers(tree)]
    for key, one in FIELDS.items():
        node: Any = tree
        for part in key.split("."):
            node = node.get(part) if isinstance(node, dict) else None
        if node is None:
            continue
        try:
            values[one.on] = one.read(node, key)
        except Refused as error:
            faults.append(_from(error, layers))
    plugins = tree.get("plugins")
    if isinstance(plugins, dict):
        tables = {name: part for name, part in plugins.items() if isinstance(part, dict)}
        values["plugin_tables"] = MappingProxyType(tables)
    if "jobs" in tree:
        values["jobs"] = tree["jobs"]
    try:
        limits = {
            kind: whole(given, f"kind_limits.{kind}", 1, 86_400) for kind, given in layers.kind_limits.items()
        }
        values["kind_limits"] = MappingProxyType(limits)
    except Refused as error:
        faults.append(_from(error, layers))
    return values, faults


def places(
    values: dict[str, Any], layers: Layers, file: Path | None, env: Mapping[str, str]
) -> dict[str, Any]:
    """Paths made absolute: those of the file below its folder, all others below the working folder."""

    def base(key: str) -> Path:
        return (
            file.absolute().parent if file is not None and layers.origin.get(key) == str(file) else Path.cwd()
        )

    if "state_folder" in values:
        folder = absolute(values["state_folder"], base("state_folder"))
    else:
        folder = default_state_folder(env).absolute()
    backups = absolute(values.get("backup_folder", folder / "backups"), base("backup_folder"))
    ledger = values.get("ledger", f"sqlite:///{folder / 'ledger.db'}")
    return {
        "state_folder": folder,
        "backup_folder": backups,
        "ledger": absolute_ledger(ledger, base("ledger")),
        "name": values.get("name", host_name()),
    }


def origins(layers: Layers) -> Mapping[str, str]:
    """The origin of each value, and ``default`` for each setting nobody gave."""
    given = layers.origin
    above = {key.rpartition(".")[0] for key in given} | {key.split(".")[0] for key in given}
    return MappingProxyType({**{key: "default" for key in FIELDS if key not in above}, **given})


def _from(error: Refused, layers: Layers) -> Refused:
    """The refusal, saying where the value came from."""
    field = error.field or ""
    key = field.partition("[")[0]  # a list comes from one place
    while key and key not in layers.origin:
        key = key.rpartition(".")[0]
    below = (origin for path, origin in layers.origin.items() if path.startswith(f"{field}."))
    if where := layers.origin.get(key) or next(below, None):
        error.hint = f"{error.hint}; it comes from {where}" if error.hint else f"it comes from {where}"
    return error
