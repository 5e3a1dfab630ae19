"""Sorting what people write into a job: which field is which, under every alias (``features.md`` 0)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from schedcore.domain.assertion import is_flat
from schedcore.domain.names import JOB_FIELDS, JOB_STATES, POLICY_FIELDS, TRIGGER_FIELDS, fold
from schedcore.domain.reading import flag, same, table, twice, unknown

__all__ = ["IN_PAYLOAD", "JobForm", "payload_of", "read_form", "repair"]

IN_PAYLOAD = ("prompt", "workspace")
_NOT_FLAT = frozenset({"kind", "text"})
_FLAT = tuple(name for name in TRIGGER_FIELDS.own if name not in _NOT_FLAT)
_KNOWN = (*JOB_FIELDS.own, *POLICY_FIELDS.own, *_FLAT, *IN_PAYLOAD, "enabled")


@dataclass(frozen=True, slots=True)
class JobForm:
    """The fields of a job by own name, its policies and flat trigger fields as given, and the names given."""

    given: dict[str, Any]
    policies: dict[str, Any]
    flat: dict[str, Any]
    names: dict[str, str]

    def read(self, name: str, reader: Callable[[Any, str], Any], default: Any = None) -> Any:
        """The value of a field by ``reader(value, name as given)``, or the default where it is not set."""
        value = self.given.get(name)
        return default if value is None else reader(value, self.names[name])

    def name(self, own: str) -> str:
        """The name under which a field was given, else its own."""
        return self.names.get(own, own)


def read_form(data: Mapping[str, Any]) -> JobForm:
    """Sort the fields of a job; an unknown one is ``Refused`` with the nearest known name."""
    given: dict[str, Any] = {}
    policies: dict[str, Any] = {}
    flat: dict[str, Any] = {}
    names: dict[str, str] = {}
    for name, raw in table(data, "").items():
        own, value = JOB_FIELDS.find(name), raw
        if own is None and fold(name) == "enabled":
            own, value = "state", None if raw is None else "active" if flag(raw, name) else "paused"
        elif own == "state" and isinstance(raw, str):
            value = JOB_STATES.find(raw) or raw
        if own is None and fold(name) in IN_PAYLOAD:
            own = fold(name)
        if own is None:
            if POLICY_FIELDS.find(name) or is_flat(name):
                policies[name] = value
            elif TRIGGER_FIELDS.find(name) in _FLAT:
                flat[name] = value
            else:
                raise unknown(name, value, name, _KNOWN)
        elif own in given and not same(given[own], value):
            raise twice(names[own], name, raw)
        else:
            given[own], names[own] = value, name
    return JobForm(given, policies, flat, names)


def payload_of(form: JobForm) -> Any:
    """The payload, with what stands in the job itself put into it."""
    payload = form.given.get("payload")
    beside = {name: form.given[name] for name in IN_PAYLOAD if form.given.get(name) is not None}
    if not beside:
        return {} if payload is None else payload
    at = form.name("payload")
    merged = dict(table({} if payload is None else payload, at))
    for name, value in beside.items():
        if name in merged and not same(merged[name], value):
            raise twice(f"{at}.{name}", form.names[name], value)
        merged[name] = value
    return merged


def repair(rest: dict[str, Any], field: str, kinds: tuple[str, ...]) -> None:
    """Take the field at fault out, so that the next error shows; what a job must have gets a stand-in."""
    at = next((name for name in rest if field == name or field.startswith((f"{name}.", f"{name}["))), field)
    rest.pop(at, None)
    own = JOB_FIELDS.find(at)
    if own == "key":
        rest["key"] = "unnamed"
    elif own == "kind":
        rest["kind"] = kinds[0]
