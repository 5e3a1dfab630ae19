"""``schedcore show``."""

from __future__ import annotations

import json
from typing import Any

from schedcore._cli import answer, saying
from schedcore._cli.command import command as make
from schedcore._cli.front import Front
from schedcore._cli.options import job as job_argument

__all__ = ["command"]

_APART = frozenset({"v", "policies", "last_runs", "slots", "payload", "trigger", "labels", "toolset"})


@make("show")
@job_argument
def command(front: Front, job: str) -> None:
    """Show everything about a job.

    Each policy is shown with where its value comes from.
    """
    from schedcore._host.now import now

    with front.control(plugins=True) as control:
        found = control.show(job)
    if front.json:
        answer.emit(found)
        return
    zone = front.tz or str(found.get("zone") or "UTC")
    answer.fields(_fields(front, found))
    answer.line("policies:")
    answer.fields(
        (name, f"{_text(told['value'])}  (from the {told['origin']})")
        for name, told in found["policies"].items()
        if told["value"] not in (None, [], {}) or told["origin"] != "default"
    )
    if found.get("slots"):
        answer.line("next slots:")
        saying.slots(front, found["slots"], zone, now())
    if found.get("last_runs"):
        answer.line("last runs:")
        saying.runs_table(front, [{"key": found["key"], **run} for run in found["last_runs"]])


def _fields(front: Front, found: dict[str, Any]) -> list[tuple[str, Any]]:
    told = []
    for name, value in found.items():
        if name.endswith("_local") or name in _APART - {"payload", "labels", "toolset"}:
            continue
        if value in (None, "", [], {}):
            continue
        if f"{name}_local" in found:
            value = saying.both(front, found, name)
        told.append(("trigger" if name == "trigger_words" else name, _text(value)))
    return told


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
