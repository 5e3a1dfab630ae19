"""The overlap rule of a job, over all hosts (T-15), and slots that one catch-up opens together."""

from __future__ import annotations

from datetime import datetime

import pytest

from schedcore.domain.errors import Conflict
from schedcore.spec import Outcome
from schedcore.testing import ManualClock, StandingHost
from tests.stories.conftest import Stage


def at(clock: ManualClock, time: str, *hosts: StandingHost) -> None:
    """Let time pass until then, and let each host do what is due."""
    clock.set(f"2026-06-01T{time}+00:00")
    for host in hosts:
        host.beat()


def slowly(clock: ManualClock, time: str, *hosts: StandingHost) -> None:
    """The same in steps of 20 s: a judge that was away for half a lease judges nobody."""
    until = datetime.fromisoformat(f"2026-06-01T{time}+00:00")
    while clock.instant < until:
        clock.advance(min(20, (until - clock.instant).total_seconds()))
        for host in hosts:
            host.beat()


def test_skip_counts_the_slots_that_come_while_a_run_lives(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("slow", cron="*/5 * * * *", timeout="1h")

    at(clock, "08:05:00", host)
    at(clock, "08:10:00", host)
    host.finish()
    at(clock, "08:15:00", host)

    assert host.words(job) == [("08:05:00", "succeeded"), ("08:15:00", "running")]
    assert host.skips(job) == [("overlap", 1)]


def test_queue_one_lets_one_wait_and_counts_the_rest(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("slow", cron="*/5 * * * *", timeout="1h", overlap="queue_one")

    for minute in ("05", "10", "15"):
        at(clock, f"08:{minute}:00", host)
    assert host.words(job) == [("08:05:00", "running"), ("08:10:00", "queued")]
    host.finish()
    host.poll()

    assert host.words(job) == [("08:05:00", "succeeded"), ("08:10:00", "running")]
    assert host.skips(job) == [("overlap", 1)]


def test_replace_stops_the_running_one_and_starts_when_it_has_ended(stage: Stage, clock: ManualClock) -> None:
    host, other = stage(hold=True), stage(hold=True)
    job = host.add("slow", cron="*/5 * * * *", timeout="1h", overlap="replace")
    at(clock, "08:05:00", host)
    (item,) = host.held.values()
    at(clock, "08:09:50", host)  # its lease is renewed

    at(clock, "08:10:00", other, host)
    assert item.stop.reason == "replaced"
    assert other.held == {}
    host.finish(item.run_id, Outcome("cancelled", "replaced"))
    host.poll()
    other.poll()

    assert host.words(job) == [("08:05:00", "cancelled"), ("08:10:00", "running")]
    assert host.runs(job)[0]["reason"] == "replaced"
    assert host.skips(job) == []


def test_replace_takes_out_what_waits(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("slow", cron="*/5 * * * *", timeout="1h", overlap="replace")

    for minute in ("05", "10", "15"):
        at(clock, f"08:{minute}:00", host)

    assert host.words(job) == [("08:05:00", "running"), ("08:10:00", "cancelled"), ("08:15:00", "queued")]


def test_parallel_runs_as_many_as_it_says(stage: Stage, clock: ManualClock) -> None:
    host, other = stage(hold=True), stage(hold=True)
    job = host.add("wide", cron="*/5 * * * *", timeout="1h", overlap="parallel", overlap_max=2)

    for minute in ("05", "10", "15"):
        at(clock, f"08:{minute}:00", other, host)

    assert [word for _, word in host.words(job)] == ["running", "running"]
    assert host.skips(job) == [("overlap", 1)]


def test_a_run_that_lives_elsewhere_lets_no_second_one_start(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("slow", cron="*/5 * * * *", timeout="1h")
    at(clock, "08:05:00", host)
    other = stage(hold=True)
    at(clock, "08:09:50", host)
    at(clock, "08:10:00", other)
    other.stop()

    at(clock, "08:14:50", host)
    at(clock, "08:15:00", stage(hold=True))

    assert host.words(job) == [("08:05:00", "running")]
    assert host.skips(job) == [("overlap", 1), ("overlap", 1)]


def test_a_lost_run_counts_until_its_time_limit_and_no_longer(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("lost", cron="*/5 * * * *", timeout="12m")
    at(clock, "08:05:00", host)
    host.die()
    other = stage()
    other.beat()

    for minute in ("06", "07", "10", "15", "20"):  # its limit is over at 08:17
        slowly(clock, f"08:{minute}:00", other)

    assert other.words(job) == [("08:05:00", "interrupted"), ("08:20:00", "succeeded")]
    assert other.skips(job) == [("overlap", 1), ("overlap", 1)]


def test_a_note_that_the_lost_work_has_ended_lets_the_next_slot_run(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("lost", cron="*/5 * * * *", timeout="1h")
    at(clock, "08:05:00", host)
    (item,) = host.held.values()
    host.die()
    other = stage(name=host.engine.name)  # a host with the same state folder
    for minute in ("06", "07"):
        slowly(clock, f"08:{minute}:00", other)

    (other.folder / "spool" / f"{item.run_id}-{item.fence}.end").touch()
    at(clock, "08:08:00", other)
    at(clock, "08:10:00", other)

    assert other.words(job) == [("08:05:00", "interrupted"), ("08:10:00", "succeeded")]


def test_slots_opened_together_do_not_count_against_one_another(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("often", every="5s", catch_up="all", catch_up_max=3)

    clock.advance(20)
    host.beat()

    assert host.words(job) == [(f"08:00:{s}", "succeeded") for s in ("10", "15", "20")]
    assert host.skips(job) == [("coalesced", 1)]


def test_slots_opened_together_run_one_after_another(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("often", every="5s", catch_up="all", catch_up_max=3)
    clock.advance(20)

    seen = []
    for _ in range(3):
        host.beat()
        seen.append([word for _, word in host.words(job)].count("running"))
        host.finish()
    host.beat()

    assert seen == [1, 1, 1]


def test_a_late_run_that_waits_its_turn_never_starts_beside_a_present_one(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    host.add("a", cron="*/2 * * * *")
    job = host.add("b", cron="*/2 * * * *")
    host.die()
    up = stage(hold=True)
    clock.set("2026-06-01T08:11:58+00:00")
    up.beat()  # late runs of both; the second one starts five seconds later
    a = next(iter(up.held))
    up.finish(a)
    at(clock, "08:12:00", up)  # the present slots of both
    before = [run["word"] for run in up.runs(job)]

    at(clock, "08:12:04", up)

    assert before == ["queued", "running"]
    assert [run["word"] for run in up.runs(job)] == ["queued", "running"]


def test_a_manual_run_beside_a_live_one_needs_the_word_parallel(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("slow", cron="*/5 * * * *", timeout="1h")
    at(clock, "08:05:00", host)

    with pytest.raises(Conflict) as refused:
        host.control.run("slow")
    told = host.control.run("slow", overlap="parallel", reason="I know")
    host.poll()

    assert refused.value.code == "overlap"
    assert [run["word"] for run in host.runs(job)] == ["running", "running"]
    assert host.control.history("slow")[-1]["changes"] == {"overlap": ["skip", "parallel"]}
    assert told["key"] == "slow"
