"""All or nothing: a host or its ledger fails at every single point of opening, claiming and settling (T-06, T-16)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedcore._ledger import holds
from schedcore._ledger.ledger import Ledger
from schedcore.domain.errors import LedgerError
from schedcore.testing import DyingLedger, HostDied, ManualClock, Player, StandingHost
from tests.stories.conftest import Stage


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Hundreds of faults are meant here; their tracebacks would fill the report."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def whole(host: StandingHost, job: int) -> bool:
    """Is the job's slot decided and passed, or neither? True when it is decided."""
    row, runs = host.job(job), host.runs(job)
    assert len(runs) == (1 if row["last_slot"] is not None else 0)
    if runs:
        (run,) = runs
        assert row["last_slot"] == run["scheduled_for"]
        assert row["next_run_at"] > run["scheduled_for"]
        attempts = host.attempts(run["id"])
        assert [a["number"] for a in attempts] == list(range(1, run["attempts"] + 1))
        assert (run["word"] == "running") == (bool(attempts) and attempts[-1]["finished_at"] is None)
    return bool(runs)


@pytest.mark.parametrize(
    ("what", "after", "error"),
    [
        ("statement", False, HostDied),
        ("commit", False, HostDied),
        ("commit", True, HostDied),
        ("statement", False, None),
        ("commit", False, None),
        ("commit", True, None),
    ],
    ids=["dies-before-a-statement", "dies-before-a-commit", "dies-after-a-commit", "statement-fails", "commit-fails",
         "commit-then-fail"],
)  # fmt: skip
def test_opening_a_slot_is_whole_or_was_never(
    stage: Stage, clock: ManualClock, dying: DyingLedger, what: Any, after: bool, error: type[HostDied] | None
) -> None:
    player = Player()
    witness = stage(kind_only("other"))
    n = 0
    fired = True
    while fired:
        n += 1
        host = stage(player.plays(), ledger=dying)
        job = host.add(f"job-{n}", every="1h")
        host.beat()
        clock.advance(hours=1)
        dying.fail(what, n, error() if error else None, after=after)

        host.poll()
        fired = dying.fired
        dying.fail(what, 10**9)
        whole(witness, job)
        if host.dead:
            host = stage(player.plays())  # which finds nothing but the ledger
        host.beat()
        for _ in range(7):  # in small steps: a judge that was away for half a lease judges nobody
            clock.advance(20)
            host.poll()

        assert whole(witness, job)
        assert [run["attempts"] for run in witness.runs(job)] == [1]
        starts = [ctx for ctx in player.seen if ctx.job_key == f"job-{n}"]
        assert len(starts) <= 1, "never twice"
        (run,) = witness.runs(job)
        assert run["word"] in (("succeeded",) if error is None else ("succeeded", "interrupted"))
        witness.control.remove(f"job-{n}")
        host.stop()
    assert n > 3


def kind_only(kind: str) -> Any:
    return Player().plays(kind)


def test_fault_R46_a_commit_that_raised_is_read_back_before_anything_else(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    player = Player()
    host = stage(player.plays(), ledger=dying)
    job = host.add("once", at="2026-06-01T09:00:00Z")
    clock.set("2026-06-01T08:59:59+00:00")
    host.beat()
    clock.advance(1)
    dying.fail("commit", 1, after=True)

    host.poll()

    assert dying.fired
    assert host.engine.counters.commit_unknown == 1
    assert host.words(job) == [("09:00:00", "succeeded")]
    assert len(player.seen) == 1
    assert host.faults == []


def test_work_starts_only_after_its_claim_is_known(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    player = Player()
    host = stage(player.plays(), ledger=dying)
    job = host.add("once", at="2026-06-01T09:00:00Z")
    clock.set("2026-06-01T08:59:59+00:00")
    host.beat()
    clock.advance(1)
    dying.fail("commit", 1)

    host.poll()
    assert player.seen == []
    assert host.runs(job) == []
    assert {fault.code for fault in host.faults} <= {"commit_unknown"}, "nothing of it stayed open"
    host.poll()

    assert len(player.seen) == 1


def test_a_transaction_that_fails_as_it_begins_holds_nothing(ledger: Ledger, dying: DyingLedger) -> None:
    ledger.busy_limit_s = 0.2
    dying.fail("statement", 1, after=True)
    with pytest.raises(LedgerError), dying.write() as c:
        c.exec_driver_sql("select 1")
    assert dying.fired

    with ledger.write() as c:
        assert holds.opened(c) == []


def test_fault_R10_a_host_whose_first_reads_fail_comes_up_whole(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    host = stage(ledger=dying)
    job = host.add("often", cron="* * * * *")
    with dying.away():
        for _ in range(3):
            clock.advance(minutes=1)
            host.beat()

    host.beat()

    assert len(host.faults) == 3
    assert host.control.hosts()[0]["faults"]["ledger_faults"] == 3
    assert host.words(job) == [("08:03:00", "succeeded")]
    assert host.skips(job) == [("coalesced", 2)]


def test_fault_R37_a_full_disk_stops_claims_and_its_hold_is_written_when_there_is_space(
    stage: Stage, clock: ManualClock, dying: DyingLedger, caplog: pytest.LogCaptureFixture
) -> None:
    logging.disable(logging.NOTSET)
    host = stage(ledger=dying)
    job = host.add("often", cron="* * * * *")
    host.beat()
    with dying.full():
        for _ in range(3):
            clock.advance(minutes=1)
            host.beat()
    during = host.words(job)

    host.beat()

    assert during == []
    assert sum("hold disk_full" in record.message for record in caplog.records) == 1
    assert host.words(job) == [("08:03:00", "succeeded")]
    assert host.skips(job) == [("coalesced", 2)]
    with host.ledger.read() as c:
        from schedcore._ledger import holds

        (hold,) = holds.listed(c)
    assert (hold["reason"], hold["until"] is not None) == ("disk_full", True)


def test_fault_R43_a_worker_that_is_cut_off_stops_where_it_may_be_started_again(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    host = stage(hold=True, ledger=dying)
    keys = {"again": {"on_lost": "retry"}, "careful": {"stop_when_cut": True}, "plain": {}}
    for key, policies in keys.items():
        host.add(key, cron="0 9 * * *", timeout="1h", **policies)
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    stopped = []
    with dying.away():
        for _ in range(5):
            clock.advance(12)
            host.poll()
            stopped.append(sorted(i.job.key for i in host.held.values() if i.stop.reason == "stopped_itself"))

    assert stopped == [[], [], [], ["again", "careful"], ["again", "careful"]]


def test_fault_R43_a_finish_that_meets_no_ledger_is_spooled_and_taken_in_under_its_fence(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    host = stage(hold=True, ledger=dying, name="cut")
    job = host.add("plain", cron="0 9 * * *", timeout="1h")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    with dying.away():
        host.finish()
        host.poll()
        spooled = list((host.folder / "spool").glob("*.finish"))
        host.die()  # and its process ends too

    host = stage(name="cut")
    host.beat()

    assert len(spooled) == 1
    assert host.words(job) == [("09:00:00", "succeeded")]
    assert list((host.folder / "spool").iterdir()) == []


def test_a_ledger_that_comes_back_takes_what_waits_from_the_hand_that_held_it(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    host = stage(hold=True, ledger=dying)
    job = host.add("plain", cron="0 9 * * *", timeout="1h")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    with dying.away():
        host.finish()
        host.poll()
        clock.advance(30)
        host.poll()

    host.beat()

    assert host.words(job) == [("09:00:00", "succeeded")]
    assert files(host.folder / "spool") == []


def test_work_that_ended_in_time_keeps_its_end_although_the_ledger_was_away_past_its_limit(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    host = stage(hold=True, ledger=dying)
    job = host.add("plain", cron="0 9 * * *", timeout="5m")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    with dying.away():
        clock.advance(200)
        host.finish(took_s=200)
        host.poll()
        clock.advance(300)
        host.poll()

    host.beat()

    assert host.words(job) == [("09:00:00", "succeeded")]
    assert host.engine.counters.stale == 0


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
