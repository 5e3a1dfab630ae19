"""The reading views: the tables with words for numbers and the 24 characters for instants (L-04).

They are for people with a database client; nothing in schedcore reads them.
"""

from __future__ import annotations

from collections.abc import Callable

from schedcore.domain.run import RunState, RunTrigger

__all__ = ["create_views"]

_TEXT = {
    "sqlite": "strftime('%Y-%m-%dT%H:%M:%S', {0}/1000000, 'unixepoch') || printf('.%03dZ', {0}/1000%1000)",
    "postgresql": (
        "to_char(to_timestamp({0}/1000000) at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS') || '.'"
        " || lpad(({0}/1000%1000)::text, 3, '0') || 'Z'"
    ),
}


def _words(column: str, enum: type[RunState] | type[RunTrigger]) -> str:
    return f"case {column} " + " ".join(f"when {m.value} then '{m.word}'" for m in enum) + " end"


_VIEWS = {
    "v_jobs": (
        "select j.id, j.uid, j.key, j.name, j.kind, j.state, j.state_reason, j.definition, j.streak,"
        " @d.next_run_at as next_run_at, @d.last_slot as last_slot, d.fired, @j.created_at as created_at,"
        " @j.updated_at as updated_at from {s}jobs j left join {s}due d on d.job_id = j.id"
    ),
    "v_runs": (
        "select r.id, j.key as job, r.definition, @r.scheduled_for as scheduled_for, "
        + _words("r.trigger", RunTrigger)
        + " as trigger, "
        + _words("r.state", RunState)
        + " as state, r.outcome, r.reason, r.attempts, r.fence, r.host_id, @r.opened_at as opened_at,"
        " @r.started_at as started_at, @r.finished_at as finished_at, r.duration_ms, r.latency_ms, r.late,"
        " r.exit_code from {s}runs r join {s}jobs j on j.id = r.job_id"
    ),
    "v_skipped": (
        "select s.id, j.key as job, s.definition, @s.first_slot as first_slot, @s.last_slot as last_slot, s.slots,"
        " s.reason, s.run_id, @s.decided_at as decided_at, s.actor from {s}skipped s join {s}jobs j on j.id = s.job_id"
    ),
    "v_attempts": (
        "select a.run_id, a.number, a.fence, a.host_id, @a.claimed_at as claimed_at, @a.started_at as started_at,"
        " @a.finished_at as finished_at, a.outcome, a.reason, a.text, a.exit_code from {s}attempts a"
    ),
    "v_events": (
        "select e.id, j.key as job, e.number, @e.at as at, e.actor, e.actor_kind, e.action, e.reason, e.changes"
        " from {s}events e left join {s}jobs j on j.id = e.job_id"
    ),
    "v_hosts": (
        "select h.id, h.name, h.machine, h.pid, h.state, @h.started_at as started_at, @h.beat_at as beat_at, h.beats"
        " from {s}hosts h"
    ),
}


def _spelled(query: str, database: str) -> str:
    parts = query.split("@")
    out = parts[0]
    for part in parts[1:]:
        end = next((i for i, ch in enumerate(part) if not (ch.isalnum() or ch in "._")), len(part))
        column, rest = part[:end], part[end:]
        out += f"case when {column} is null then null else {_TEXT[database].format(column)} end{rest}"
    return out.format(s="" if database == "sqlite" else "schedcore.")


def create_views(execute: Callable[[str], object], database: str) -> None:
    """Create every view; ``execute`` runs one SQL text."""
    prefix = "" if database == "sqlite" else "schedcore."
    for name, query in _VIEWS.items():
        execute(f"create view {prefix}{name} as {_spelled(query, database)}".replace(":", "\\:"))
