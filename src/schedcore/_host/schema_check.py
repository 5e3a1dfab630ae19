"""A JSON Schema checked in plain Python: the subset that pydantic writes, and that hosts announce.

No library, because ``jsonschema`` costs 70 ms at each start of a command and is no dependency otherwise.
What a schema says beyond the subset is passed over: the host that runs the work checks with its own model.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from schedcore.domain.errors import Refused, nearest
from schedcore.domain.reading import same

__all__ = ["schema_errors"]

_DEEPEST = 64
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: (
        (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, float) and v.is_integer())
    ),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list | tuple),
    "object": lambda v: isinstance(v, Mapping),
}
_BOUNDS: Mapping[str, tuple[Callable[[Any, Any], Any], str]] = {
    "minimum": (operator.lt, "at least"),
    "maximum": (operator.gt, "at most"),
    "exclusiveMinimum": (operator.le, "more than"),
    "exclusiveMaximum": (operator.ge, "less than"),
    "multipleOf": (operator.mod, "a multiple of"),
}
_WORDS = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "a table",
}


def schema_errors(schema: Mapping[str, Any], value: Any, field: str) -> list[Refused]:
    """Everything in a value that does not fit, each with its path below ``field``."""
    return _Check(schema).errors(schema, value, field, 0)


class _Check:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def errors(self, schema: Any, value: Any, at: str, depth: int) -> list[Refused]:
        if schema is True or schema is None or depth > _DEEPEST:
            return []
        if schema is False:
            return [_refused("nothing is taken here", at, value)]
        if "$ref" in schema:
            schema = {**self._target(schema["$ref"]), **{k: v for k, v in schema.items() if k != "$ref"}}
            return self.errors(schema, value, at, depth + 1)
        found = _of_type(schema, value, at)
        if found:
            return found
        found = [*_of_value(schema, value, at), *self._combined(schema, value, at, depth)]
        if isinstance(value, Mapping):
            found += self._table(schema, value, at, depth)
        elif isinstance(value, list | tuple):
            found += _of_length(schema, len(value), "Items", "entries", value, at)
            items, first = schema.get("items", True), schema.get("prefixItems", ())
            for i, part in enumerate(value):
                found += self.errors(first[i] if i < len(first) else items, part, f"{at}[{i}]", depth + 1)
        return found

    def _target(self, ref: str) -> Mapping[str, Any]:
        """What a ``$ref`` within the schema leads to; a strange one leads to what takes everything."""
        node: Any = self._root
        for part in ref.removeprefix("#/").split("/") if ref.startswith("#/") else ():
            node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, Mapping) else None
        return node if isinstance(node, Mapping) and node is not self._root else {}

    def _combined(self, schema: Mapping[str, Any], value: Any, at: str, depth: int) -> list[Refused]:
        found = [e for part in schema.get("allOf", ()) for e in self.errors(part, value, at, depth + 1)]
        for word in ("anyOf", "oneOf"):
            if not (parts := schema.get(word)):
                continue
            tried = [self.errors(part, value, at, depth + 1) for part in parts]
            if all(tried):
                found += _nearest_branch(tried, parts, value, at)
            elif word == "oneOf" and sum(not errors for errors in tried) > 1:
                found.append(_refused("it fits more than one of the forms", at, value))
        return found

    def _table(
        self, schema: Mapping[str, Any], value: Mapping[str, Any], at: str, depth: int
    ) -> list[Refused]:
        known = schema.get("properties", {})
        found = [
            Refused("it is missing", code="missing", field=f"{at}.{name}", hint=_says(known.get(name)))
            for name in schema.get("required", ())
            if name not in value
        ]
        found += _of_length(schema, len(value), "Properties", "fields", value, at)
        rest = schema.get("additionalProperties", True)
        patterns = schema.get("patternProperties", {})
        for name, part in value.items():
            below = (
                [known[name]]
                if name in known
                else [s for p, s in patterns.items() if re.search(p, str(name))]
            )
            if below:
                found += [e for one in below for e in self.errors(one, part, f"{at}.{name}", depth + 1)]
            elif rest is False:
                hint = nearest(str(name), set(known)) or f"known are {', '.join(known) or 'none'}"
                found.append(
                    Refused(
                        "there is no such field",
                        code="unknown_field",
                        field=f"{at}.{name}",
                        value=part,
                        hint=hint,
                    )
                )
            else:
                found += self.errors(rest, part, f"{at}.{name}", depth + 1)
        return found


def _of_type(schema: Mapping[str, Any], value: Any, at: str) -> list[Refused]:
    wanted = schema.get("type")
    types = [wanted] if isinstance(wanted, str) else wanted or []
    if not types or any(_TYPES.get(name, lambda v: True)(value) for name in types):
        return []
    return [_refused(f"not {' or '.join(_WORDS[name] for name in types)}", at, value)]


def _of_value(schema: Mapping[str, Any], value: Any, at: str) -> list[Refused]:
    found = []
    if "const" in schema and not same(schema["const"], value):
        found.append(_refused(f"not {schema['const']!r}", at, value))
    if "enum" in schema and not any(same(one, value) for one in schema["enum"]):
        words = [str(one) for one in schema["enum"]]
        near = nearest(value, set(words)) if isinstance(value, str) else None
        found.append(
            _refused("not one of those known here", at, value, near or f"one of: {', '.join(words)}")
        )
    if _TYPES["number"](value):
        for word, (bad, says) in _BOUNDS.items():
            if word in schema and bad(value, schema[word]):
                found.append(_refused("out of range", at, value, f"{says} {schema[word]}"))
    if isinstance(value, str):
        found += _of_length(schema, len(value), "Length", "characters", value, at)
        if (pattern := schema.get("pattern")) and not _has_form(pattern, value):
            found.append(_refused("it does not have the form asked for", at, value, f"pattern {pattern}"))
    return found


def _has_form(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:  # another dialect; the host that runs the work knows it
        return True


def _of_length(
    schema: Mapping[str, Any], size: int, word: str, things: str, value: Any, at: str
) -> list[Refused]:
    low, high = schema.get(f"min{word}"), schema.get(f"max{word}")
    if (low is None or size >= low) and (high is None or size <= high):
        return []
    bounds = f"{low or 0} to {high}" if high is not None else f"at least {low}"
    return [_refused(f"{size} {things}", at, value, f"{bounds} {things}")]


def _nearest_branch(tried: list[list[Refused]], parts: list[Any], value: Any, at: str) -> list[Refused]:
    """Of several forms none of which fits, what is wrong with the one that was meant, if that can be told."""
    meant = [
        errors for errors in tried if not any(e.field == at and e.message.startswith("not ") for e in errors)
    ]
    if len(meant) == 1:
        return meant[0]
    words = [
        _WORDS[part["type"]] for part in parts if isinstance(part.get("type"), str) and part["type"] in _WORDS
    ]
    hint = f"{' or '.join(words)}" if len(words) == len(parts) else "; or: ".join(e[0].message for e in tried)
    return [_refused("it fits none of the forms", at, value, hint)]


def _says(schema: Any) -> str | None:
    return schema.get("description") if isinstance(schema, Mapping) else None


def _refused(message: str, at: str, value: Any, hint: str | None = None) -> Refused:
    return Refused(message, code="payload", field=at, value=value, hint=hint)
