"""Is what the ledger says what happened? The auditor is asked, and whoever did the work."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from schedcore._ledger.schema import attempts, due, events, jobs, runs, skipped
from schedcore.domain.run import RunState
from tests.auditing import untrue
from tests.simulation.world import MINUTE, SECOND, World

__all__ = ["Story", "fingerprint", "judge", "rows", "told"]

_RUN = ("id", "scheduled_for", "state", "outcome", "reason", "finished_at")
_GREEN = {"ok", "no_op", "findings"}


@dataclass(slots=True)
class Story:
    """What one seed came to. ``violations`` is empty, or something is wrong with schedcore (or with the world)."""

    seed: int
    violations: list[str] = field(default_factory=list)
    decisions: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    late_us: list[int] = field(default_factory=list)
    hash: str = ""


def rows(world: World, *tables: Any) -> list[list[dict[str, Any]]]:
    """All rows of some tables, as they are now."""
    with world.witness.read() as c:
        return [[dict(row) for row in c.execute(table.select()).mappings()] for table in tables]


def judge(world: World) -> list[str]:
    """Everything that is not as it must be."""
    ran, tried, moved, known = rows(world, runs, attempts, due, jobs)
    found = [f"fsck {rule} {job or ''}: {what}" for rule, job, what in untrue(world.url)]
    row_of = {run["id"]: run for run in ran}
    attempt_of = {(a["run_id"], a["number"]): a for a in tried}
    seen: Counter[tuple[int, int, int]] = Counter()
    for one in world.works.begun:
        seen[one.run, one.attempt, one.fence] += 1
        if (one.run, one.attempt) not in attempt_of:
            found.append(
                f"unexplained: run {one.run}, attempt {one.attempt} was begun by {one.host}; no row says so"
            )
        if one.at < one.slot:
            found.append(f"early: run {one.run} was begun {(one.slot - one.at) / SECOND} s before its slot")
    found += [
        f"double: run {run}, attempt {n} was begun {k} times" for (run, n, _), k in seen.items() if k > 1
    ]
    ended = {(one.run, one.attempt): one.ended for one in world.works.begun}
    for key, attempt in attempt_of.items():
        if attempt["outcome"] in _GREEN and ended.get(key) not in _GREEN:
            found.append(f"green without proof: run {key[0]}, attempt {key[1]} ended {ended.get(key)}")
    holds = {run for host in world.alive() for run in host.engine.running}
    now = world.clock.wall()
    found += [
        f"stuck: run {run['id']} is running and nobody has it"
        for run in ran
        if run["state"] == RunState.RUNNING.value and run["id"] not in holds
    ]
    active = {job["id"] for job in known if job["state"] == "active"}
    found += [
        f"lost: job {row['job_id']} was due {(now - row['next_run_at']) / SECOND:.0f} s ago"
        for row in moved
        if row["job_id"] in active and row["next_run_at"] is not None and row["next_run_at"] < now - MINUTE
    ]
    waiting = [run for run in row_of.values() if run["state"] == RunState.QUEUED.value]
    found += [
        f"stuck: run {run['id']} is queued since {(now - run['start_at']) / SECOND:.0f} s"
        for run in waiting
        if run["start_at"] < now - 30 * MINUTE
    ]
    return found


def told(world: World, story: Story) -> None:
    """The numbers beside the zeros."""
    ran, passed, happened = rows(world, runs, skipped, events)
    for run in ran:
        story.decisions[f"run {RunState(run['state']).word}"] += 1
    for row in passed:
        story.decisions[f"skipped {row['reason']}"] += row["slots"]
    story.faults.update(world.tally.faults)
    story.points.update({f"{mode} at {point}": n for (mode, point), n in world.tally.fired.items()})
    story.numbers.update(
        {
            "begun": len(world.works.begun),
            "told twice": world.works.twice,
            "orders": sum(world.people.orders.values()),
            "crashes": world.crashes,
            "pauses": world.pauses,
            "clock steps": world.steps,
            "commits that raised and were there": world.tally.committed,
            "stale results": sum(event["action"] == "stale_result" for event in happened),
            "calls": sum(world.tally.calls.values()),
        }
    )
    start = {run["id"]: run["start_at"] for run in ran}
    story.late_us += [
        one.at - start[one.run] for one in world.works.begun if one.attempt == 1 and one.run in start
    ]
    story.hash = fingerprint(world)


def fingerprint(world: World) -> str:
    """What happened, as one digest: the same seed, the same digest."""
    ran, passed, happened, named = rows(world, runs, skipped, events, jobs)
    key = {job["id"]: job["key"] for job in named}
    lines = [f"{b.run} {b.attempt} {b.fence} {b.host} {b.slot} {b.at} {b.ended}" for b in world.works.begun]
    lines += [" ".join([key[r["job_id"]], *(f"{r[name]}" for name in _RUN)]) for r in ran]
    lines += [
        f"{key[s['job_id']]} {s['first_slot']} {s['last_slot']} {s['slots']} {s['reason']}" for s in passed
    ]
    lines += [f"{e['job_id']} {e['number']} {e['at']} {e['action']}" for e in happened]
    return sha256("\n".join(lines).encode()).hexdigest()[:16]
