"""Writing TOML: what a job's fields need, no more. The standard library only reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["dumps"]

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def dumps(table: Mapping[str, Any], above: str = "") -> str:
    """A table as text: its plain values first, then its tables. ``None`` is left out."""
    plain, tables = [], []
    for name, value in table.items():
        if isinstance(value, Mapping):
            path = f"{above}{_key(name)}"
            tables.append(f"\n[{path}]\n{dumps(value, f'{path}.')}")
        elif value is not None:
            plain.append(f"{_key(name)} = {_value(value)}\n")
    return "".join(plain + tables)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (f"{_key(name)} = {_value(part)}" for name, part in value.items() if part is not None)
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(part) for part in value if part is not None) + "]"
    return _text(str(value))


def _text(value: str) -> str:
    """A basic string; JSON's escapes are TOML's, but for the surrogates and DEL."""
    said = json.dumps(value, ensure_ascii=False)
    return "".join(c if c != "\x7f" and not "\ud800" <= c <= "\udfff" else f"\\u{ord(c):04x}" for c in said)
