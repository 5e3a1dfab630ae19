"""Time itself: wake-ups, lateness, clock changes, steps and holds (T-03 to T-07, T-12, T-21, P-03, P-13)."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from schedcore._ledger import events
from schedcore.domain.clock import from_us, text
from schedcore.testing import ManualClock, StandingHost
from tests.stories.conftest import Stage


def sleep(host: StandingHost, clock: ManualClock, until: str) -> int:
    """Live as the loop does, waking only when it would; answers how often it woke."""
    woken = 0
    end = datetime.fromisoformat(until)
    while clock.instant < end:
        step = min(host.wakes_in(), (end - clock.instant).total_seconds())
        clock.advance(max(step, 0.001))
        host.poll()
        woken += 1
    return woken


def test_a_slot_between_two_beats_starts_at_its_time(host: StandingHost, clock: ManualClock) -> None:
    clock.set("2026-06-01T08:00:53+00:00")
    host.beat()
    job = host.add("seven", at="2026-06-01T08:01:00Z")  # seven seconds after the beat
    host.poll()

    sleep(host, clock, "2026-06-01T08:01:10+00:00")

    (run,) = host.runs(job)
    assert run["word"] == "succeeded"
    assert run["latency_ms"] < 1_000


def test_a_job_a_year_ahead_does_not_fire_early_and_no_sleep_is_longer_than_a_beat(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("far", at="2027-06-01T08:00:00Z")
    host.beat()

    assert host.wakes_in() <= 60
    clock.set("2027-06-01T07:59:59+00:00")
    host.beat()
    before = host.words(job)
    clock.advance(1)
    host.poll()

    assert before == []
    assert host.words(job) == [("08:00:00", "succeeded")]


def test_an_idle_host_wakes_for_its_beats_and_renewals_only(host: StandingHost, clock: ManualClock) -> None:
    host.add("daily", cron="0 9 * * *")
    host.beat()

    woken = sleep(host, clock, "2026-06-01T08:10:00+00:00")

    assert woken <= 10 * 5 + 2


def test_the_wake_up_at_a_retry_is_exact(stage: Stage, clock: ManualClock) -> None:
    from schedcore.spec import failed
    from schedcore.testing import Player

    host = stage(Player(failed("exit_code", exit_code=1)).plays(attempts=2))
    job = host.add("shaky", at="2026-06-01T08:00:30Z", retry_delay=17)
    host.beat()

    sleep(host, clock, "2026-06-01T08:00:50+00:00")

    (run,) = host.runs(job)
    first, second = host.attempts(run["id"])
    assert run["word"] == "succeeded"
    assert 17_000_000 <= second["claimed_at"] - first["claimed_at"] < 17_100_000


def test_fault_R25_a_suspend_across_the_slot_is_one_run_on_wake_with_its_lateness_shown(
    host: StandingHost, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    job = host.add("report", cron="30 8 * * *")
    clock.set("2026-06-01T08:29:59+00:00")
    host.beat()

    clock.advance(hours=12)
    host.poll()

    (run,) = host.runs(job)
    assert (run["word"], run["late"], run["latency_ms"]) == ("succeeded", 1, 43_199_000)
    assert sum("minutes late" in r.message for r in caplog.records) == 1


def test_a_clock_that_jumps_eighteen_minutes_over_a_slot_shows_it_once(
    host: StandingHost, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    job = host.add("report", cron="30 8 * * *")
    clock.set("2026-06-01T08:29:00+00:00")
    host.beat()

    clock.step(minutes=19)
    host.beat()

    (run,) = host.runs(job)
    assert (run["late"], run["latency_ms"]) == (1, 18 * 60 * 1000)
    lines = [r.getMessage() for r in caplog.records if "minutes late" in r.getMessage()]
    assert lines == ["job report: slot 2026-06-01T08:30:00.000Z starts 18.0 minutes late"]


def test_fault_R1_a_slot_inside_a_short_restart_runs_with_its_lateness(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage()
    job = host.add("report", cron="30 8 * * *")
    clock.set("2026-06-01T08:29:47+00:00")
    host.stop()

    clock.set("2026-06-01T08:31:05+00:00")
    stage().beat()

    (run,) = host.runs(job)
    assert (run["word"], run["late"], run["latency_ms"]) == ("succeeded", 1, 65_000)


def test_fault_R22_a_tick_that_comes_ninety_seconds_late_drops_nothing(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("report", cron="0 9 * * *")

    clock.set("2026-06-01T09:01:30+00:00")
    host.beat()

    assert host.words(job) == [("09:00:00", "succeeded")]
    assert host.skips(job) == []


def test_the_slot_of_nine_runs_although_nobody_looked_until_later(stage: Stage, clock: ManualClock) -> None:
    host = stage()
    declared = {"report": {"kind": "noop", "cron": "0 9 * * *"}}
    host.control.apply(declared, source="file")
    clock.set("2026-06-01T09:00:05+00:00")
    host.control.apply(declared, source="file")

    clock.set("2026-06-01T09:00:40+00:00")
    host.beat()

    assert [(run["at"], run["word"]) for run in host.runs()] == [("09:00:00", "succeeded")]


def test_an_order_without_a_trigger_runs_at_once_and_is_done(host: StandingHost) -> None:
    told = host.control.add({"key": "now", "kind": "noop"})

    host.poll()

    assert [run["word"] for run in host.runs()] == ["succeeded"]
    assert host.control.show("now")["state"] == "done"
    assert told["key"] == "now"


def test_a_one_shot_missed_during_downtime_runs_once_and_is_done(stage: Stage, clock: ManualClock) -> None:
    host = stage()
    job = host.add("once", at="2026-06-01T09:00:00Z")
    host.die()
    clock.set("2026-06-03T12:00:00+00:00")

    host = stage()
    host.beat()
    host.stop()
    clock.advance(days=1)
    stage().beat()

    assert [run["word"] for run in host.runs(job)] == ["succeeded"]
    assert (host.job(job)["state"], host.job(job)["next_run_at"]) == ("done", None)


def test_a_one_shot_of_a_day_ago_is_skipped_where_its_policy_says_so(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("once", at="2026-06-01T09:00:00Z", catch_up="skip")

    clock.set("2026-06-02T09:00:00+00:00")
    host.beat()

    assert host.skips(job) == [("late", 1)]
    assert host.job(job)["state"] == "done"


@pytest.mark.parametrize(
    ("start", "end", "slots"),
    [
        ("2027-03-27T12:00:00+00:00", "2027-03-29T12:00:00+00:00", ["03-28 03:00", "03-29 02:30"]),
        ("2026-10-24T12:00:00+00:00", "2026-10-26T12:00:00+00:00", ["10-25 02:30", "10-26 02:30"]),
    ],
    ids=["spring", "autumn"],
)
def test_fault_R26_a_fixed_time_fires_once_at_both_clock_changes(
    host: StandingHost, clock: ManualClock, start: str, end: str, slots: list[str]
) -> None:
    clock.set(start)
    job = host.add("early", cron="30 2 * * *", zone="Europe/Berlin")

    while clock.instant < datetime.fromisoformat(end):
        clock.advance(minutes=30)
        host.poll()

    berlin = ZoneInfo("Europe/Berlin")
    assert [
        f"{from_us(run['scheduled_for']).astimezone(berlin):%m-%d %H:%M}" for run in host.runs(job)
    ] == slots
    assert host.skips(job) == []


def test_fault_R31_an_interval_is_the_same_real_time_across_a_clock_change(
    host: StandingHost, clock: ManualClock
) -> None:
    clock.set("2026-10-24T22:00:00+00:00")
    job = host.add("even", every="2h", zone="Europe/Berlin")

    for _ in range(12):
        clock.advance(hours=2)
        host.beat()

    slots = [run["scheduled_for"] for run in host.runs(job)]
    assert {b - a for a, b in pairwise(slots)} == {2 * 3600 * 1_000_000}
    assert len(slots) == 12


def test_a_clock_that_leaps_two_years_opens_a_hold_that_a_person_lifts(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("minutely", cron="* * * * *")
    clock.advance(minutes=1)
    host.beat()

    clock.step(days=2 * 366)
    for _ in range(6):
        clock.advance(minutes=1)
        host.beat()
    during = host.words(job)
    holds = [hold["reason"] for hold in host.control.status()["holds"]]
    host.control.halt(False, "the clock is right")
    host.beat()

    assert during == [("08:01:00", "succeeded")]
    assert holds == ["clock"]
    assert len(host.runs(job)) == 2
    with host.ledger.read() as c:
        actions = [row["action"] for row in events.history(c, events.LEDGER)]
    assert actions == ["clock_absurd", "halt_off"]


def test_a_step_back_lets_jobs_wait_and_others_go_on(host: StandingHost, clock: ManualClock) -> None:
    ahead = host.add("ahead", cron="* * * * *")
    for _ in range(10):
        clock.advance(minutes=1)
        host.beat()
    last = host.job(ahead)["last_slot"]
    clock.step(minutes=-8)
    other = host.add("other", cron="* * * * *")

    for _ in range(4):
        clock.advance(minutes=1)
        host.beat()
    assert host.job(ahead)["last_slot"] == last
    assert len(host.runs(other)) == 4
    for _ in range(6):
        clock.advance(minutes=1)
        host.beat()

    slots = [run["scheduled_for"] for run in host.runs(ahead)]
    assert len(slots) == len(set(slots)) == 12
    assert text(slots[-1])[11:16] == "08:12"


def test_jitter_moves_the_start_and_never_the_slot_or_its_key(stage: Stage, clock: ManualClock) -> None:
    from schedcore.testing import Player

    player = Player()
    host = stage(player.plays())
    job = host.add("spread", cron="0 9 * * *", jitter=180)
    start = host.job(job)["next_run_at"]
    clock.set("2026-06-01T08:59:30+00:00")
    host.beat()

    sleep(host, clock, "2026-06-01T09:04:00+00:00")

    (run,) = host.runs(job)
    (ctx,) = player.seen
    assert ctx.run_key.endswith("|2026-06-01T09:00:00.000Z")
    assert 0 <= start - run["scheduled_for"] < 180 * 1_000_000
    assert 0 <= run["started_at"] - start < 1_000_000
    assert run["late"] == 0
