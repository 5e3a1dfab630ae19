"""Readers of input: each takes a value and its field path, and gives the value back or refuses it.

A value outside its range is refused, never clamped; a name that is not known is refused with the nearest
known one. Nothing here knows what a field means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from schedcore.domain.duration import parse_duration
from schedcore.domain.errors import Refused, nearest
from schedcore.domain.names import Names, fold

__all__ = [
    "choice",
    "fields",
    "flag",
    "path",
    "plain",
    "same",
    "seconds",
    "table",
    "texts",
    "twice",
    "unknown",
    "whole",
    "wrong",
]


def wrong(message: str, field: str, value: Any, code: str, hint: str | None = None) -> Refused:
    """The refusal of one field."""
    return Refused(message, code=code, field=field, value=value, hint=hint)


def whole(value: Any, field: str, low: int, high: int, *, or_zero: bool = False) -> int:
    """A whole number from ``low`` to ``high`` (or 0); a bool is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(f"{value!r} is not a whole number", field, value, "bad_type")
    if not (low <= value <= high or (or_zero and value == 0)):
        zero = "0, or " if or_zero else ""
        raise wrong(f"{value} is out of range", field, value, "out_of_range", f"{zero}{low} to {high}")
    return value


def seconds(value: Any, field: str, low: int, high: int, *, or_zero: bool = False) -> int:
    """A duration as whole seconds: a number of seconds, or a text such as ``90s``, ``15m``, ``1h30m``."""
    if isinstance(value, str):
        if or_zero and value.strip() in {"0", "0s"}:
            return 0
        return parse_duration(value, field, minimum=low, maximum=high)
    return whole(value, field, low, high, or_zero=or_zero)


def flag(value: Any, field: str) -> bool:
    """``true`` or ``false``, nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise wrong(f"{value!r} is neither true nor false", field, value, "bad_type")
    return value


def choice(value: Any, field: str, words: tuple[str, ...]) -> str:
    """One of ``words``, compared as names are."""
    found = fold(value) if isinstance(value, str) else None
    if found not in words:
        near = nearest(found, words) if found else None
        raise wrong(
            f"{value!r} is not known here",
            field,
            value,
            "unknown_value",
            near or "one of: " + ", ".join(words),
        )
    return found


def plain(value: Any, field: str, longest: int, *, shortest: int = 1, lines: bool = False) -> str:
    """A text of ``shortest`` to ``longest`` characters; without control characters unless ``lines``."""
    if not isinstance(value, str):
        raise wrong(f"{value!r} is not a text", field, value, "bad_type")
    if not shortest <= len(value) <= longest or (shortest and not value.strip()):
        raise wrong(
            f"the text has {len(value)} characters",
            field,
            value,
            "length",
            f"{shortest} to {longest}, not blank",
        )
    allowed = "\n\r\t" if lines else ""
    for character in value:
        if (character < " " or "\x7f" <= character <= "\x9f") and character not in allowed:
            raise wrong(
                f"the text holds the control character {character!r}", field, value, "control_character"
            )
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        raise wrong("the text is not valid Unicode", field, value, "control_character")
    return value


def texts(
    value: Any, field: str, at_most: int, each: Callable[[Any, str], str], *, at_least: int = 0
) -> tuple[str, ...]:
    """A list of at most ``at_most`` texts, each read by ``each``; repeats are dropped, order is kept."""
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise wrong(f"{value!r} is not a list", field, value, "bad_type", 'write ["name", …]')
    if not at_least <= len(value) <= at_most:
        raise wrong(
            f"the list has {len(value)} entries", field, list(value), "length", f"{at_least} to {at_most}"
        )
    return tuple(dict.fromkeys(each(item, f"{field}[{i}]") for i, item in enumerate(value)))


def table(value: Any, field: str) -> Mapping[str, Any]:
    """A table whose names are texts."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise wrong(f"{value!r} is not a table of named values", field, value, "bad_type")
    return value


def path(at: str, name: str) -> str:
    """The dotted path of a field below another."""
    return f"{at}.{name}" if at else name


def fields(data: Mapping[str, Any], known: Names, at: str = "") -> dict[str, Any]:
    """The values by own name. An unknown name is refused with the nearest one, and so are two names of one
    field with different values (``given_twice``). ``at`` is the path of the table.
    """
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    for name, value in data.items():
        own = known.find(name)
        if own is None:
            raise unknown(path(at, name), value, name, known.own)
        if own in found and not same(found[own], value):
            raise twice(names[own], name, value, at)
        found[own], names[own] = value, name
    return found


def same(one: Any, other: Any) -> bool:
    """Equal, and not merely as ``True`` equals 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def unknown(field: str, value: Any, name: str, known: Iterable[str]) -> Refused:
    """The refusal of a field nobody knows."""
    return wrong("there is no such field", field, value, "unknown_field", nearest(fold(name), set(known)))


def twice(first: str, second: str, value: Any, at: str = "") -> Refused:
    """The refusal of two names of one field with different values."""
    return wrong(
        f"{first!r} and {second!r} are names of one field, with different values",
        path(at, second),
        value,
        "given_twice",
        "give one of them",
    )
