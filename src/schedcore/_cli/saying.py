"""How the answers of Control are said to people: jobs, runs, slots, warnings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from schedcore._cli import answer, times
from schedcore._cli.ending import BAD, warn
from schedcore._cli.front import Front
from schedcore.domain.clock import SECOND, parse_text

__all__ = [
    "GOOD",
    "both",
    "changes",
    "code_of",
    "done",
    "instant",
    "local",
    "run_line",
    "runs_table",
    "slots",
    "warnings",
]

_FRACTION = re.compile(r"\.[0-9]+(?=[+-])")

GOOD = frozenset({"succeeded", "no_op"})
"""The states that a waiting command takes for a good end."""


def instant(text: str | None) -> int | None:
    """The microseconds of an answer's instant."""
    return None if text is None else parse_text(text)


def local(front: Front, found: Mapping[str, Any], name: str, zone: str | None = None) -> str | None:
    """The instant ``name`` of an answer as a clock shows it: of ``--tz``, else of the job's zone."""
    at = instant(found.get(name))
    if at is None:
        return None
    if front.tz or zone:
        return times.there(at // SECOND * SECOND, front.tz or zone or "UTC")
    given = str(found.get(f"{name}_local") or "").partition(" ")[0]
    return _FRACTION.sub("", given.replace("T", " ")) if given else times.there(at, "UTC")


def both(front: Front, found: Mapping[str, Any], name: str) -> str | None:
    """The instant ``name`` of an answer in UTC, and beside it on the clock of ``--tz`` or of the job's zone."""
    given = str(found.get(f"{name}_local") or "")
    if front.tz or not given:
        return times.beside(instant(found.get(name)), front.tz or "UTC")
    zone = given.partition(" ")[2]
    return times.beside(instant(found.get(name)), zone or "UTC")


def done(front: Front, found: Mapping[str, Any], sentence: str) -> None:
    """The answer to an order: JSON, or one sentence; a dry run says that nothing was written."""
    if front.json:
        answer.emit(found)
        return
    if not front.quiet:
        answer.line(f"{sentence} (dry run: nothing was written)" if found.get("dry_run") else sentence)
    warnings(found)


def warnings(found: Mapping[str, Any]) -> None:
    """The warnings of an answer, on stderr."""
    for text in found.get("warnings") or ():
        warn(str(text))


def slots(front: Front, found: Sequence[Mapping[str, Any]], zone: str, now: int) -> None:
    """Slots to come: UTC, the clock of a zone, how long until then, and what a clock change does to them."""
    rows = []
    for slot in found:
        at = instant(slot["utc"])
        rows.append(
            (slot["utc"], times.there(at, front.tz or zone), times.left(at, now), slot.get("note") or "")
        )
    columns = 4 if any(row[3] for row in rows) else 3
    answer.table(("UTC", "LOCAL", "LEFT", "NOTE")[:columns], [row[:columns] for row in rows])


def changes(found: Mapping[str, Sequence[Any]]) -> None:
    """Fields with what they were and what they are."""
    for name, (old, new) in sorted(found.items()):
        answer.line(f"  {name}: {_short(old)} -> {_short(new)}")


def _short(value: Any) -> str:
    return "(nothing)" if value is None else value if isinstance(value, str) else repr(value)


def runs_table(front: Front, found: Iterable[Mapping[str, Any]]) -> None:
    """Runs, one a line."""
    rows = [
        (
            run["id"],
            run["key"],
            local(front, run, "scheduled_for"),
            run["trigger"],
            run["state"],
            run.get("reason"),
            local(front, run, "started_at"),
            times.length(run.get("duration_ms")),
            run.get("attempts"),
            run.get("host"),
        )
        for run in found
    ]
    titles = ("RUN", "JOB", "SLOT", "TRIGGER", "STATE", "REASON", "STARTED", "TOOK", "TRIES", "HOST")
    answer.table(titles, rows, states=[4])


def run_line(found: Mapping[str, Any]) -> str:
    """A run in one sentence."""
    reason = f" ({found['reason']})" if found.get("reason") else ""
    took = times.length(found.get("duration_ms"))
    return f"run {found['id']} of {found['key']}: {found['state']}{reason}" + (
        f" after {took}" if took else ""
    )


def code_of(found: Mapping[str, Any]) -> int:
    """The exit code of a run that was waited for."""
    return 0 if found["state"] in GOOD else BAD
