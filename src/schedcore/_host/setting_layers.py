"""Where settings come from, laid over one another: each value keeps its origin.

Command line > ``SCHEDCORE__A__B`` > ``SCHEDCORE_A_B`` > file > names of older programs > default.
A variable that is empty counts as not set. Nothing here knows what a setting means.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedcore._host.setting_fields import FIELDS
from schedcore.domain.errors import Refused, nearest

__all__ = ["LEGACY", "Layers", "gather_layers", "read_config"]

NESTED, SINGLE = "SCHEDCORE__", "SCHEDCORE_"
LEGACY = {
    "SQLITE_PATH": "ledger",
    "TICK_INTERVAL_SECONDS": "beat",
    "MAX_CONCURRENT_RUNS": "workers",
    "SCRIPT_TIMEOUT_SECONDS": "kind_limits.script",
}
"""Variables of older programs, by the setting each one is."""
OBSOLETE = {
    "LOCK_TTL_SECONDS": "leases are renewed while work runs, so it has no effect; see the setting lease"
}
_OURS = {f"{SINGLE}{key.replace('.', '_').upper()}": key for key in FIELDS}
_NO_SETTING = frozenset(
    f"{SINGLE}{name}"
    for name in (
        *("CONFIG", "LOAD_PLUGINS", "TRACE_HOOKS", "CRASH_AT", "CHROMIUM"),
        *(
            "JOB",
            "RUN",
            "RUN_KEY",
            "DELIVERY_KEY",
            "SCHEDULED_FOR",
            "ATTEMPT",
            "TRIGGER",
            "REPORT",
            "QUARANTINE",
        ),
    )
)
_NO_SETTINGS = (f"{SINGLE}TEST_", f"{SINGLE}SECRET_")
_PLACE = re.compile(r" \(at (line [0-9]+, column [0-9]+|end of document)\)$")


@dataclass(slots=True)
class Layers:
    """The merged tree, the origin of each leaf by dotted path, and what to tell."""

    tree: dict[str, Any] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    faults: list[Refused] = field(default_factory=list)
    kind_limits: dict[str, Any] = field(default_factory=dict)
    """Not in the tree: no file may set them."""

    def lay(self, path: tuple[str, ...], value: Any, origin: str) -> None:
        """Put a value over what is there; tables are merged, everything else is replaced."""
        if isinstance(value, Mapping) and (value or not path):
            for name, part in value.items():
                self.lay((*path, str(name)), part, origin)
            return
        node = self.tree
        for name in path[:-1]:
            below = node.get(name)
            if not isinstance(below, dict):
                below = node[name] = {}
            node = below
        if not (value == {} and isinstance(node.get(path[-1]), dict)):
            node[path[-1]] = dict(value) if isinstance(value, Mapping) else value
        self._came(path, origin)

    def _came(self, path: tuple[str, ...], origin: str) -> None:
        key = ".".join(path)
        for known in [k for k in self.origin if k.startswith(f"{key}.")]:
            del self.origin[known]
        for i in range(1, len(path)):
            self.origin.pop(".".join(path[:i]), None)
        self.origin[key] = origin


def gather_layers(
    config: Path | None, env: Mapping[str, str], overrides: Mapping[str, Any], spoken: str
) -> Layers:
    """All layers, the weakest first. Raises ``Refused`` for a file that cannot be read."""
    layers = Layers()
    for name, key in LEGACY.items():
        if raw := env.get(name):
            above, _, last = key.rpartition(".")
            if above:
                layers.kind_limits[last] = _value(raw, key)
                layers.origin[key] = name
            else:
                layers.lay((key,), f"sqlite:///{raw}" if key == "ledger" else _value(raw, key), name)
    for name, why in OBSOLETE.items():
        if env.get(name):
            layers.warnings.append(f"{name} is obsolete: {why}")
    if config is not None:
        layers.lay((), read_config(config), str(config))
    for path, value, name in _singles(env, layers):
        layers.lay(path, value, name)
    for name in sorted(env):
        if name.startswith(NESTED) and env[name]:
            path = nested_path(name)
            if all(path):
                layers.lay(path, _value(env[name], ".".join(path)), name)
            else:
                hint = "such as SCHEDCORE__LOGGING__LEVEL"
                layers.faults.append(Refused("not a setting", code="unknown_field", field=name, hint=hint))
    for key, value in overrides.items():
        if value is not None:
            layers.lay(tuple(key.split(".")), value, spoken)
    return layers


def read_config(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises ``Refused`` with line and column for what is no TOML."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise Refused(
            f"byte {error.start} is not UTF-8", code="bad_toml", field=str(path), hint="save it as UTF-8"
        ) from None
    except tomllib.TOMLDecodeError as error:
        hint = "texts are quoted, tables are [name]"
        raise Refused(_placed(str(error), text), code="bad_toml", field=str(path), hint=hint) from None
    except OSError as error:
        raise Refused(
            f"cannot be read: {error.strerror}",
            code="no_config",
            field=str(path),
            hint="name another with --config",
        ) from None


def _placed(what: str, text: str) -> str:
    """The parser's message with line and column before it, whatever it says of the end of the document."""
    found = _PLACE.search(what)
    if found is None:
        return what
    lines = text.rstrip("\n").split("\n")
    end = f"line {len(lines)}, column {len(lines[-1]) + 1}"
    return f"{end if 'end' in found[1] else found[1]}: {what[: found.start()]}"


def nested_path(name: str) -> tuple[str, ...]:
    """The path a ``SCHEDCORE__A__B`` variable names: small letters, but names of secrets stay as they are."""
    first, *rest = name.removeprefix(NESTED).split("__")
    if first.lower() == "secrets" and rest:
        return ("secrets", rest[0], *(part.lower() for part in rest[1:]))
    return tuple(part.lower() for part in (first, *rest))


def _singles(env: Mapping[str, str], layers: Layers) -> Iterator[tuple[tuple[str, ...], Any, str]]:
    for name in sorted(env):
        if not name.startswith(SINGLE) or name.startswith(NESTED) or not env[name]:
            continue
        if name in _OURS:
            yield tuple(_OURS[name].split(".")), _value(env[name], _OURS[name]), name
        elif name not in _NO_SETTING and not name.startswith(_NO_SETTINGS):
            # A typo must not pass in silence, and a variable of somebody else must not stop the start.
            if near := _nearest(name):
                layers.faults.append(
                    Refused("there is no such setting", code="unknown_field", field=name, hint=near)
                )
            else:
                layers.warnings.append(f"{name} is no setting and was not read")


def _nearest(name: str) -> str | None:
    """The nearest setting; what all variables begin with would make any two look alike."""
    shorts = {one.removeprefix(SINGLE) for one in _OURS}
    near = nearest(name.removeprefix(SINGLE), shorts)
    return near.replace("'", f"'{SINGLE}", 1) if near else None


def _value(raw: str, key: str) -> Any:
    """The value of a variable's text: TOML where it is, a text where it is not, as the setting wants it."""
    try:
        read = tomllib.loads(f"v = {raw}")
        value = read["v"] if len(read) == 1 else raw
    except tomllib.TOMLDecodeError:
        value = raw
    shape = FIELDS[key].shape if key in FIELDS else "any"
    if shape == "text" and not isinstance(value, str):
        return raw
    if shape == "list" and isinstance(value, str):
        return [part for part in (part.strip() for part in value.split(",")) if part]
    return value
