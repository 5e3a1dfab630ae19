"""Between looking and locking, on PostgreSQL: what another host commits there is seen before a slot opens (I11).

The statement that finds due slots takes its snapshot first and its locks one by one. A pause is put between the
two, where a server may at any moment let another process through, and the other host commits in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from schedcore._engine import claiming, opening
from schedcore._engine.state import Claimed
from schedcore._engine.toolbox import Needs
from schedcore._ledger import jobs as job_rows
from schedcore._ledger.dialects import postgresql_hot
from schedcore._ledger.ledger import Connection
from schedcore.domain.clock import MINUTE, SECOND
from schedcore.testing import ManualClock, StandingHost, until
from tests.stories.conftest import Stage

_GATE = 727_042
_LOOKS = "next_run_at<=%s"
_PAUSES = f"{_LOOKS} and (select count(*) from (select pg_advisory_xact_lock_shared({_GATE})) gate)=1"


@pytest.fixture
def ledger_url(postgres_url: str) -> str:
    """PostgreSQL only: on SQLite a writer is alone from its first read on."""
    from schedcore.testing import empty, open_ledger

    opened = open_ledger(postgres_url)
    empty(opened)
    opened.close()
    return postgres_url


def lane_of(host: StandingHost, c: Connection, job: int) -> tuple[int, Needs]:
    lane = job_rows.by_ids(c, [job])[job]["lane"]
    return lane, Needs.read(job_rows.lane_needs(c, [lane])[lane])


def opens(host: StandingHost, job: int, now: int) -> list[Claimed]:
    """What a host opens in the lane of a job, in one transaction that began at an instant."""
    e = host.engine
    with e.ledger.write() as c:
        lane, needs = lane_of(host, c, job)
        return opening.open_lane(e, c, lane, needs, now, e.clocks.boot() + 60 * SECOND, 4, offered=True)[0]


def claims_a_late_one(host: StandingHost, job: int) -> None:
    e = host.engine
    with e.ledger.write() as c:
        lane, needs = lane_of(host, c, job)
        lease = e.clocks.boot() + 60 * SECOND
        assert claiming.claim_late(e, c, lane, needs, e.clocks.wall(), lease)


def orders_one_by_hand(host: StandingHost, job: int) -> None:
    host.control.run("often")


def opens_the_slot_before(host: StandingHost, job: int) -> None:
    """It was slow: the instant at which it began lies before our slot."""
    assert opens(host, job, host.clock.wall() - 5 * MINUTE)


@contextmanager
def looking(host: StandingHost, job: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Claimed]]:
    """While the block lasts, the host has looked for due slots and has locked nothing yet; what it then claims."""
    claimed: list[Claimed] = []
    assert _LOOKS in postgresql_hot._DUE
    thread = Thread(target=lambda: claimed.extend(opens(host, job, host.clock.wall())))
    waits = f"select count(*) from pg_locks where locktype='advisory' and objid={_GATE} and not granted"
    with host.ledger.connect() as gate:
        gate.exec_driver_sql(f"select pg_advisory_lock({_GATE})")
        gate.commit()

        def blocked() -> bool:
            there = bool(gate.exec_driver_sql(waits).scalar_one())
            gate.commit()
            return there

        try:
            with monkeypatch.context() as patched:
                patched.setattr(postgresql_hot, "_DUE", postgresql_hot._DUE.replace(_LOOKS, _PAUSES))
                thread.start()
                assert until(blocked)
            yield claimed
        finally:
            gate.exec_driver_sql(f"select pg_advisory_unlock({_GATE})")
            gate.commit()
            thread.join(30)


@pytest.mark.parametrize("meanwhile", [claims_a_late_one, orders_one_by_hand, opens_the_slot_before])
def test_a_run_that_another_host_brings_to_life_between_looking_and_locking_is_seen(
    stage: Stage,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: Callable[[StandingHost, int], None],
) -> None:
    a, b = stage(hold=True), stage(hold=True)
    job = a.add("often", cron="*/5 * * * *", catch_up="all", tags=["later"])
    other = a.add("other", cron="*/5 * * * *", tags=["later"])
    if meanwhile is claims_a_late_one:
        clock.set("2026-06-01T08:11:30+00:00")
        a.beat()  # two late runs of the job wait in the queue, since no host has the tag
    for host in (a, b):
        object.__setattr__(host.engine.settings, "tags", frozenset({"later"}))
    clock.set("2026-06-01T08:15:00+00:00" if meanwhile is claims_a_late_one else "2026-06-01T08:05:00+00:00")
    if meanwhile is opens_the_slot_before:
        clock.advance(minutes=5)

    with looking(a, job, monkeypatch) as claimed:
        meanwhile(b, job)

    mine = [item for item in claimed if item.job.job_id == job]
    assert mine == [], "beside a run of the job that lives"
    if meanwhile is not opens_the_slot_before:  # which took the other job's slot as well
        assert [item.job.job_id for item in claimed] == [other]
    assert [run["word"] for run in a.runs(job)].count("running") <= 1
    assert ("overlap", 1) in a.skips(job)
