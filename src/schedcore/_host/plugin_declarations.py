"""What a hook returned, looked at before it is used: the right type, names and numbers that can be kept.

Each check raises ``PluginFault`` with what is wrong; the caller knows the plugin.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from schedcore._host.payload_schema import model_schema, payload_schema
from schedcore.domain.errors import PluginFault, Refused
from schedcore.domain.names import TRIGGER_KINDS
from schedcore.domain.policy_fields import name_text
from schedcore.spec import (
    Calendar,
    Check,
    Executor,
    Gate,
    Listener,
    Secrets,
    SensitivityClass,
    Service,
    SettingsModel,
    TriggerKind,
)

__all__ = ["TYPES", "declared"]

TYPES: Mapping[str, type] = {
    "schedcore_settings": SettingsModel,
    "schedcore_executors": Executor,
    "schedcore_gates": Gate,
    "schedcore_listeners": Listener,
    "schedcore_secrets": Secrets,
    "schedcore_sensitivity": SensitivityClass,
    "schedcore_services": Service,
    "schedcore_calendars": Calendar,
    "schedcore_checks": Check,
    "schedcore_triggers": TriggerKind,
}
"""What each hook returns a list of."""


def declared(hook: str, returned: Any) -> list[Any]:
    """The declarations a hook returned. Raises ``PluginFault`` for anything else."""
    wanted = TYPES[hook]
    if not isinstance(returned, list | tuple):
        raise PluginFault(
            f"{hook} returned {_kind(returned)}, not a list of {wanted.__name__}",
            code="wrong_type",
            hint="return a list, also of one",
        )
    for one in returned:
        if not isinstance(one, wanted):
            raise PluginFault(
                f"{hook} returned a list with {_kind(one)} in it, not only {wanted.__name__}",
                code="wrong_type",
            )
        _check(hook, one)
    names = [getattr(one, "kind", None) or getattr(one, "name", None) for one in returned]
    for name in names:
        if names.count(name) > 1:
            raise PluginFault(f"{hook} declares {name!r} twice", code="given_twice")
    return list(returned)


def _check(hook: str, one: Any) -> None:
    what = "kind" if hasattr(one, "kind") else "name"
    try:
        name_text(getattr(one, what), what)
    except Refused as error:
        raise PluginFault(f"{hook}: {error}", code="bad_declaration") from None
    at = f"{hook}: {getattr(one, what)!r}"
    for part in fields(one):
        value = getattr(one, part.name)
        if inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value):
            raise PluginFault(
                f"{at}: {part.name} is async",
                code="async_function",
                hint="it is called in a thread of its own; run your coroutine inside with asyncio.run",
            )
    if isinstance(one, Executor):
        _check_executor(one, at)
    if isinstance(one, Check):
        _check_check(one, at)
    if isinstance(one, TriggerKind) and TRIGGER_KINDS.find(one.kind) is not None:
        raise PluginFault(f"{at}: that kind of trigger is the core's own", code="claimed_twice")


def _check_executor(one: Executor, at: str) -> None:
    for part, low, high in (("limit", 1, 86_400), ("attempts", 1, 10)):
        value = getattr(one, part)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise PluginFault(f"{at}: {part} is {value!r}", code="bad_declaration", hint=f"{low} to {high}")
    if not callable(one.execute):
        raise PluginFault(f"{at}: execute is {_kind(one.execute)}, not a function", code="bad_declaration")
    if not isinstance(one.version, str):
        raise PluginFault(f"{at}: version is {one.version!r}, not a text", code="bad_declaration")
    try:
        payload_schema(one)
    except Exception as error:
        raise PluginFault(
            f"{at}: its payload has no JSON Schema: {error}",
            code="bad_declaration",
            hint="payload is a pydantic model, or a JSON Schema as a dict",
        ) from error


def _check_check(one: Check, at: str) -> None:
    if one.look is None and one.judge is None:
        raise PluginFault(f"{at}: it neither looks nor judges", code="bad_declaration")
    for part in ("look", "judge"):
        value = getattr(one, part)
        if value is not None and not callable(value):
            raise PluginFault(f"{at}: {part} is {_kind(value)}, not a function", code="bad_declaration")
    if one.options is None:
        return
    if one.judge is None:
        raise PluginFault(f"{at}: options are for a check that judges", code="bad_declaration")
    try:
        model_schema(one.options)
    except Exception as error:
        raise PluginFault(
            f"{at}: its options have no JSON Schema: {error}",
            code="bad_declaration",
            hint="options is a pydantic model",
        ) from error


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if inspect.iscoroutine(value) or inspect.isgenerator(value):
        value.close()
    return f"a {type(value).__name__}"
