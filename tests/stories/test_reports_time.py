"""Faults that others reported, as stories: clocks, slots, catch-up, one-shots (``cases/reports``)."""

from __future__ import annotations

import itertools

import pytest

from schedcore._ledger import events
from schedcore.domain.clock import DAY, text
from schedcore.testing import ManualClock, StandingHost
from tests.stories.conftest import Stage

MINUTE = 60


def beats(host: StandingHost, clock: ManualClock, n: int, seconds: float = MINUTE) -> None:
    """So many beats, each after so many seconds."""
    for _ in range(n):
        clock.advance(seconds)
        host.beat()


def ledger_events(host: StandingHost) -> list[str]:
    """What the ledger says of itself."""
    with host.ledger.read() as c:
        return [row["action"] for row in events.history(c, events.LEDGER)]


def test_report_S05_an_hourly_job_is_due_in_the_repeated_hour(host: StandingHost, clock: ManualClock) -> None:
    clock.set("2026-11-01T07:59:00+00:00")
    job = host.add("hourly", cron="0 * * * *", zone="US/Pacific")

    beats(host, clock, 3, 3600)

    assert host.words(job) == [(f"{hour:02}:00:00", "succeeded") for hour in (8, 9, 10)]


def test_report_S07_weekdays_run_on_their_days(host: StandingHost, clock: ManualClock) -> None:
    clock.set("2027-01-01T00:00:00+00:00")
    sunday = host.add("sunday", cron="0 0 * * 0", catch_up="all")
    both = host.add("both", cron="15 10,12 * * 1,7", catch_up="all")

    clock.advance(days=7)
    host.beat()

    days = {run["key"]: set() for run in host.runs()}
    for run in host.runs():
        days[run["key"]].add(text(run["scheduled_for"])[:10])
    assert days == {"sunday": {"2027-01-03"}, "both": {"2027-01-03", "2027-01-04"}}
    assert len(host.runs(sunday)) == 1
    assert host.job(both)["fired"] == 4


def test_report_S08_a_step_back_repeats_no_slot_and_the_loop_lives(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("minutely", cron="* * * * *")
    other = host.add("other", cron="0 12 * * *")
    beats(host, clock, 2)
    before = host.words(job)
    beaten = host.engine.counters.beats

    clock.step(-90)
    beats(host, clock, 1)
    assert host.words(job) == before  # 08:01 is here again, and has its run
    clock.step(hours=-8)
    beats(host, clock, 1)

    assert host.words(job) == before == [("08:01:00", "succeeded"), ("08:02:00", "succeeded")]
    assert host.engine.counters.beats == beaten + 2
    assert host.job(job)["last_slot"] == before_last(host, job)
    clock.step(hours=8)
    beats(host, clock, 6)
    assert len(set(host.words(job))) == len(host.words(job)) > 2
    assert host.words(other) == []


def before_last(host: StandingHost, job: int) -> int:
    return host.runs(job)[-1]["scheduled_for"]


def test_report_S08_a_step_ahead_waits_for_three_agreeing_beats_and_catches_up_by_policy(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("minutely", cron="* * * * *")
    beats(host, clock, 1)

    clock.step(days=1)
    waited = []
    for _ in range(5):
        beats(host, clock, 1)
        waited.append(len(host.runs(job)))

    assert waited == [1, 1, 1, 2, 3]
    assert ledger_events(host) == ["clock_stepped", "clock_trusted"]
    assert [run["late"] for run in host.runs(job)] == [0, 0, 0]
    assert host.skips(job) == [("coalesced", 24 * 60 + 3)]


def test_report_S08_a_step_ahead_between_two_beats_starts_nothing(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("minutely", cron="* * * * *")
    host.beat()

    clock.advance(1)
    clock.step(days=1)
    host.poll()

    assert host.words(job) == []
    assert ledger_events(host) == ["clock_stepped"]


def test_report_S16_fourteen_days_of_five_seconds_are_one_run_and_one_row(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("often", every="5s")

    clock.advance(days=14)
    host.beat()

    assert [run["word"] for run in host.runs(job)] == ["succeeded"]
    assert host.skips(job) == [("coalesced", 241_919)]


def test_report_S16_catch_up_all_runs_the_newest_n_and_counts_the_rest(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("often", every="5s", catch_up="all", catch_up_max=3)

    clock.advance(days=14)
    host.beat()
    beats(host, clock, 3, 5)

    assert [run["word"] for run in host.runs(job)] == ["succeeded"] * 6
    assert host.skips(job) == [("coalesced", 241_917)]


def test_report_S16_a_hundred_missed_minutes_stop_no_job(host: StandingHost, clock: ManualClock) -> None:
    job = host.add("minutely", cron="* * * * *")

    clock.advance(minutes=101)
    host.beat()
    beats(host, clock, 2)

    assert [run["word"] for run in host.runs(job)] == ["succeeded"] * 3
    assert host.skips(job) == [("coalesced", 100)]


def test_report_S17_a_weekly_interval_keeps_its_phase_through_restarts(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage()
    job = host.add("weekly", every="1w")

    for _ in range(11):
        clock.advance(days=2)
        host.stop()
        host = stage()
        host.beat()

    assert [text(run["scheduled_for"])[:16] for run in host.runs(job)] == [
        "2026-06-08T08:00",
        "2026-06-15T08:00",
        "2026-06-22T08:00",
    ]


def test_report_S17_a_yearly_job_down_over_its_first_time_runs_late_at_start(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage()
    job = host.add("yearly", cron="0 9 1 7 *")
    host.die()

    clock.set("2026-08-01T00:00:00+00:00")
    stage().beat()

    assert [(text(r["scheduled_for"])[:10], r["late"]) for r in host.runs(job)] == [("2026-07-01", 1)]


@pytest.mark.parametrize("jitter", [0, 180])
def test_report_S19_jitter_is_drawn_once_for_a_slot_however_often_hosts_restart(
    stage: Stage, clock: ManualClock, jitter: int
) -> None:
    host = stage()
    job = host.add("tidy", cron="0 9 * * *", jitter=jitter)
    due = host.job(job)["next_run_at"]
    clock.set("2026-06-01T08:59:30+00:00")

    for _ in range(16):
        clock.advance(20)
        host.stop()
        host = stage()
        host.beat()

    (run,) = host.runs(job)
    assert run["at"] == "09:00:00"
    assert run["start_at"] == due
    assert 0 <= run["latency_ms"] < 20_000
    if not jitter:
        assert due == run["scheduled_for"]


def test_report_R04_a_storm_of_restarts_starts_nothing_that_is_done_or_paused(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage()
    host.add("once", at="2026-06-01T08:01:00Z")
    host.add("off", cron="* * * * *")
    beats(host, clock, 2)
    host.control.pause("off", reason="enough")
    before = host.words()

    for _ in range(10):
        clock.advance(5)
        host.stop()
        host = stage()
        host.beat()

    assert host.words() == before
    assert {job["key"]: job["state"] for job in host.control.jobs(all_states=True)} == {
        "once": "done",
        "off": "paused",
    }


def test_report_R05_a_restart_after_the_slot_runs_nothing_again(stage: Stage, clock: ManualClock) -> None:
    host = stage()
    job = host.add("evening", cron="0 22 * * *")
    clock.set("2026-06-01T22:00:00+00:00")
    host.beat()
    host.stop()

    clock.advance(minutes=30)
    stage().beat()

    assert host.words(job) == [("22:00:00", "succeeded")]


def test_report_R08_a_one_shot_runs_once_and_is_done(host: StandingHost, clock: ManualClock) -> None:
    job = host.add("once", **{"in": "10s"})

    for _ in range(8):
        clock.advance(15)
        host.beat()

    assert host.words(job) == [("08:00:10", "succeeded")]
    assert (host.job(job)["state"], host.job(job)["next_run_at"]) == ("done", None)


def test_report_R19_listing_jobs_jumps_over_no_slot(host: StandingHost, clock: ManualClock) -> None:
    clock.set("2026-06-02T00:30:00+00:00")
    job = host.add("nightly", cron="0 1 * * *")
    clock.set("2026-06-02T02:00:00+00:00")

    host.control.jobs()
    host.control.show("nightly")
    host.control.status()
    host.beat()

    assert host.words(job) == [("01:00:00", "succeeded")]


def test_report_R20_three_sleepy_days_are_one_late_run_and_a_row_for_two(
    host: StandingHost, clock: ManualClock
) -> None:
    clock.set("2026-06-02T03:00:00+00:00")
    job = host.add("digest", cron="0 4 * * *")
    host.beat()

    clock.advance(hours=72)
    host.beat()

    (run,) = host.runs(job)
    (row,) = host.skip_rows(job)
    assert (text(run["scheduled_for"])[:10], run["late"], run["word"]) == ("2026-06-04", 1, "succeeded")
    assert (row["reason"], row["slots"], row["run_id"]) == ("coalesced", 2, run["id"])


def test_report_R22_an_edit_of_the_title_keeps_what_is_overdue(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("backup", cron="0 9 * * *")
    clock.advance(days=6)
    due = host.job(job)["next_run_at"]

    host.control.edit("backup", {"name": "Backup of everything"})

    assert host.job(job)["next_run_at"] == due
    host.beat()
    assert len(host.runs(job)) == 1
    assert host.skips(job) == [("coalesced", 5)]


def test_report_R23_a_market_job_does_not_fire_in_the_evening(host: StandingHost, clock: ManualClock) -> None:
    job = host.add("market", cron="0 11 * * *", late_limit="2h")

    clock.set("2026-06-01T22:00:00+00:00")
    host.beat()

    assert host.words(job) == []
    assert host.skips(job) == [("late", 1)]


def test_report_R25_catch_up_off_runs_the_newest_missed_slot_at_most(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("minutely", cron="* * * * *", catch_up="skip")

    clock.advance(minutes=5)
    host.beat()

    assert host.words(job) == [("08:05:00", "succeeded")]
    assert host.skips(job) == [("coalesced", 4)]
    assert host.job(job)["next_run_at"] > clock.wall()


def test_report_R26_waking_on_a_saturday_runs_the_slot_of_friday(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("work", cron="0 9 * * 1-5")

    clock.set("2026-06-06T10:00:00+00:00")  # a Saturday
    host.beat()

    assert [text(run["scheduled_for"])[:10] for run in host.runs(job)] == ["2026-06-05"]
    assert host.skips(job) == [("coalesced", 4)]


def test_report_R28_skipped_slots_leave_a_row_with_first_and_last(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("minutely", cron="* * * * *", catch_up="skip", late_limit="2m")

    clock.advance(minutes=10)
    host.beat()

    rows = [
        (r["reason"], text(r["first_slot"])[11:16], text(r["last_slot"])[11:16], r["slots"])
        for r in host.skip_rows(job)
    ]
    assert rows == [("late", "08:01", "08:07", 7), ("coalesced", "08:08", "08:09", 2)]


def test_report_R43_a_one_shot_has_a_year_and_never_comes_back(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("once", at="2027-03-14T15:00:00Z")

    for year in ("2027", "2028", "2029"):
        clock.set(f"{year}-03-14T15:00:30+00:00")
        host.beat()

    assert [text(run["scheduled_for"])[:10] for run in host.runs(job)] == ["2027-03-14"]


def test_report_R44_slow_runs_move_no_slot(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("quarter", every="15m")
    clock.advance(minutes=15)
    host.poll()

    for _ in range(96):
        clock.advance(minutes=4)
        host.finish(took_s=4 * 60)
        host.poll()
        clock.advance(minutes=11)
        host.poll()

    slots = [run["scheduled_for"] for run in host.runs(job)]
    assert len(slots) == 97
    assert {b - a for a, b in itertools.pairwise(slots)} == {DAY // 96}
