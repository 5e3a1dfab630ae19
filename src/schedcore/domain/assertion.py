"""The check of a job: a command that decides whether work that ended ``ok`` was really done (A-01, A-02)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schedcore.domain.names import Names, fold
from schedcore.domain.reading import choice, fields, path, plain, same, seconds, table, twice, whole, wrong

__all__ = ["Assertion", "gather_assertion", "is_flat"]

_LONGEST = 4_000
_LIMIT = 10 * 60
_NAMES = Names("a field of an assertion", {"command": (), "timeout": (), "env": (), "cwd": ()})
_FLAT = {fold("assertCmd"): "command", fold("assertTimeoutMs"): "timeout"}


@dataclass(frozen=True, slots=True)
class Assertion:
    """A command of at most 4,000 characters, its limit in seconds (1 s to 10 min), whether it gets the
    ``reduced`` environment or may ``inherit`` the host's, and the folder it runs in."""

    command: str
    timeout: float = 60
    env: str = "reduced"
    cwd: str | None = None

    @classmethod
    def parse(cls, value: Any, field: str = "assert") -> Assertion:
        """Read a table ``{command, timeout, env, cwd}``; raises ``Refused`` with the field's path."""
        given = fields(table(value, field), _NAMES, field)
        if given.get("command") is None:
            raise wrong("an assertion needs a command", path(field, "command"), None, "missing")
        cwd, limit = given.get("cwd"), given.get("timeout", 60)
        return cls(
            plain(given["command"], path(field, "command"), _LONGEST, lines=True),
            _limit(limit, path(field, "timeout")),
            choice(given.get("env", "reduced"), path(field, "env"), ("reduced", "inherit")),
            None if cwd is None else plain(cwd, path(field, "cwd"), 4_096),
        )

    def to_dict(self) -> dict[str, Any]:
        """The canonical form; :meth:`parse` reads it back."""
        given: dict[str, Any] = {"command": self.command, "timeout": self.timeout, "env": self.env}
        return given if self.cwd is None else given | {"cwd": self.cwd}


def _limit(value: Any, field: str) -> float:
    if isinstance(value, float) and 1 <= value <= _LIMIT:
        return int(value) if value.is_integer() else value
    return seconds(value, field, 1, _LIMIT)


def is_flat(name: str) -> bool:
    """Is this ``assertCmd`` or ``assertTimeoutMs``, which stand beside the other fields?"""
    return fold(name) in _FLAT


def gather_assertion(data: Mapping[str, Any], field: str = "") -> Mapping[str, Any]:
    """The same fields with ``assertCmd`` and ``assertTimeoutMs`` (milliseconds) put into ``assert``."""
    flat = {name: value for name, value in data.items() if is_flat(name)}
    if not flat:
        return data
    rest = {name: value for name, value in data.items() if name not in flat}
    nested = next((name for name in rest if fold(name) == "assert"), "assert")
    check = dict(table(rest.get(nested) or {}, path(field, nested)))
    for name, given in flat.items():
        own = _FLAT[fold(name)]
        value = given
        if own == "timeout":
            ms = whole(given, path(field, name), 1_000, _LIMIT * 1_000)
            value = ms // 1_000 if ms % 1_000 == 0 else ms / 1_000
        if own in check and not same(check[own], value):
            raise twice(f"{nested}.{own}", name, value, field)
        check[own] = value
    return {**rest, nested: check}
