"""Leases, fences and lost runs (L-11, P-06, G6 to G8), on the manual clock."""

from __future__ import annotations

import pytest

from schedcore.domain.errors import Conflict
from schedcore.spec import Outcome, failed
from schedcore.testing import ManualClock, StandingHost
from tests.stories.conftest import Stage


def held(stage: Stage, clock: ManualClock, key: str = "slow", **policies: object) -> tuple[StandingHost, int]:
    """A host that holds the 09:00 run of a job."""
    host = stage(hold=True)
    job = host.add(key, cron="0 9 * * *", **policies)
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    return host, job


def wait(clock: ManualClock, seconds: float, *hosts: StandingHost) -> None:
    """Time goes by in steps of a fifth of a lease, and these hosts live."""
    until = clock.wall() + round(seconds * 1e6)
    while clock.wall() < until:
        clock.advance(min(12, (until - clock.wall()) / 1e6))
        for host in hosts:
            host.poll()


def test_a_late_answer_with_an_old_fence_changes_nothing(stage: Stage, clock: ManualClock) -> None:
    a, job = held(stage, clock, on_lost="retry", attempts=3, timeout=100)
    b = stage(hold=True)
    (run_id,) = a.held

    wait(clock, 200, b)  # a stalls, b takes over
    (taken,) = b.held.values()
    a.finish(run_id, failed("exit_code", "too late", exit_code=9))
    a.poll()

    assert taken.attempt == 2
    assert a.words(job) == [("09:00:00", "running")]
    assert [e["action"] for e in a.control.history("slow")][-1] == "stale_result"
    b.finish()
    b.poll()
    (run,) = a.runs(job)
    assert (run["word"], run["exit_code"], run["host"]) == ("succeeded", None, "host-2")


def test_a_worker_whose_renewal_finds_no_run_of_its_own_stops(stage: Stage, clock: ManualClock) -> None:
    a, _ = held(stage, clock)
    b = stage()
    (item,) = a.held.values()

    wait(clock, 130, b)
    a.poll()

    assert item.stop.reason == "lease_lost"


def test_a_live_host_keeps_its_run_however_long_it_takes(stage: Stage, clock: ManualClock) -> None:
    a, job = held(stage, clock, timeout="2h")
    b = stage()

    wait(clock, 600, a, b)

    assert a.words(job) == [("09:00:00", "running")]


def test_a_lost_run_is_interrupted_within_five_seconds_of_its_lease(stage: Stage, clock: ManualClock) -> None:
    a, job = held(stage, clock)
    b = stage()
    b.beat()
    a.die()

    wait(clock, 59, b)
    before = a.words(job)
    woken = 0.0
    while (step := b.wakes_in()) + woken <= 6 and b.words(job) == before:
        woken += step
        clock.advance(step)
        b.poll()

    assert before == [("09:00:00", "running")]
    assert a.words(job) == [("09:00:00", "interrupted")]


def test_by_default_a_lost_run_is_never_claimed_again(stage: Stage, clock: ManualClock) -> None:
    a, job = held(stage, clock, attempts=5)
    a.die()
    b = stage(hold=True)

    wait(clock, 900, b)

    (run,) = b.runs(job)
    assert (run["word"], run["reason"], run["attempts"]) == ("interrupted", "lease_lost", 1)
    assert b.held == {}


def test_nobody_judges_before_it_was_in_contact_for_one_lease(stage: Stage, clock: ManualClock) -> None:
    a, job = held(stage, clock)
    a.die()
    clock.advance(hours=1)
    b = stage()

    b.beat()
    wait(clock, 59, b)
    before = b.words(job)
    wait(clock, 2, b)

    assert before == [("09:00:00", "running")]
    assert b.words(job) == [("09:00:00", "interrupted")]


def test_nobody_judges_before_the_server_was_up_for_one_lease(stage: Stage, clock: ManualClock) -> None:
    a, job = held(stage, clock)
    b = stage()
    wait(clock, 120, b, a)
    a.die()

    wait(clock, 30, b)
    clock.server_restarted()
    wait(clock, 59, b)
    before = b.words(job)
    wait(clock, 2, b)

    assert before == [("09:00:00", "running")]
    assert b.words(job) == [("09:00:00", "interrupted")]


def test_the_limit_of_a_lost_second_attempt_counts_from_its_own_claim(
    stage: Stage, clock: ManualClock
) -> None:
    a, job = held(stage, clock, attempts=3, timeout="10m", retry_delay="20m")
    a.finish(None, failed("exit_code", exit_code=1))
    a.poll()
    wait(clock, 1200, a)  # the second attempt begins at 09:20
    assert len(a.held) == 1
    a.die()
    b = stage()

    wait(clock, 120, b)

    (run,) = b.runs(job)
    assert run["word"] == "interrupted"
    assert run["lost_until"] == run["start_at"] + 600 * 1_000_000


@pytest.mark.parametrize("reason", ["operator", "replaced"])
def test_a_run_that_was_ordered_to_stop_and_whose_host_died_is_cancelled(
    stage: Stage, clock: ManualClock, reason: str
) -> None:
    a, job = held(stage, clock, overlap="replace")
    (run_id,) = a.held
    if reason == "operator":
        a.control.cancel(run_id, "enough")
    else:
        a.control.run("slow")
    a.die()
    b = stage()

    wait(clock, 130, b)

    assert (b.runs(job)[0]["word"], b.runs(job)[0]["reason"]) == ("cancelled", reason)


def test_cancelling_stops_a_running_run_and_the_next_slot_runs(stage: Stage, clock: ManualClock) -> None:
    a, job = held(stage, clock)
    (item,) = a.held.values()

    told = a.control.cancel(item.run_id, "enough")
    a.poll()
    assert item.stop.reason == "operator"
    a.finish(item.run_id, Outcome("cancelled", "operator"))
    clock.set("2026-06-02T09:00:00+00:00")
    a.beat()

    assert told["now"] == "stopping"
    assert [run["word"] for run in a.runs(job)] == ["cancelled", "running"]
    assert a.job(job)["streak"] == 0
    with pytest.raises(Conflict, match="final"):
        a.control.cancel(item.run_id, "again")


def test_cancelling_a_queued_run_ends_it_at_once_and_its_one_shot(stage: Stage, clock: ManualClock) -> None:
    host = stage(tags=frozenset())
    job = host.add("once", at="2026-06-01T09:00:00Z", tags=["elsewhere"])
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    told = host.control.cancel(host.runs(job)[0]["id"], "enough")

    assert told["now"] == "cancelled"
    assert host.words(job) == [("09:00:00", "cancelled")]
    assert host.job(job)["state"] == "done"


def test_releasing_frees_the_job_for_its_next_slot(stage: Stage, clock: ManualClock) -> None:
    a, job = held(stage, clock, timeout="24h")
    (run_id,) = a.held
    a.die()
    b = stage()
    with pytest.raises(Conflict, match="overlap"):
        b.control.run("slow")

    b.control.release(run_id, "its host is gone")
    b.control.run("slow")
    b.beat()

    assert [(run["word"], run["reason"]) for run in b.runs(job)] == [
        ("interrupted", "released"),
        ("succeeded", None),
    ]
    assert [e["actor"] for e in b.control.history("slow")][-2:] == ["tester", "tester"]
    with pytest.raises(Conflict, match="final"):
        b.control.release(run_id, "again")


def test_work_that_does_not_stop_at_its_limit_is_settled_without_it(stage: Stage, clock: ManualClock) -> None:
    a, job = held(stage, clock, timeout="5m", attempts=1)
    (item,) = a.held.values()

    wait(clock, 301, a)
    assert item.stop.reason == "timeout"
    wait(clock, 12, a)
    settled = a.runs(job)[0]
    clock.advance(3)
    a.finish(item.run_id)  # and ends after all
    a.poll()

    assert (settled["word"], settled["reason"]) == ("failed", "timeout")
    assert a.runs(job)[0]["word"] == "failed"
    assert a.engine.counters.stale == 1


def test_work_that_does_not_stop_when_it_is_cancelled_ends_cancelled_at_its_limit(
    stage: Stage, clock: ManualClock
) -> None:
    a, job = held(stage, clock, timeout="5m", attempts=3)
    (run_id,) = a.held
    a.control.cancel(run_id, "enough")

    wait(clock, 320, a)

    assert [(run["word"], run["reason"]) for run in a.runs(job)] == [("cancelled", "operator")]


def test_fault_R16_a_host_that_is_paused_in_a_rescue_leaves_no_state_stuck(
    stage: Stage, clock: ManualClock
) -> None:
    a, job = held(stage, clock, on_lost="retry", attempts=3, timeout=5)
    b, c = stage(hold=True), stage(hold=True)

    wait(clock, 100, b, c)
    wait(clock, 100, c)  # whoever of the two took over is paused, or not
    wait(clock, 300, a, b, c)
    for host in (a, b, c):
        for run_id in list(host.held):
            host.finish(run_id)
        host.poll()
    wait(clock, 30, a, b, c)

    (run,) = a.runs(job)
    assert run["word"] in {"succeeded", "failed", "interrupted"}
    assert sum(len(host.engine.running) for host in (a, b, c)) == 0


def test_fault_R19_no_second_start_while_the_end_of_the_first_is_unknown(
    stage: Stage, clock: ManualClock
) -> None:
    a = stage(hold=True)
    job = a.add("slow", cron="*/2 * * * *", on_lost="retry", attempts=3, timeout="10m")
    clock.set("2026-06-01T08:02:00+00:00")
    a.beat()
    (run_id,) = a.held
    b = stage(hold=True)

    wait(clock, 300, b)
    assert b.held == {}
    a.finish(run_id)  # the work ends after all, under an old fence
    a.poll()
    wait(clock, 120, b)

    assert next(run["attempts"] for run in b.runs(job)) == 2
    assert len(a.held) + len(b.held) == 1


def test_a_host_that_stops_in_order_leaves_no_lease_and_counts_no_failure(
    stage: Stage, clock: ManualClock
) -> None:
    a, job = held(stage, clock)

    a.stop()

    assert [(run["word"], run["reason"]) for run in a.runs(job)] == [("interrupted", "shutdown")]
    assert a.job(job)["streak"] == 0


def test_a_judge_that_was_asleep_itself_waits_one_lease_before_it_judges(
    stage: Stage, clock: ManualClock
) -> None:
    a, job = held(stage, clock)
    b = stage()
    wait(clock, 60, a, b)

    clock.advance(hours=8)  # the machine sleeps, and both hosts with it
    b.poll()
    b.poll()

    assert a.words(job) == [("09:00:00", "running")]


def test_report_S13_a_host_that_restarts_under_its_name_does_not_keep_the_run_of_the_dead_one(
    stage: Stage, clock: ManualClock
) -> None:
    a, job = held(stage, clock)
    a.die()
    again = stage(name=a.engine.name)
    before = again.words(job)

    wait(clock, 65, again)
    clock.set("2026-06-02T09:00:00+00:00")
    again.beat()

    assert before == [("09:00:00", "running")]
    assert [(run["word"], run["reason"]) for run in again.runs(job)] == [
        ("interrupted", "lease_lost"),
        ("succeeded", None),
    ]
