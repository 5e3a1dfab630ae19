"""Rows of the ledger as JSON-ready values: instants as 24 characters, with the job's own clock beside (L-04)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from schedcore.domain.clock import text
from schedcore.domain.describe import describe
from schedcore.domain.local import local_text
from schedcore.domain.run import FINAL, RunState, RunTrigger, run_key
from schedcore.domain.words import words_of

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker

__all__ = [
    "changes_of",
    "event",
    "instants",
    "last_run",
    "run_line",
    "run_whole",
    "skip_line",
    "trigger_words",
]

_FINAL = {s.value for s in FINAL}
_TEXTS = {"trigger", "policies", "payload", "toolset", "labels", "extra"}


def instants(zone: str | None, **given: int | None) -> dict[str, str | None]:
    """Each instant under its name, and under ``…_local`` on the zone's clock where a zone is given."""
    shown: dict[str, str | None] = {}
    for name, us in given.items():
        shown[name] = None if us is None else text(us)
        if zone is not None:
            shown[name + "_local"] = None if us is None else f"{local_text(us // 1000 * 1000, zone)} {zone}"
    return shown


def trigger_words(control: Asker, stored: str) -> tuple[str, str]:
    """A stored trigger in words, and its zone; what cannot be read says so."""
    try:
        trigger = control.engine.compiler.trigger(stored)
        if trigger is None:
            return words_of(control.lang).say("no_trigger"), "UTC"
        return describe(trigger, control.lang), trigger.zone
    except Exception as error:  # whatever storage holds is shown, not hidden
        return f"unreadable: {error}"[:300], "UTC"


def decoded(value: Any) -> Any:
    """A stored JSON text as its value; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def changes_of(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes field by field: stored texts become values, and tables are told apart by their own fields."""
    told: dict[str, Any] = {}
    for name, pair in changes.items():
        if name == "digest" or not isinstance(pair, list) or len(pair) != 2:
            if name != "digest":
                told[name] = pair
            continue
        old, new = (decoded(v) if name in _TEXTS else v for v in pair)
        if isinstance(new, dict) and isinstance(old, dict):
            prefix = "" if name == "extra" else f"{name}."
            for part in sorted(old.keys() | new.keys()):
                if old.get(part) != new.get(part) and not (name == "extra" and part == "relative"):
                    told[prefix + part] = [old.get(part), new.get(part)]
        elif old != new:
            told[name] = [old, new]
    return told


def event(row: Mapping[str, Any], zone: str | None = None) -> dict[str, Any]:
    """One line of a history."""
    changes = decoded(row["changes"])
    return {
        "number": row["number"],
        **instants(zone, at=row["at"]),
        "actor": row["actor"],
        "actor_kind": row["actor_kind"],
        "action": row["action"],
        "reason": row["reason"],
        "changes": changes_of(changes) if isinstance(changes, dict) else None,
        "digest_before": row["digest_before"],
        "digest_after": row["digest_after"],
        "run": row["run_id"],
    }


def last_run(row: Mapping[str, Any] | None, zone: str) -> dict[str, Any] | None:
    """What a list of jobs shows of a run."""
    if row is None:
        return None
    return {
        "run": row["id"],
        **instants(zone, scheduled_for=row["scheduled_for"]),
        "state": RunState(row["state"]).word,
        "outcome": row["outcome"],
        "reason": row["reason"],
        "exit_code": row["exit_code"],
        "duration_ms": row["duration_ms"],
    }


def run_line(row: Mapping[str, Any], zone: str) -> dict[str, Any]:
    """What a list of runs shows."""
    return {
        "id": row["id"],
        "job": row["uid"],
        "key": row["key"],
        "kind": row["kind"],
        **instants(zone, scheduled_for=row["scheduled_for"]),
        "trigger": RunTrigger(row["trigger"]).word,
        "state": RunState(row["state"]).word,
        "final": row["state"] in _FINAL,
        "outcome": row["outcome"],
        "reason": row["reason"],
        **instants(zone, started_at=row["started_at"], finished_at=row["finished_at"]),
        "duration_ms": row["duration_ms"],
        "late": bool(row["late"]),
        "attempts": row["attempts"],
        "host": row["host"],
    }


def run_whole(row: Mapping[str, Any], zone: str, covers: int) -> dict[str, Any]:
    """Everything of a run (L-08); ``covers`` is how many skipped slots it stands for."""
    line = run_line(row, zone)
    return {
        "v": 1,
        **line,
        "definition": row["definition"],
        "run_key": run_key(row["uid"], row["scheduled_for"]),
        "delivery_key": row["delivery_key"] or run_key(row["uid"], row["scheduled_for"]),
        "origin": decoded(row["origin"]),
        "text": row["text"],
        **instants(zone, opened_at=row["opened_at"], start_at=row["start_at"]),
        **instants(zone, next_attempt_at=row["next_attempt_at"]),
        "dispatch_latency_ms": row["latency_ms"],
        "covers": covers,
        "fence": row["fence"],
        "gave_up": bool(row["gave_up"]),
        "exit_code": row["exit_code"],
        "assertion": None
        if row["assert_exit"] is None and row["assert_ms"] is None
        else {
            "exit_code": row["assert_exit"],
            "duration_ms": row["assert_ms"],
            "output": row["assert_output"],
        },
        "delivery": None,
        "journal": None,
        "session": None,
        "stdout_tail": row["stdout_tail"],
        "stderr_tail": row["stderr_tail"],
        "output": row["output_ref"],
        "usage": decoded(row["usage"]),
        "detail": decoded(row["detail"]),
        "machine": row["machine"],
        "stop_reason": row["stop_reason"],
        "stop_actor": row["stop_actor"],
        "probe": bool(row["probe"]),
        "parent": row["parent_run_id"],
        "retry_of": row["retry_of_id"],
        "scope": row["scope"],
    }


def skip_line(row: Mapping[str, Any], zone: str) -> dict[str, Any]:
    """A skipped row."""
    return {
        **instants(zone, first=row["first_slot"], last=row["last_slot"]),
        "slots": row["slots"],
        "reason": row["reason"],
        "definition": row["definition"],
        "run": row["run_id"],
        **instants(zone, decided_at=row["decided_at"]),
        "actor": row["actor"],
    }
