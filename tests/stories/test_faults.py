"""Faults in the wild that stand in no other story (``cases/faults``)."""

from __future__ import annotations

import pytest

from schedcore.domain.clock import text
from schedcore.domain.errors import Refused
from schedcore.testing import ManualClock, StandingHost, StuckRule
from tests.stories.conftest import Stage


def test_fault_R2_what_ran_before_a_restart_does_not_run_after_it(stage: Stage, clock: ManualClock) -> None:
    host = stage()
    job = host.add("evening", cron="0 22 * * *")
    clock.set("2026-06-01T22:00:00+00:00")
    host.beat()
    host.die()

    clock.set("2026-06-01T22:30:00+00:00")
    stage().beat()

    assert host.words(job) == [("22:00:00", "succeeded")]


def test_fault_R4_five_stale_jobs_are_late_and_none_runs(host: StandingHost, clock: ManualClock) -> None:
    jobs = [host.add(f"market-{i}", cron="0 11 * * *", late_limit="1h") for i in range(5)]

    clock.set("2026-06-01T22:10:00+00:00")
    host.beat()

    assert host.runs() == []
    assert [host.skips(job) for job in jobs] == [[("late", 1)]] * 5


def test_fault_R7_a_weekly_interval_fires_four_times_in_thirty_days_of_restarts(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage()
    job = host.add("weekly", every="7d")

    for _ in range(30 * 2):
        clock.advance(hours=12)
        host.stop()
        host = stage()
        host.beat()

    assert [run["word"] for run in host.runs(job)] == ["succeeded"] * 4
    assert host.skips(job) == []


def test_fault_R11_a_hundred_and_one_minutes_down_are_one_run_and_one_row(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage()
    job = host.add("minutely", cron="* * * * *")
    host.die()

    clock.advance(minutes=101)
    host = stage()
    host.beat()

    assert [run["word"] for run in host.runs(job)] == ["succeeded"]
    assert host.skips(job) == [("coalesced", 100)]
    assert host.job(job)["state"] == "active"


def test_fault_R13_slots_missed_over_a_week_end_are_counted_exactly(
    host: StandingHost, clock: ManualClock
) -> None:
    clock.set("2026-06-05T14:30:00+00:00")  # a Friday
    job = host.add("shift", cron="30 6-16/4 * * 1-5")
    host.beat()

    clock.set("2026-06-09T09:00:00+00:00")  # Tuesday: three slots of Monday, and 06:30
    host.beat()

    (row,) = host.skip_rows(job)
    assert (row["slots"], text(row["first_slot"])[:16], text(row["last_slot"])[:16]) == (
        3,
        "2026-06-08T06:30",
        "2026-06-08T14:30",
    )
    assert [text(run["scheduled_for"])[:16] for run in host.runs(job)] == ["2026-06-09T06:30"]


def test_fault_R17_two_claimers_of_one_run_are_one_winner(stage: Stage, clock: ManualClock) -> None:
    a, b = stage(hold=True), stage(hold=True)
    job = a.add("once", at="2026-06-01T09:00:00Z")
    clock.set("2026-06-01T09:00:00+00:00")

    a.poll()
    b.poll()

    assert len(a.held) + len(b.held) == 1
    assert [run["attempts"] for run in a.runs(job)] == [1]


def test_fault_R23_an_option_that_is_not_known_is_named_with_its_nearest(host: StandingHost) -> None:
    with pytest.raises(Refused) as refused:
        host.control.add({"key": "a", "kind": "noop", "cron": "0 9 * * *", "misfire_grace_time": 1})
    with pytest.raises(Refused) as near:
        host.control.add({"key": "a", "kind": "noop", "cron": "0 9 * * *", "ovrlap": "skip"})

    assert refused.value.field == "misfire_grace_time"
    assert "overlap" in str(near.value)
    assert host.control.jobs() == []


def test_a_trigger_that_answers_the_same_instant_for_ever_pauses_its_job_alone(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(triggers={"stuck": StuckRule})
    at = clock.wall() + 30_000_000
    bad = host.add("bad", trigger={"kind": "stuck", "text": str(at)})
    good = host.add("good", cron="* * * * *")

    for _ in range(5):
        clock.advance(minutes=1)
        host.beat()

    assert host.job(bad)["state"] == "paused"
    assert host.job(bad)["state_reason"].startswith("trigger_error")
    assert len(host.runs(bad)) <= 1
    assert [run["word"] for run in host.runs(good)] == ["succeeded"] * 5
