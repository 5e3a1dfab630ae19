"""The state of ledger and hosts at one glance, and the verdict a watchman asks for (F-10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._host.control.find import zone_of
from schedcore._host.control.hosts import PERIODS, host_line
from schedcore._host.control.ordering import now_of
from schedcore._host.control.views import instants
from schedcore._ledger import figures, groups, holds, hosts, jobs, listeners, migrate, runs
from schedcore.domain.clock import SECOND
from schedcore.domain.clock import text as utc

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["status"]

_NEXT = 5
_DECIDED = 2
"""Within so many beats every due slot of an active job is decided (G3)."""


def status(control: Asker, *, check: bool) -> dict[str, Any]:
    """See :meth:`Control.status`."""
    with control.ledger.read() as c:
        now = now_of(control, c)
        rows = hosts.listed(c)
        present = [host_line(row, now) for row in rows]
        opened = holds.opened(c)
        patience = _patience(control, present)
        behind = max(0, (jobs.last_slots(c) or 0) - now)
        answer = {
            "v": 1,
            "now": utc(now),
            "ledger": _ledger(control, c),
            "hosts": present,
            "holds": [
                {
                    "reason": h["reason"],
                    "text": h["text"],
                    "actor": h["actor"],
                    **instants(None, since=h["since"]),
                }
                for h in opened
            ],
            "jobs": figures.jobs_by_state(c),
            "runs": runs.numbers(c) | {"late_waiting": runs.queued_late(c)},
            "next": [_next(control, row, now) for row in figures.upcoming(c, _NEXT)],
            "overdue": figures.overdue(c, now - patience),
            "listeners": [_listener(row) for row in listeners.listed(c)],
            "groups": groups.listed(c),
            "lateness": _lateness(c),
            "clock_behind_s": behind / SECOND,
            "faults": [f"{plugin}: {what}" for plugin, what in control.faults],
        }
    if check:
        owed = any(_owes(row, line, now - patience) for row, line in zip(rows, present, strict=True))
        problems = _problems(answer, owed=owed)
        answer |= {"ok": not problems, "problems": problems}
    return answer


def _patience(control: Asker, present: list[dict[str, Any]]) -> int:
    """A slot is overdue when no host decided it within two beats, those of the slowest host that lives (G3)."""
    beat = max([h["beat_every_s"] for h in present if h["alive"]], default=control.engine.settings.beat)
    return int(_DECIDED * beat * SECOND)


def _owes(row: dict[str, Any], line: dict[str, Any], since: int) -> bool:
    """Has a host that lives been up for long enough to have decided what is overdue?

    One that waits for its clock to be believed decides nothing yet (G9).
    """
    return bool(line["alive"] and row["started_at"] <= since and not line["status"].get("clock_waits"))


def _ledger(control: Asker, c: Connection) -> dict[str, Any]:
    ledger = control.ledger
    identity, incarnation = migrate.identity(c)
    return {
        "url": str(ledger),
        "database": "sqlite" if ledger.is_sqlite else "postgresql",
        "schema": migrate.HEAD,
        "id": identity,
        "incarnation": incarnation,
        **figures.build(c, ledger.is_sqlite, faulty=ledger.dialect.wal_reset_fault()),
    }


def _next(control: Asker, row: dict[str, Any], now: int) -> dict[str, Any]:
    zone = zone_of(control, row["trigger"])
    due = row["next_run_at"]
    return {"key": row["key"], **instants(zone, next_run_at=due), "left": (due - now) // SECOND}


def _listener(row: dict[str, Any]) -> dict[str, Any]:
    shown = {name: row[name] for name in ("listener", "lag", "failures", "last_error")}
    return shown | instants(None, next_try_at=row["next_try_at"])


def _lateness(c: Connection) -> dict[str, Any]:
    """How late the newest runs began: the worst and the middle one, in milliseconds, and which was the worst."""
    found = figures.latencies(c, 1000)
    if not found:
        return {"runs": 0, "worst_ms": None, "median_ms": None, "worst_run": None, "worst_key": None}
    worst = max(found, key=lambda row: row["latency_ms"])
    middle = sorted(row["latency_ms"] for row in found)[len(found) // 2]
    return {
        "runs": len(found),
        "worst_ms": worst["latency_ms"],
        "median_ms": middle,
        "worst_run": worst["id"],
        "worst_key": worst["key"],
    }


def _problems(answer: dict[str, Any], *, owed: bool) -> list[str]:
    """What makes ``status --check`` exit 1. ``owed``: a host has been up for long enough to have decided."""
    present = answer["hosts"]
    told = []
    if not present:
        told.append("no host lives")
    for host in present:
        if not host["alive"]:
            age = f"{host['age_s']:.0f} s ago" if host["age_s"] is not None else "never"
            told.append(f"host {host['name']} ({host['id']}) is marked live; its last beat was {age}")
        elif host["status"].get("given_up"):
            told.append(f"host {host['name']} ({host['id']}): {host['status']['given_up']}")
    if present and not any(host["alive"] for host in present):
        told.append(f"the newest beat is older than {PERIODS} periods")
    for hold in answer["holds"]:
        if hold["reason"] != "halt":
            told.append(f"a hold is open: {hold['reason']} ({hold['text']})")
    if answer["overdue"] and owed and not answer["holds"]:
        late = "1 job has a slot" if answer["overdue"] == 1 else f"{answer['overdue']} jobs have slots"
        told.append(f"{late} that came due over {_DECIDED} beats ago, and no host has decided it")
    return told
