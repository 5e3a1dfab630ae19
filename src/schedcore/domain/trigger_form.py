"""Reading the form in which people and files write a trigger: own names, aliases, and one kind (section 0).

The result is a plain :class:`Form`; what the values mean is decided in :mod:`trigger`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from schedcore.domain.duration import bare_duration_hint
from schedcore.domain.errors import Refused, nearest, shown
from schedcore.domain.names import fold

__all__ = ["KINDS", "Form", "kind_of", "read_form"]

#: The kinds of the core that have slots of their own.
KINDS = ("cron", "every", "at")

_ALIASES = {"interval": "every", "once": "at", "one-shot": "at", "expression": "text", "timezone": "zone"}
_FIELDS = (
    "kind", "text", "zone", "gap", "fold", "not_before", "not_after", "count", "jitter", "anchor",
    "calendar", "on_closed", "day_time",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Form:
    """A trigger as it was written: its kind, its text, where the text stood, and the other fields."""

    kind: str
    text: Any
    field: str
    rest: Mapping[str, Any]


def read_form(data: Mapping[str, Any] | str, kinds: Collection[str], field: str) -> Form:
    """The form of a trigger. A kind is a field of its own, or ``kind`` beside ``text``; ``in`` is a duration
    from now, for an order. ``kinds`` are those of plugins, ``field`` the path for errors.

    Raises :class:`Refused`: ``unknown_field``, ``given_twice``, ``two_kinds``, ``unknown_kind``,
    ``no_trigger``, and ``bare_duration`` for a duration whose kind is not given.
    """
    if isinstance(data, str):
        return Form(_guessed(data, field), data, field, {})
    if not isinstance(data, Mapping):
        raise Refused(
            "a trigger is a table or a text", code="no_trigger", field=field, value=data, hint=_HINT
        )
    every_kind = (*KINDS, "in", *kinds)
    given = _own_names(data, every_kind, field)
    named = [kind for kind in every_kind if kind in given]
    kind = given.pop("kind", None)
    if kind is not None:
        kind = _kind(kind, every_kind, f"{field}.kind")
    if len(named) > 1 or (named and kind not in (None, named[0])) or (named and "text" in given):
        found = [
            *named,
            *([f"kind {kind}"] if kind not in (None, *named) else []),
            *(["text"] if "text" in given else []),
        ]
        raise Refused(
            f"one trigger has one kind, here are {' and '.join(found)}",
            code="two_kinds",
            field=field,
            hint="keep one of them",
        )
    if named:
        return Form(named[0], given.pop(named[0]), f"{field}.{named[0]}", given)
    if "text" not in given:
        raise Refused("there is no trigger", code="no_trigger", field=field, hint=_HINT)
    text = given.pop("text")
    return Form(kind or _guessed(text, f"{field}.text"), text, f"{field}.text", given)


def kind_of(text: str) -> str:
    """The kind that a text without a kind looks like: ``at``, ``every``, else ``cron``."""
    if text[:4].isdigit() and text[4:5] == "-":
        return "at"
    return "every" if bare_duration_hint(text) else "cron"


_HINT = """such as {"cron": "0 9 * * 1-5"}, {"every": "30m"} or {"at": "2026-11-01T09:30"}"""


def _guessed(text: Any, field: str) -> str:
    if not isinstance(text, str):
        raise Refused(
            "a trigger is a table or a text", code="no_trigger", field=field, value=text, hint=_HINT
        )
    kind = kind_of(text)
    if kind == "every":
        raise Refused(
            f"{shown(text)} may be each time or once",
            code="bare_duration",
            field=field,
            value=text,
            hint=bare_duration_hint(text),
        )
    return kind


def _kind(value: Any, every_kind: tuple[str, ...], field: str) -> str:
    name = fold(value) if isinstance(value, str) else ""
    name = _ALIASES.get(name, name)
    if name not in every_kind:
        hint = nearest(name, set(every_kind)) or "one of " + ", ".join(every_kind)
        raise Refused(
            f"there is no trigger kind {shown(value)}",
            code="unknown_kind",
            field=field,
            value=value,
            hint=hint,
        )
    return name


def _own_names(data: Mapping[str, Any], every_kind: tuple[str, ...], field: str) -> dict[str, Any]:
    known = {*every_kind, *_FIELDS}
    given: dict[str, Any] = {}
    for name, value in data.items():
        own = fold(str(name))
        own = _ALIASES.get(own, own)
        if own not in known:
            hint = nearest(own, known | set(_ALIASES)) or "known are " + ", ".join(sorted(known))
            raise Refused(
                f"unknown field {shown(name)}", code="unknown_field", field=f"{field}.{own:.80}", hint=hint
            )
        if value is None:
            continue
        if own in given and given[own] != value:
            raise Refused(
                f"{own} is given twice",
                code="given_twice",
                field=f"{field}.{own}",
                value=value,
                hint="keep one",
            )
        given[own] = value
    return given
