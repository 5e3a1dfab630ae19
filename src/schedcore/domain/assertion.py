"""The check of a job: a command, or a plugin's check, that decides whether work was really done (A-01, A-02)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from schedcore.domain.names import Names, fold
from schedcore.domain.reading import choice, fields, path, plain, same, seconds, table, twice, whole, wrong

__all__ = ["Assertion", "gather_assertion", "is_flat"]

_LONGEST = 4_000
_LIMIT = 10 * 60
_NAMES = Names(
    "a field of an assertion",
    {"command": (), "check": (), "options": (), "timeout": (), "env": (), "cwd": ()},
)
_OF_COMMANDS = ("env", "cwd")
_FLAT = {fold("assertCmd"): "command", fold("assertTimeoutMs"): "timeout"}


@dataclass(frozen=True, slots=True)
class Assertion:
    """One of two, with its limit in seconds (1 s to 10 min).

    ``command``: at most 4,000 characters, with the ``reduced`` environment or what it may ``inherit`` of the
    host's, and the folder it runs in. Or ``check``: the name of a plugin's check, with the ``options`` it is given.
    """

    command: str | None
    timeout: float = 60
    env: str = "reduced"
    cwd: str | None = None
    check: str | None = None
    options: Mapping[str, Any] | None = None

    @classmethod
    def parse(cls, value: Any, field: str = "assert") -> Assertion:
        """Read a table ``{command, timeout, env, cwd}`` or ``{check, options, timeout}``.

        Raises ``Refused`` with the field's path. Whether a plugin offers the check is asked elsewhere.
        """
        given = fields(table(value, field), _NAMES, field)
        limit = _limit(given.get("timeout", 60), path(field, "timeout"))
        if given.get("check") is not None:
            return cls._of_plugin(given, limit, field)
        if given.get("command") is None:
            hint = 'write command = "test -s report", or check = the name of a plugin\'s check'
            raise wrong("an assertion needs a command", path(field, "command"), None, "missing", hint)
        if given.get("options") is not None:
            raise wrong("options belong to a check", path(field, "check"), None, "missing", "name the check")
        cwd = given.get("cwd")
        return cls(
            plain(given["command"], path(field, "command"), _LONGEST, lines=True),
            limit,
            choice(given.get("env", "reduced"), path(field, "env"), ("reduced", "inherit")),
            None if cwd is None else plain(cwd, path(field, "cwd"), 4_096),
        )

    @classmethod
    def _of_plugin(cls, given: Mapping[str, Any], limit: float, field: str) -> Self:
        for name in ("command", *_OF_COMMANDS):
            if given.get(name) is not None:
                text = f"{name} belongs to a command, and this assertion is a check"
                raise wrong(text, path(field, name), given[name], "given_twice", "give one of the two")
        options = table(given.get("options") or {}, path(field, "options"))
        name = plain(given["check"], path(field, "check"), 100)
        return cls(None, limit, check=name, options=dict(options))

    def to_dict(self) -> dict[str, Any]:
        """The canonical form; :meth:`parse` reads it back."""
        if self.check is not None:
            return {"check": self.check, "options": dict(self.options or {}), "timeout": self.timeout}
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
