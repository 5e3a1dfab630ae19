"""The JSON Schema of a kind's payload, as a host announces it so that any process can check one (T-18).

A model that says nothing of unknown fields is closed here: an order with an unknown field is refused,
whoever checks it. Names that a field also goes by are told, or others would refuse them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from schedcore.spec import Executor

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["model_schema", "payload_schema"]


_PLAIN: dict[int, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
"""Declared schemas, as plain JSON: there are as many as there are kinds."""


def payload_schema(executor: Executor) -> Mapping[str, Any]:
    """The schema of what this executor takes. Raises ``TypeError`` where there is none."""
    payload = executor.payload
    if isinstance(payload, Mapping):
        kept = _PLAIN.get(id(payload))
        if kept is None or kept[0] is not payload:
            kept = _PLAIN[id(payload)] = (payload, dict(json.loads(json.dumps(dict(payload)))))
        return kept[1]
    return model_schema(payload)


@lru_cache(256)
def model_schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """The schema of a model, closed and with all names. Raises ``TypeError`` for what is none."""
    from pydantic import BaseModel
    from pydantic.json_schema import GenerateJsonSchema

    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError(f"{model!r} is no pydantic model")

    class Closed(GenerateJsonSchema):
        def model_schema(self, schema: Any) -> dict[str, Any]:
            made = super().model_schema(schema)
            _close(made, schema["cls"])
            return made

    return model.model_json_schema(schema_generator=Closed)


def _close(made: dict[str, Any], model: type[BaseModel]) -> None:
    if "properties" not in made and model.model_fields:
        return
    properties = made.setdefault("properties", {})
    by_name = bool(model.model_config.get("populate_by_name") or model.model_config.get("validate_by_name"))
    for own, field in model.model_fields.items():
        names = _names(own, field.validation_alias or field.alias, by_name)
        known = next((name for name in names if name in properties), None)
        if known is None or len(names) == 1:
            continue
        for name in names:
            properties.setdefault(name, properties[known])
        if known in made.get("required", ()):  # one of several names: a schema this small cannot say so
            made["required"] = [name for name in made["required"] if name != known]
    if model.model_config.get("extra") != "allow":
        made.setdefault("additionalProperties", False)


def _names(own: str, alias: Any, by_name: bool) -> list[str]:
    """The names under which a model takes a field."""
    choices = getattr(alias, "choices", [alias])
    names = [name for name in choices if isinstance(name, str)]
    return [*names, own] if by_name or not names else names
