"""Runs, attempts and skipped rows, apart from the hot statements.

Every update names the state, and after the claim the fence, that it leaves; zero rows means *lost*, which is
an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import attempts, hosts, in_state, jobs, places, runs, skipped

__all__ = [
    "alive",
    "answered",
    "attempts_of",
    "claimed_at",
    "close_lost",
    "counts",
    "covered",
    "decided",
    "end_known",
    "free_millisecond",
    "give_back",
    "has_end",
    "last_latency",
    "last_of",
    "listed",
    "lost",
    "nearest_lease_end",
    "numbers",
    "one",
    "order_stop",
    "queued_late",
    "related",
    "settle_idle",
    "skip",
    "skips_of",
    "streaks",
    "write_streaks",
]

_RUNNING, _QUEUED, _FINAL = in_state(1), in_state(0), 3


def skip(c: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write skipped rows: each stands for ``slots`` slots from ``first_slot`` to ``last_slot``."""
    if rows:
        c.execute(sa.insert(skipped), [dict(r) for r in rows])


def decided(
    c: sa.Connection, job_id: int, instant: int
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The run and the skipped row that answer for an instant, if any."""
    run = (
        c.execute(sa.select(runs).where(runs.c.job_id == job_id, runs.c.scheduled_for == instant))
        .mappings()
        .first()
    )
    covers = (skipped.c.job_id == job_id, skipped.c.first_slot <= instant, skipped.c.last_slot >= instant)
    row = c.execute(sa.select(skipped).where(*covers).order_by(skipped.c.id)).mappings().first()
    return (dict(run) if run else None), (dict(row) if row else None)


def one(c: sa.Connection, run_id: int) -> dict[str, Any] | None:
    """One run with its job's key and public id, and the name of its host."""
    query = (
        sa.select(
            runs,
            jobs.c.key,
            jobs.c.uid,
            jobs.c.kind,
            jobs.c.scope,
            hosts.c.name.label("host"),
            hosts.c.machine,
        )
        .select_from(
            runs.join(jobs, jobs.c.id == runs.c.job_id).outerjoin(hosts, hosts.c.id == runs.c.host_id)
        )
        .where(runs.c.id == run_id)
    )
    row = c.execute(query).mappings().first()
    return dict(row) if row else None


def last_of(c: sa.Connection, job_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The newest run of each job: one seek per job, however many runs it has."""
    newest = (
        sa.select(runs.c.scheduled_for)
        .where(runs.c.job_id == jobs.c.id)
        .order_by(runs.c.scheduled_for.desc())
        .limit(1)
        .correlate(jobs)
        .scalar_subquery()
    )
    slots = sa.select(jobs.c.id, newest.label("slot")).where(jobs.c.id.in_(job_ids)).subquery()
    query = sa.select(runs).join(
        slots, sa.and_(slots.c.id == runs.c.job_id, slots.c.slot == runs.c.scheduled_for)
    )
    return {r["job_id"]: dict(r) for r in c.execute(query).mappings()}


def counts(c: sa.Connection, job_id: int) -> int:
    """How many runs a job has."""
    query = sa.select(sa.func.count()).select_from(runs).where(runs.c.job_id == job_id)
    return int(c.execute(query).scalar_one())


def last_latency(c: sa.Connection, job_id: int) -> int | None:
    """How late the newest run of a slot began, in milliseconds (L-19)."""
    query = sa.select(runs.c.latency_ms).where(runs.c.job_id == job_id, runs.c.latency_ms.is_not(None))
    return c.execute(query.order_by(runs.c.scheduled_for.desc()).limit(1)).scalar()


def listed(
    c: sa.Connection,
    *,
    job_id: int | None = None,
    states: Sequence[int] = (),
    triggers: Sequence[int] = (),
    since: int | None = None,
    until: int | None = None,
    after_id: int | None = None,
    limit: int = 50,
    label: str | None = None,
) -> list[dict[str, Any]]:
    """Runs, newest first, with their jobs' keys."""
    query = sa.select(runs, jobs.c.key, jobs.c.uid, jobs.c.kind, hosts.c.name.label("host")).select_from(
        runs.join(jobs, jobs.c.id == runs.c.job_id).outerjoin(hosts, hosts.c.id == runs.c.host_id)
    )
    if job_id is not None:
        query = query.where(runs.c.job_id == job_id)
    if states:
        query = query.where(in_state(*states) if max(states) < _FINAL else runs.c.state.in_(states))
    if triggers:
        query = query.where(runs.c.trigger.in_(triggers))
    if since is not None:
        query = query.where(runs.c.scheduled_for >= since)
    if until is not None:
        query = query.where(runs.c.scheduled_for < until)
    if after_id is not None:
        query = query.where(runs.c.id > after_id)
    if label:
        query = query.where(jobs.c.labels.contains(f'"{label}"', autoescape=True))
    order = (runs.c.scheduled_for.desc(), runs.c.id.desc()) if job_id is not None else (runs.c.id.desc(),)
    return [dict(r) for r in c.execute(query.order_by(*order).limit(limit)).mappings()]


def covered(c: sa.Connection, run_id: int) -> list[dict[str, Any]]:
    """The skipped rows whose slots a run stands for."""
    job = sa.select(runs.c.job_id).where(runs.c.id == run_id).scalar_subquery()
    query = sa.select(skipped).where(skipped.c.job_id == job, skipped.c.run_id == run_id)
    return [dict(r) for r in c.execute(query.order_by(skipped.c.first_slot)).mappings()]


def related(c: sa.Connection, run_id: int) -> list[dict[str, Any]]:
    """Runs that came of a run: its retries by hand, and its children. A plain scan: asked by people only."""
    query = sa.select(runs, jobs.c.key, jobs.c.uid, jobs.c.kind, hosts.c.name.label("host")).select_from(
        runs.join(jobs, jobs.c.id == runs.c.job_id).outerjoin(hosts, hosts.c.id == runs.c.host_id)
    )
    mine = sa.or_(runs.c.retry_of_id == run_id, runs.c.parent_run_id == run_id)
    return [dict(r) for r in c.execute(query.where(runs.c.id > run_id, mine).order_by(runs.c.id)).mappings()]


def skips_of(c: sa.Connection, job_id: int, *, limit: int = 50) -> list[dict[str, Any]]:
    """Skipped rows of a job, newest first."""
    query = (
        sa.select(skipped).where(skipped.c.job_id == job_id).order_by(skipped.c.last_slot.desc()).limit(limit)
    )
    return [dict(r) for r in c.execute(query).mappings()]


def attempts_of(c: sa.Connection, run_id: int) -> list[dict[str, Any]]:
    """Every attempt of a run, in order, with the name of its host."""
    query = (
        sa.select(attempts, hosts.c.name.label("host"))
        .select_from(attempts.outerjoin(hosts, hosts.c.id == attempts.c.host_id))
        .where(attempts.c.run_id == run_id)
        .order_by(attempts.c.number)
    )
    return [dict(r) for r in c.execute(query).mappings()]


def claimed_at(c: sa.Connection, run_id: int) -> int | None:
    """When the newest attempt of a run was claimed."""
    query = sa.select(sa.func.max(attempts.c.claimed_at)).where(attempts.c.run_id == run_id)
    return c.execute(query).scalar()


def alive(c: sa.Connection, job_ids: Collection[int], now: int) -> set[int]:
    """Those of these jobs of which a run lives that one that starts alone must wait for."""
    mine = sa.select(runs.c.job_id).where(runs.c.job_id.in_(job_ids))
    waits = mine.where(_QUEUED, runs.c.alone == 0, runs.c.start_at <= now)
    lost = mine.where(runs.c.lost_until.is_not(None), runs.c.lost_until > now)
    return set(c.execute(sa.union_all(mine.where(_RUNNING), waits, lost)).scalars())


def order_stop(c: sa.Connection, run_id: int, reason: str, actor: str) -> bool:
    """Ask the holder of a running run to stop it; answers whether it was running."""
    query = sa.update(runs).where(runs.c.id == run_id, runs.c.state == sa.literal_column("1"))
    return c.execute(query.values(stop_reason=reason, stop_actor=actor)).rowcount > 0


def settle_idle(
    c: sa.Connection,
    ids: Sequence[int],
    leaves: Sequence[int],
    now: int,
    *,
    state: int,
    reason: str,
    text: str | None,
    outcome: str | None = None,
) -> int:
    """Settle runs that nobody holds (queued, waiting); answers how many were still in a state of ``leaves``."""
    query = sa.update(runs).where(runs.c.id.in_(ids), runs.c.state.in_(leaves))
    values = {"state": state, "outcome": outcome, "reason": reason, "text": text, "finished_at": now}
    return c.execute(query.values(**values, lease_end=None, next_attempt_at=None)).rowcount


def lost(c: sa.Connection, lease_now: int, boot_id: str, limit: int = 500) -> list[dict[str, Any]]:
    """Running runs whose lease has ended, or was given under another boot of this machine."""
    query = (
        sa.select(runs, hosts.c.name.label("host"))
        .select_from(runs.outerjoin(hosts, hosts.c.id == runs.c.host_id))
        .where(_RUNNING, sa.or_(runs.c.lease_end < lease_now, hosts.c.boot_id != boot_id))
        .order_by(runs.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True, of=runs)
    )
    return [dict(r) for r in c.execute(query).mappings()]


def nearest_lease_end(c: sa.Connection, host_id: int) -> int | None:
    """The nearest end of a lease that another host holds."""
    query = sa.select(sa.func.min(runs.c.lease_end)).where(_RUNNING, runs.c.host_id != host_id)
    return c.execute(query).scalar()


def close_lost(
    c: sa.Connection,
    run_id: int,
    fence: int,
    now: int,
    values: Mapping[str, Any],
    attempt: Mapping[str, Any],
    lease_end: int | None = None,
) -> bool:
    """Take a run from its lost holder: the fence is raised, so a late answer is harmless (G6).

    With ``lease_end`` only if its lease still ends then, that is, if it was not renewed meanwhile.
    """
    query = sa.update(runs).where(
        runs.c.id == run_id, runs.c.fence == fence, runs.c.state == sa.literal_column("1")
    )
    if lease_end is not None:
        query = query.where(runs.c.lease_end == lease_end)
    if not c.execute(query.values(fence=fence + 1, lease_end=None, **values)).rowcount:
        return False
    closing = sa.update(attempts).where(attempts.c.run_id == run_id, attempts.c.finished_at.is_(None))
    c.execute(closing.values(finished_at=now, **attempt))
    c.execute(sa.delete(places).where(places.c.run_id == run_id))
    return True


def has_end(c: sa.Connection, run_id: int, number: int, fence: int, finished_at: int) -> bool:
    """Is this very end of an attempt in the ledger?"""
    mine = (attempts.c.run_id == run_id, attempts.c.number == number, attempts.c.fence == fence)
    query = sa.select(attempts.c.run_id).where(*mine, attempts.c.finished_at == finished_at)
    return c.execute(query).first() is not None


def end_known(c: sa.Connection, run_id: int) -> bool:
    """The work of a lost run is known to have ended: overlap no longer counts it (G8)."""
    query = sa.update(runs).where(runs.c.id == run_id, runs.c.lost_until.is_not(None))
    return c.execute(query.values(lost_until=None)).rowcount > 0


def give_back(c: sa.Connection, rows: Sequence[tuple[int, int]]) -> int:
    """Runs claimed ahead and not begun go back to the queue; their attempt never was (L-10)."""
    back = 0
    for run_id, fence in rows:
        query = sa.update(runs).where(
            runs.c.id == run_id, runs.c.fence == fence, runs.c.state == sa.literal_column("1")
        )
        if c.execute(
            query.values(state=0, host_id=None, lease_end=None, attempts=runs.c.attempts - 1)
        ).rowcount:
            c.execute(sa.delete(attempts).where(attempts.c.run_id == run_id, attempts.c.fence == fence))
            c.execute(sa.delete(places).where(places.c.run_id == run_id))
            back += 1
    return back


def streaks(c: sa.Connection, job_ids: Sequence[int]) -> dict[int, tuple[int, int | None, str]]:
    """(streak, breaker opened at, state) of jobs, their rows locked."""
    query = sa.select(jobs.c.id, jobs.c.streak, jobs.c.breaker_at, jobs.c.state).where(jobs.c.id.in_(job_ids))
    found = c.execute(query.order_by(jobs.c.id).with_for_update())
    return {row[0]: (row[1], row[2], row[3]) for row in found}


def write_streaks(c: sa.Connection, changed: Mapping[int, int]) -> None:
    """Write streaks that changed, and no others."""
    for job_id, streak in sorted(changed.items()):
        c.execute(sa.update(jobs).where(jobs.c.id == job_id).values(streak=streak))


def queued_late(c: sa.Connection) -> int:
    """How many catch-up runs wait in the queue (they start apart, P-24)."""
    return int(
        c.execute(sa.select(sa.func.count()).select_from(runs).where(_QUEUED, runs.c.late == 1)).scalar_one()
    )


def numbers(c: sa.Connection) -> dict[str, int]:
    """Counts of live runs: queued, running, waiting."""
    query = sa.select(runs.c.state, sa.func.count()).where(runs.c.state < sa.literal_column("3"))
    found = {row[0]: row[1] for row in c.execute(query.group_by(runs.c.state))}
    return {"queued": found.get(0, 0), "running": found.get(1, 0), "waiting": found.get(2, 0)}


def free_millisecond(c: sa.Connection, job_id: int, instant: int) -> int:
    """The instant, or the next millisecond for which the job has no run yet (A-15)."""
    while c.execute(
        sa.select(runs.c.id).where(runs.c.job_id == job_id, runs.c.scheduled_for == instant)
    ).first():
        instant += 1000
    return instant


def answered(c: sa.Connection, job_id: int, slots: Sequence[int]) -> set[int]:
    """Those of these slots that have a run already."""
    found: set[int] = set()
    for start in range(0, len(slots), 500):
        part = slots[start : start + 500]
        query = sa.select(runs.c.scheduled_for).where(runs.c.job_id == job_id, runs.c.scheduled_for.in_(part))
        found.update(c.execute(query).scalars())
    return found
