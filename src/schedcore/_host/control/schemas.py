"""The published JSON Schemas of answers: what ``show`` and ``runs show`` print with ``--json``."""

from __future__ import annotations

from typing import Any

from schedcore.domain.errors import NotFound, nearest
from schedcore.domain.run import RunState, RunTrigger

__all__ = ["JOB", "RUN", "schema_of"]

_TEXT = {"type": "string"}
_TEXT_OR_NOT = {"type": ["string", "null"]}
_NUMBER = {"type": "integer"}
_NUMBER_OR_NOT = {"type": ["integer", "null"]}
_FLAG = {"type": "boolean"}
_TABLE = {"type": "object"}
_TABLE_OR_NOT = {"type": ["object", "null"]}
_LIST = {"type": "array"}
_INSTANT = {
    "type": ["string", "null"],
    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$",
}


def _times(*names: str) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for name in names:
        shown |= {name: _INSTANT, name + "_local": _TEXT_OR_NOT}
    return shown


def _object(title: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


_LINE: dict[str, Any] = {
    "id": _NUMBER,
    "job": _TEXT,
    "key": _TEXT,
    "kind": _TEXT,
    **_times("scheduled_for", "started_at", "finished_at"),
    "trigger": {"enum": [t.word for t in RunTrigger]},
    "state": {"enum": [s.word for s in RunState]},
    "final": _FLAG,
    "outcome": _TEXT_OR_NOT,
    "reason": _TEXT_OR_NOT,
    "duration_ms": _NUMBER_OR_NOT,
    "late": _FLAG,
    "attempts": _NUMBER,
    "host": _TEXT_OR_NOT,
}
_POLICY = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {"value": {}, "origin": {"enum": ["job", "host", "kind", "default"]}},
        "required": ["origin", "value"],
    },
}

JOB = _object(
    "A job",
    {
        "v": {"const": 1},
        "id": _TEXT,
        "key": _TEXT,
        "name": _TEXT,
        "description": _TEXT_OR_NOT,
        "kind": _TEXT,
        "trigger": _TABLE_OR_NOT,
        "trigger_words": _TEXT,
        "zone": _TEXT,
        "payload": _TABLE,
        "toolset": {"type": "array", "items": _TEXT},
        "policies": _POLICY,
        "notify": _TABLE_OR_NOT,
        "deliver_to": _TABLE_OR_NOT,
        "state": {"enum": ["active", "paused", "pending", "done", "retired"]},
        "state_reason": _TEXT_OR_NOT,
        "state_actor": _TEXT_OR_NOT,
        **_times("state_at", "next_run_at", "last_slot", "breaker_at"),
        "overdue": _FLAG,
        "slots": _LIST,
        "slots_left": _NUMBER_OR_NOT,
        "last": _TABLE_OR_NOT,
        "last_runs": {"type": "array", "items": {"type": "object", "properties": _LINE}},
        "streak": _NUMBER,
        "run_count": _NUMBER,
        "last_dispatch_latency_ms": _NUMBER_OR_NOT,
        "reason": _TEXT_OR_NOT,
        "source": _TEXT_OR_NOT,
        "external_id": _TEXT_OR_NOT,
        "owner": _TEXT_OR_NOT,
        "scope": _TEXT_OR_NOT,
        "labels": {"type": "object", "additionalProperties": _TEXT},
        "creator": _TEXT,
        "creator_kind": _TEXT,
        "digest": _TEXT,
        "definition": _NUMBER,
        "definitions": _NUMBER,
        "tz_version": _TEXT,
        **_times("archived_through", "created_at", "updated_at"),
    },
)

RUN = _object(
    "A run",
    {
        "v": {"const": 1},
        **_LINE,
        "definition": _NUMBER,
        "run_key": _TEXT,
        "delivery_key": _TEXT_OR_NOT,
        "origin": {},
        "text": _TEXT_OR_NOT,
        **_times("opened_at", "start_at", "next_attempt_at"),
        "dispatch_latency_ms": _NUMBER_OR_NOT,
        "covers": _NUMBER,
        "fence": _NUMBER,
        "gave_up": _FLAG,
        "exit_code": _NUMBER_OR_NOT,
        "assertion": _TABLE_OR_NOT,
        "delivery": _TABLE_OR_NOT,
        "journal": _TEXT_OR_NOT,
        "session": _TEXT_OR_NOT,
        "stdout_tail": _TEXT_OR_NOT,
        "stderr_tail": _TEXT_OR_NOT,
        "output": _TEXT_OR_NOT,
        "usage": _TABLE_OR_NOT,
        "detail": _TABLE_OR_NOT,
        "machine": _TEXT_OR_NOT,
        "stop_reason": _TEXT_OR_NOT,
        "stop_actor": _TEXT_OR_NOT,
        "probe": _FLAG,
        "parent": _NUMBER_OR_NOT,
        "retry_of": _NUMBER_OR_NOT,
        "scope": _TEXT_OR_NOT,
    },
)

_ALL = {"job": JOB, "run": RUN}


def schema_of(what: str) -> dict[str, Any]:
    """See :meth:`Control.schema_of`."""
    if what not in _ALL:
        hint = nearest(what, set(_ALL)) or "one of: " + ", ".join(_ALL)
        raise NotFound(f"no schema of {what!r}", code="no_schema", field="what", value=what, hint=hint)
    return _ALL[what]
