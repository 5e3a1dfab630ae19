"""Settings as they are shown: each value with its origin, masked; and their JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedcore._host.setting_fields import FIELDS, RAW
from schedcore._host.setting_readers import mask_url
from schedcore.domain.policy import Policies

if TYPE_CHECKING:
    from schedcore._host.settings import Settings

__all__ = ["holds_secret", "masked", "schema", "shown"]

MASK = "[masked]"
_SECRET = re.compile(r"(?:pass(?:word|wd|phrase)?|secret|token|credential|auth|api_?key|dsn|private)", re.I)
_SOURCES = frozenset({"secret", "env", "file", "credential"})
"""What a reference to a secret is written with: ``token = {env = "NAME"}``."""
_REFERENCE = re.compile(r"_(?:env|file|credential|secret|name|days|seconds|url)$", re.IGNORECASE)


def shown(settings: Settings) -> dict[str, dict[str, Any]]:
    """Every setting with ``value`` and ``origin``. Plain values only, ready for JSON."""
    view: dict[str, dict[str, Any]] = {}
    for key, one in FIELDS.items():
        value = getattr(settings, one.on)
        if isinstance(value, Mapping):
            for name, part in value.items():
                _put(view, settings, f"{key}.{name}", _plain(part))
        elif isinstance(value, Policies):
            for name, part in value.to_dict().items():
                _put(view, settings, f"{key}.{name}", part)
        else:
            _put(view, settings, key, _plain(value))
    for kind, limit in settings.kind_limits.items():
        _put(view, settings, f"kind_limits.{kind}", limit)
    for plugin, table in settings.plugin_tables.items():
        for name, value in table.items():
            _put(view, settings, f"plugins.{plugin}.{name}", masked(name, value))
    jobs = settings.jobs
    if jobs:
        keys = list(jobs) if isinstance(jobs, Mapping) else [job.get("key") for job in jobs]
        _put(view, settings, "jobs", keys)
    return view


def masked(name: str, value: Any) -> Any:
    """The value of a plugin's key, masked where its name, or that of a table around it, says it is a secret."""
    if isinstance(value, Mapping):
        below = name if _secret(name) else ""
        return {
            key: masked(key if _secret(key) or key in _SOURCES else below or key, part)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [masked(name, part) for part in value]
    if _secret(name) and not isinstance(value, bool | int):
        return MASK
    return _plain(value)


def _secret(name: str) -> bool:
    return bool(_SECRET.search(name)) and not _REFERENCE.search(name) and name not in _SOURCES


def holds_secret(settings: Settings) -> bool:
    """Is a value that :func:`shown` masks in the settings file itself?"""
    file = str(settings.config)
    if settings.origin.get("ledger") == file and mask_url(settings.ledger) != settings.ledger:
        return True
    return any(MASK in str(one["value"]) and one["origin"] == file for one in shown(settings).values())


def schema() -> dict[str, Any]:
    """The JSON Schema of the settings file, for editors and forms."""
    from schedcore._host.settings import Settings

    defaults = {one.name: one.default for one in fields(Settings) if one.default is not MISSING}
    top: dict[str, Any] = {}
    for key, one in FIELDS.items():
        says = {**one.schema, "description": one.says}
        default = defaults.get(one.on)
        if isinstance(default, bool | int | float | str):
            says["default"] = default
        elif default == ():
            says["default"] = []
        above, _, last = key.rpartition(".")
        if above:
            table = top.setdefault(above, {"type": "object", "properties": {}, "additionalProperties": False})
            table["properties"][last] = says
        else:
            top[key] = says
    top["jobs"] = RAW["jobs"]
    top["plugins"].update(RAW["plugins"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of schedcore",
        "type": "object",
        "properties": top,
        "additionalProperties": False,
    }


def _put(view: dict[str, dict[str, Any]], settings: Settings, key: str, value: Any) -> None:
    origin, at = settings.origin, key
    while at and at not in origin:
        at = at.rpartition(".")[0]
    where = origin.get(at) or next((o for k, o in origin.items() if k.startswith(f"{key}.")), "default")
    view[key] = {"value": value, "origin": where}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return mask_url(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "how"):
        return {value.how: value.where}
    if hasattr(value, "to_dict"):
        return {name: part for name, part in value.to_dict().items() if name != "name"}
    if hasattr(value, "__dataclass_fields__"):
        return {name: part for name, part in asdict(value).items() if part is not None}
    return str(value)
