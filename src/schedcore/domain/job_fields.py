"""How the fields of a job are read, one function per field (L-05, L-06); each raises ``Refused``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from schedcore.domain.errors import nearest
from schedcore.domain.keys import check_texts
from schedcore.domain.names import CHANNELS, JOB_STATES, KINDS, Names, fold
from schedcore.domain.policy_fields import name_text
from schedcore.domain.reading import fields, flag, path, plain, table, texts, wrong

__all__ = [
    "PAYLOAD_MAX",
    "canonical",
    "read_deliver_to",
    "read_key",
    "read_kind",
    "read_labels",
    "read_notify",
    "read_payload",
    "read_state",
    "read_toolset",
]

_FEW, _SHORT = 50, 1_000
PAYLOAD_MAX = 256 * 1024
"""Bytes of a payload as JSON (L-06)."""

_MOST = 32
_DEEPEST = 64
_INTEGERS = range(-(2**63), 2**64)
_KEY = re.compile(r"[A-Za-z0-9_.:][A-Za-z0-9_.:-]{0,99}", re.ASCII)
_NOTIFY = Names("a field of notify", {"channel": ("canal",), "require": ()})
_DELIVER_TO = Names("a field of deliver_to", {"session": ("sessionId",)})


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted names, no blanks, no escapes that are not needed."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def read_key(value: Any, field: str = "key") -> str:
    """1 to 100 letters, digits or ``. _ : -``; ``|`` parts run keys, a leading dash reads as an option."""
    if not isinstance(value, str):
        raise wrong(f"{value!r} is not a text", field, value, "bad_type")
    if not _KEY.fullmatch(value):
        raise wrong(
            f"{value!r} cannot be a key",
            field,
            value,
            "bad_key",
            "1 to 100 of A-Z a-z 0-9 . _ : -, not beginning with a dash",
        )
    return value


def read_kind(value: Any, known: tuple[str, ...] | None, field: str = "kind") -> str:
    """A kind of work; one of ``known``, where it is known which there are (T-18)."""
    name = fold(value) if isinstance(value, str) else ""
    name = KINDS.find(name) or name
    if known is not None and name not in known:
        hint = nearest(name, known) or "one of: " + ", ".join(known)
        raise wrong(f"nobody offers the kind {value!r}", field, value, "unknown_kind", hint)
    return name_text(name, field)


def read_state(value: Any, field: str = "state") -> str:
    """``active`` or ``paused``; the other states are nobody's to order."""
    state = JOB_STATES.read(value, field)
    if state not in {"active", "paused"}:
        raise wrong(f"a job cannot be ordered {state}", field, value, "not_taken", "active or paused")
    return state


def read_toolset(value: Any, field: str = "toolset") -> tuple[str, ...]:
    """At most 32 names."""
    return texts(value, field, _MOST, name_text)


def read_labels(value: Any, field: str = "labels") -> Mapping[str, str]:
    """At most 32 labels: a table of short texts, or a list of names."""
    if isinstance(value, list | tuple):
        return dict.fromkeys(texts(value, field, _MOST, name_text), "")
    given = table(value, field)
    if len(given) > _MOST:
        raise wrong(f"there are {len(given)} labels", field, sorted(given), "length", f"at most {_MOST}")
    return {
        name_text(name, path(field, name)): plain(text, path(field, name), 200, shortest=0)
        for name, text in given.items()
    }


def read_notify(value: Any, field: str = "notify") -> Mapping[str, Any]:
    """``{channel, require}``: the messages the work itself owes (D-08)."""
    given = fields(table(value, field), _NOTIFY, field)
    if "channel" not in given:
        raise wrong("notify needs a channel", path(field, "channel"), None, "missing")
    channel = name_text(given["channel"], path(field, "channel"))
    require = flag(given.get("require", False), path(field, "require"))
    return {"channel": CHANNELS.find(channel) or channel, "require": require}


def read_deliver_to(value: Any, field: str = "deliver_to") -> Mapping[str, Any]:
    """``{session}``: the live session the result goes to (D-24)."""
    given = fields(table(value, field), _DELIVER_TO, field)
    if "session" not in given:
        raise wrong("deliver_to needs a session", path(field, "session"), None, "missing")
    return {"session": plain(given["session"], path(field, "session"), 200)}


def read_payload(value: Any, field: str = "payload") -> dict[str, Any]:
    """A table of JSON values, at most 256 KiB and 64 levels deep, without misspelt placeholders (D-04).

    What its fields mean is the executor's business, and checked by its model.
    """
    payload = dict(table(value, field))
    if _is_plain(payload):
        return payload
    _check_json(payload, field)
    size = len(canonical(payload).encode())
    if size > PAYLOAD_MAX:
        raise wrong(f"the payload has {size} bytes", field, None, "length", f"at most {PAYLOAD_MAX}")
    check_texts(payload, field)
    return payload


def _check_unicode(text: str, where: str) -> None:
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise wrong("the text is not valid Unicode", where, text, "control_character")


def _is_plain(payload: Mapping[str, Any]) -> bool:
    """Is it a few short texts without placeholders, numbers, nulls and flags, in which nothing can be wrong?"""
    if len(payload) > _FEW:
        return False
    for name, value in payload.items():
        kind = type(value)
        if type(name) is not str or not name.isascii() or len(name) > _SHORT:
            return False
        if kind is str:
            if not value.isascii() or len(value) > _SHORT or "{{" in value:
                return False
        elif kind is int:
            if value not in _INTEGERS:
                return False
        elif kind is not bool and value is not None:
            return False
    return True


def _check_json(value: Any, field: str) -> None:
    line: list[tuple[str, Any, int]] = [(field, value, 0)]
    while line:
        where, item, depth = line.pop()
        if depth > _DEEPEST:
            raise wrong("the payload is nested too deep", field, None, "length", f"at most {_DEEPEST} levels")
        if isinstance(item, str):
            _check_unicode(item, where)
        elif isinstance(item, Mapping):
            for name in table(item, where):
                _check_unicode(name, where)
            line.extend((path(where, name), inner, depth + 1) for name, inner in item.items())
        elif isinstance(item, list | tuple):
            line.extend((f"{where}[{i}]", inner, depth + 1) for i, inner in enumerate(item))
        elif isinstance(item, float) and not math.isfinite(item):
            raise wrong(f"{item} is not a JSON number", where, repr(item), "out_of_range")
        elif isinstance(item, int) and not isinstance(item, bool) and item not in _INTEGERS:
            raise wrong("the number is too large", where, str(item)[:80], "out_of_range", "64 bits")
        elif item is not None and not isinstance(item, int | float):
            raise wrong(f"{type(item).__name__} is not a JSON value", where, str(item), "bad_type", "a text?")
