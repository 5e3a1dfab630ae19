"""Is the ledger true? Read only, from its tables and from the outside record, with none of the deciding code."""

from __future__ import annotations

from collections import Counter
from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import attempts, due, events, jobs, runs, skipped
from tests.auditing import untrue
from tests.crash.fleet import Fleet

_NOT_HERE = frozenset({"L1", "I4"})
"""Beats of 50 ms are missed on a busy machine. And where the newest of several missed slots is skipped, the older
ones are coalesced all the same, with no run that stands for them: a fault that is not mended yet (I4)."""
_SECOND = 1_000_000


def faults(fleet: Fleet, *, effects_at_most: int = 1) -> list[str]:
    """What is wrong with the ledger of a fleet; empty when it is true (I1 to I7, I16, I20)."""
    record = fleet.record()  # first: what it acknowledges must be in the ledger that is read after it
    rows = fleet.read(_everything)
    look = "pragma integrity_check" if fleet.hand.ledger.is_sqlite else "select 'ok'"
    whole = fleet.read(lambda c: c.exec_driver_sql(look).scalar_one())
    told = [] if whole == "ok" else [f"integrity: {whole}"]
    for job in rows["jobs"]:
        told += _slots(job, rows)
    told += _attempts(rows)
    told += [f"fsck: {line}" for line in untrue(fleet.url, but=_NOT_HERE)]
    told += _record(record, rows, effects_at_most)
    return told


def _everything(c: sa.Connection) -> dict[str, list[dict[str, Any]]]:
    if c.dialect.name == "postgresql":  # all tables at one instant
        c.exec_driver_sql("set transaction isolation level repeatable read")
    return {table.name: [dict(r) for r in c.execute(sa.select(table)).mappings()] for table in _TABLES}


_TABLES = (jobs, due, runs, attempts, skipped, events)


def _slots(job: dict[str, Any], rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Every slot up to ``last_slot`` is decided once, none beyond it (jobs of whole seconds, ``every``)."""
    told = []
    mine = next(r for r in rows["due"] if r["job_id"] == job["id"])
    fired = [r["scheduled_for"] for r in rows["runs"] if r["job_id"] == job["id"] and r["trigger"] == 0]
    twice = [slot for slot, n in Counter(fired).items() if n > 1]
    if twice:
        told.append(f"{job['key']}: two runs for {twice}")
    ranges = sorted(
        (s["first_slot"], s["last_slot"], s["slots"]) for s in rows["skipped"] if s["job_id"] == job["id"]
    )
    decided = len(fired) + sum(n for _, _, n in ranges)
    last = max([*fired, *(b for _, b, _ in ranges)], default=None)
    if decided and mine["last_slot"] != last:
        told.append(f"{job['key']}: last_slot {mine['last_slot']}, but the last decision is for {last}")
    period = _period(job, rows)
    if period and decided:
        first = min([*fired, *(a for a, _, _ in ranges)])
        owed = (mine["last_slot"] - first) // period + 1
        if owed != decided or (mine["last_slot"] - first) % period:
            told.append(f"{job['key']}: {owed} slots up to last_slot, {decided} decided")
        if mine["next_run_at"] is not None and mine["next_run_at"] != mine["last_slot"] + period:
            told.append(f"{job['key']}: next_run_at does not follow from last_slot")
    numbers = [e["number"] for e in rows["events"] if e["job_id"] == job["id"]]
    if sorted(numbers) != list(range(1, len(numbers) + 1)):
        told.append(f"{job['key']}: events {numbers}")
    return told


def _period(job: dict[str, Any], rows: dict[str, list[dict[str, Any]]]) -> int | None:
    return int(job["key"].rpartition(".per")[2]) * _SECOND if ".per" in job["key"] else None


def _attempts(rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    told = []
    for run in rows["runs"]:
        tried = sorted((a for a in rows["attempts"] if a["run_id"] == run["id"]), key=lambda a: a["number"])
        if [a["number"] for a in tried] != list(range(1, run["attempts"] + 1)):
            told.append(f"run {run['id']}: {run['attempts']} attempts, rows {[a['number'] for a in tried]}")
        fences = [a["fence"] for a in tried]
        if fences != sorted(set(fences)) or any(f > run["fence"] for f in fences):
            told.append(f"run {run['id']}: fences {fences}, the run's own {run['fence']}")
        open_ = [a["number"] for a in tried if a["finished_at"] is None]
        if open_ and (open_ != [run["attempts"]] or run["state"] != 1):
            told.append(f"run {run['id']} in state {run['state']}: open attempts {open_}")
        if run["state"] == 1 and not open_:
            told.append(f"run {run['id']} is running without an open attempt")
    return told


def _record(record: list[dict[str, Any]], rows: dict[str, list[dict[str, Any]]], at_most: int) -> list[str]:
    """What was acknowledged is there, what was claimed was claimed once, and effects are counted outside."""
    told = []
    said = {
        what: [line for line in record if line["what"] == what] for what in ("started", "began", "finished")
    }
    known = {(a["run_id"], a["number"]) for a in rows["attempts"]}
    states = {r["id"]: r["state"] for r in rows["runs"]}
    claims = Counter((line["run"], line["attempt"]) for line in said["started"])
    for (run, attempt), n in claims.items():
        if n > 1:
            told.append(f"run {run}, attempt {attempt} was claimed {n} times")
        if (run, attempt) not in known:
            told.append(f"run {run}, attempt {attempt} was acknowledged and is not in the ledger")
    for line in said["finished"]:
        if line["again_at"] is None and states.get(line["run"], 0) in {0, 1, 2}:
            told.append(f"the end of run {line['run']} was acknowledged and is not in the ledger")
    begun = Counter((line["run"], line["attempt"]) for line in said["began"])
    told += [f"run {r}, attempt {a} was begun {n} times" for (r, a), n in begun.items() if n > 1]
    per_slot = Counter((line["job"], line["slot"]) for line in said["began"])
    told += [f"{job} at {slot}: {n} effects" for (job, slot), n in per_slot.items() if n > at_most]
    told += [f"run {run} began and is not in the ledger" for run, _ in begun if run not in states]
    return told
