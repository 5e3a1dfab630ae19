"""Does a payload fit its kind? Asked of the plugin's model where this process has it, else of the schema that
some host announced (T-18).

What is stored is the payload as it was given: a process without the plugin could not make anything else of
it, and the digest of a job must not depend on who wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from schedcore._host.payload_schema import model_schema, payload_schema
from schedcore._host.schema_check import schema_errors
from schedcore.domain.errors import Refused, nearest
from schedcore.spec import Executor

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

__all__ = ["fitted", "model_errors", "payload_errors", "validate_payload"]


def validate_payload(
    kind: Executor | Mapping[str, Any], payload: Mapping[str, Any], field: str = "payload"
) -> dict[str, Any]:
    """The payload, if it fits an executor or an announced JSON Schema.

    Raises ``Refused`` with the field path, the value, what is wrong, and the nearest known name.
    """
    errors = payload_errors(kind, payload, field)
    if errors:
        raise errors[0]
    return dict(payload)


def payload_errors(
    kind: Executor | Mapping[str, Any], payload: Mapping[str, Any], field: str = "payload"
) -> list[Refused]:
    """Everything :func:`validate_payload` would refuse."""
    if not isinstance(kind, Executor):
        return schema_errors(kind, payload, field)
    if isinstance(kind.payload, Mapping):
        errors = schema_errors(payload_schema(kind), payload, field)
        return errors or _own_check(kind, dict(payload), field)
    model, errors = fitted(kind.payload, payload, field)
    return errors or _own_check(kind, model, field)


def fitted(model: type[BaseModel], data: Mapping[str, Any], field: str) -> tuple[Any, list[Refused]]:
    """The model made of what an order says, and everything that is refused about it."""
    closed = schema_errors(model_schema(model), data, field)
    made, errors = model_errors(model, data, field)
    if errors:
        # The model decides; where the schema sees a fault too, its paths are those that people wrote.
        return None, closed or errors
    # Models that say nothing of unknown fields pass them over; an order may not.
    return made, [error for error in closed if error.code == "unknown_field"]


def model_errors(model: type[BaseModel], data: Any, field: str) -> tuple[Any, list[Refused]]:
    """The model made of some data, and everything it refuses, with paths below ``field``."""
    from pydantic import ValidationError

    try:
        return model.model_validate(data), []
    except ValidationError as error:
        return None, _told(error, model, field)


def _told(error: ValidationError, model: type[BaseModel], field: str) -> list[Refused]:
    from pydantic import BaseModel

    refused = []
    for one in error.errors(include_url=False, include_context=False):
        names = [str(part) for part in one["loc"]]
        hint = None
        if one["type"] == "extra_forbidden":
            owner: Any = model
            for name in names[:-1]:
                inner = getattr(owner.model_fields.get(name), "annotation", None) if owner else None
                owner = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
            known = set(owner.model_fields) if owner else set()
            hint = nearest(names[-1], known) or (f"known are {', '.join(sorted(known))}" if known else None)
        missing = one["type"] == "missing"
        refused.append(
            Refused(
                "there is no such field" if hint else one["msg"].removeprefix("Value error, "),
                code={"extra_forbidden": "unknown_field", "missing": "missing"}.get(one["type"], "payload"),
                field=".".join([field, *names]),
                value=None if missing else one["input"],
                hint=hint,
            )
        )
    return refused


def _own_check(executor: Executor, payload: Any, field: str) -> list[Refused]:
    """What the executor itself has against it."""
    if executor.check is None:
        return []
    try:
        executor.check(payload)
    except Refused as error:
        inside = error.field is None or error.field == field or error.field.startswith(f"{field}.")
        return [error if error.field and inside else error.under(field)]  # type: ignore[list-item]  # under() answers its own kind
    return []
