"""Keys that are no settings, each refused with the place it was likely meant for (fault R23).

An option that is at the wrong level is as bad as a misspelt one: both would be ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedcore._host.setting_fields import FIELDS, RAW, TABLES
from schedcore.domain.errors import Refused, nearest
from schedcore.domain.names import POLICY_FIELDS
from schedcore.domain.reading import wrong

__all__ = ["strangers"]

_TOP = tuple(dict.fromkeys([*(key.split(".")[0] for key in FIELDS), *RAW]))


def strangers(tree: Mapping[str, Any]) -> list[Refused]:
    """The refusals of everything in the tree that is no setting, in the order it was written."""
    found: list[Refused] = []
    for name, value in tree.items():
        if name in TABLES and not isinstance(value, Mapping):
            found.append(
                wrong(f"{_brief(value)} is not a table", name, _brief(value), "bad_type", f"[{name}]")
            )
        elif name == "plugins":
            found += _plugins(value)
        elif name in TABLES:
            known = [key.partition(".")[2] for key in FIELDS if key.startswith(f"{name}.")]
            found += [
                _unknown(f"{name}.{key}", part, nearest(key, set(known)) or _elsewhere(key))
                for key, part in value.items()
                if key not in known
            ]
        elif name == "jobs":
            found += _jobs(value)
        elif name not in _TOP:
            found.append(_unknown(name, value, _elsewhere(name) or nearest(name, set(_TOP))))
    return found


def _elsewhere(name: str) -> str | None:
    """Where a key that stands at the wrong level belongs."""
    for key in FIELDS:
        if key == name or key.rpartition(".")[2] == name:
            return f"did you mean {key!r}? ({_written(key)})"
    if POLICY_FIELDS.find(name) is not None:
        return f"that is a policy: write it in [policies], or in a job, as {name!r}"
    return None


def _written(key: str) -> str:
    above, _, last = key.rpartition(".")
    return f"{last} in the table [{above}]" if above else "at the top of the file, before any table"


def _plugins(value: Mapping[str, Any]) -> list[Refused]:
    found = []
    for name, part in value.items():
        if f"plugins.{name}" in FIELDS:
            continue
        if not isinstance(part, Mapping):
            near = nearest(name, {"enabled", "disabled"}) or f"[plugins.{name}]"
            found.append(_unknown(f"plugins.{name}", part, near))
        elif not isinstance(part.get("enabled", True), bool):
            at = f"plugins.{name}.enabled"
            what = f"{_brief(part['enabled'])} is neither true nor false"
            found.append(wrong(what, at, _brief(part["enabled"]), "bad_type"))
    return found


def _jobs(value: Any) -> list[Refused]:
    jobs = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | list) and all(isinstance(job, Mapping) for job in jobs):
        return []
    hint = "write [jobs.KEY] tables, or [[jobs]] with a key in each"
    return [wrong("jobs are tables", "jobs", _brief(value), "bad_type", hint)]


def _unknown(field: str, value: Any, hint: str | None) -> Refused:
    hint = hint or "`schedcore config schema` lists all settings"
    return wrong("there is no such setting", field, _brief(value), "unknown_field", hint)


def _brief(value: Any) -> str:
    """What a stranger was given: it may be a secret, so only its kind is told, or that it is a plain value."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    return repr(value) if isinstance(value, bool | int | float) else "a text"
