"""Whole days on a manual clock."""

from __future__ import annotations

from schedcore.testing import ManualClock, StandingHost


def test_a_cron_job_runs_once_at_each_of_its_slots(host: StandingHost, clock: ManualClock) -> None:
    job = host.add("report", cron="*/15 * * * *")

    for _ in range(4 * 24):
        clock.advance(minutes=14)
        host.poll()
        clock.advance(minutes=1)
        host.poll()

    assert [run["word"] for run in host.runs(job)] == ["succeeded"] * 96
    assert {run["latency_ms"] for run in host.runs(job)} == {0}
    assert host.skips(job) == []


def test_asleep_over_three_daily_slots_gives_one_run_of_the_third(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("brief", cron="0 9 * * *")

    clock.advance(days=3, hours=2)
    host.beat()

    assert [(r["at"], r["word"], r["late"]) for r in host.runs(job)] == [("09:00:00", "succeeded", 1)]
    assert host.skips(job) == [("coalesced", 3)]


def test_a_second_sleep_counts_its_own_slots_only(host: StandingHost, clock: ManualClock) -> None:
    job = host.add("brief", cron="0 9 * * *")
    clock.advance(days=3, hours=2)
    host.beat()

    clock.advance(days=3)
    host.beat()

    first, second = host.runs(job)
    assert host.skips(job) == [("coalesced", 3), ("coalesced", 2)]
    assert host.job(job)["last_slot"] == second["scheduled_for"] > first["scheduled_for"]
