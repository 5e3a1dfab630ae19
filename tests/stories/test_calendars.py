"""Days and nights under a calendar: what runs, what is dropped, what is moved (F-15, P-08)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from schedcore.domain.calendar import Calendar
from schedcore.domain.clock import text
from schedcore.domain.errors import Conflict, Refused
from schedcore.domain.zones import replaced_data, zone_bytes
from schedcore.spec import failed
from schedcore.testing import DyingLedger, ManualClock, Player, StandingHost
from tests.stories.conftest import Stage

OFFICE = Calendar("office", ("saturday", "sunday"))
NIGHT = Calendar("night", quiet=("22:00-07:00",))
FRIDAY_NOON = "2026-06-05T12:00:00+00:00"


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Lateness and paused jobs are meant here."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def beats(host: StandingHost, clock: ManualClock, n: int, **step: float) -> None:
    """So many beats, each after so much time (an hour)."""
    for _ in range(n):
        clock.advance(**(step or {"hours": 1}))
        host.beat()


def let_days_pass(clock: ManualClock, n: int, *hosts: StandingHost) -> None:
    """So many days of beats every three hours, which meet nine o'clock."""
    for _ in range(8 * n):
        clock.advance(hours=3)
        for host in hosts:
            host.beat()


def days(host: StandingHost, job: int) -> list[str]:
    """The slots that ran, to the minute."""
    return [text(run["scheduled_for"])[5:16] for run in host.runs(job)]


def rows(host: StandingHost, job: int) -> list[tuple[str, str, str, int]]:
    """Skipped rows: reason, first, last, how many."""
    return [
        (row["reason"], text(row["first_slot"])[5:16], text(row["last_slot"])[5:16], row["slots"])
        for row in host.skip_rows(job)
    ]


# -- dropped ----------------------------------------------------------------------------------------------


def test_a_closed_weekend_is_one_row_and_monday_runs(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("hourly", cron="0 * * * *", calendar="office")

    beats(host, clock, 11)
    assert text(host.job(job)["next_run_at"]) == "2026-06-08T00:00:00.000Z"
    beats(host, clock, 48)
    assert rows(host, job) == []
    beats(host, clock, 2)

    assert days(host, job)[-3:] == ["06-05T23:00", "06-08T00:00", "06-08T01:00"]
    assert rows(host, job) == [("calendar", "06-06T00:00", "06-07T23:00", 48)]
    assert [run["late"] for run in host.runs(job)] == [0] * 13


def test_nothing_wakes_for_slots_that_will_be_dropped(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-05T23:59:30+00:00")
    host = stage(calendars=[OFFICE], beat=7 * 86_400, lease=900)
    host.add("minutely", cron="* * * * *", calendar="office")
    host.beat()

    assert host.wakes_in() > 100
    assert host.engine.counters.opened == 0


def test_asleep_over_a_weekend_what_was_dropped_is_not_called_late(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-05T18:30:00+00:00")
    host = stage(calendars=[OFFICE])
    job = host.add("hourly", cron="0 * * * *", calendar="office")

    clock.set("2026-06-08T09:30:00+00:00")
    host.beat()

    assert days(host, job) == ["06-08T09:00"]
    assert rows(host, job) == [
        ("coalesced", "06-05T19:00", "06-05T23:00", 5),
        ("calendar", "06-06T00:00", "06-07T23:00", 48),
        ("coalesced", "06-08T00:00", "06-08T08:00", 9),
    ]
    assert {row["run_id"] for row in host.skip_rows(job)} == {None, host.runs(job)[0]["id"]}


def test_hours_are_those_of_tokyo_on_a_host_in_utc(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-02T00:00:00+00:00")
    host = stage(calendars=[NIGHT])
    job = host.add("tokyo", cron="0 */3 * * *", zone="Asia/Tokyo", calendar="night")

    beats(host, clock, 24)

    assert days(host, job) == [f"06-02T{hour:02}:00" for hour in (3, 6, 9, 12)] + ["06-03T00:00"]
    assert rows(host, job) == [("calendar", "06-02T15:00", "06-02T21:00", 3)]
    answer = host.control.why("tokyo", "2026-06-03T03:00")
    assert (answer["verdict"], answer["reason"]) == ("skipped", "calendar")
    assert "22:00-07:00 is closed in calendar night" in answer["sentence"]


def test_a_closed_year_of_minutes_is_one_row_and_no_work(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-12-31T23:58:30+00:00")
    year = Calendar("year", tuple(f"2027-{month:02}-{day:02}" for month, day in _days_of_2027()))
    host = stage(calendars=[year])
    job = host.add("minutely", cron="* * * * *", calendar="year")
    beats(host, clock, 2, minutes=1)

    clock.set("2028-01-01T00:00:10+00:00")
    host.beat()

    assert days(host, job) == ["12-31T23:59", "01-01T00:00"]
    assert rows(host, job) == [("calendar", "01-01T00:00", "12-31T23:59", 525_600)]


def _days_of_2027() -> Iterator[tuple[int, int]]:
    lengths = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return ((month, day) for month, length in enumerate(lengths, 1) for day in range(1, length + 1))


def test_a_pause_at_a_weekend_counts_what_came_before_it_as_dropped(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-05T22:30:00+00:00")
    host = stage(calendars=[OFFICE])
    job = host.add("hourly", cron="0 * * * *", calendar="office")
    beats(host, clock, 12)  # until Saturday 10:30

    host.control.pause("hourly", reason="holiday")
    clock.set("2026-06-09T10:30:00+00:00")
    host.control.resume("hourly")
    beats(host, clock, 1)

    assert rows(host, job) == [
        ("calendar", "06-06T00:00", "06-06T10:00", 11),
        ("paused", "06-06T11:00", "06-09T10:00", 72),
    ]
    assert [row["definition"] for row in host.skip_rows(job)] == [1, 2]
    assert days(host, job) == ["06-05T23:00", "06-09T11:00"]


@pytest.mark.parametrize("change", [{"retry_delay": 90}, {"cron": "30 * * * *"}, {"on_closed": "move"}])
def test_an_edit_at_a_weekend_leaves_what_was_dropped_with_the_definition_of_its_time(
    stage: Stage, clock: ManualClock, change: dict[str, Any]
) -> None:
    clock.set("2026-06-05T22:30:00+00:00")
    host = stage(calendars=[OFFICE])
    job = host.add("hourly", cron="0 * * * *", calendar="office")
    beats(host, clock, 12)

    host.control.edit("hourly", change)

    assert rows(host, job) == [("calendar", "06-06T00:00", "06-06T10:00", 11)]
    assert host.skip_rows(job)[0]["definition"] == 1
    clock.set("2026-06-08T00:45:00+00:00")
    host.beat()
    assert days(host, job)[1:] == ["06-08T00:30" if "cron" in change else "06-08T00:00"]


def test_an_edit_opens_what_waits_for_its_jitter_and_counts_what_was_dropped_around_it(
    stage: Stage, clock: ManualClock
) -> None:
    clock.set("2026-06-05T23:25:00+00:00")
    host = stage(calendars=[Calendar("half", quiet=("23:30-00:30",))])
    jobs = [host.add(f"often-{n}", cron="*/10 * * * *", calendar="half", jitter=180) for n in range(6)]
    put_off, job = max((host.job(job)["next_run_at"], job) for job in jobs)
    assert text(put_off)[11:16] >= "00:30"
    clock.set(text(put_off - 2_000_000)[:19] + "+00:00")  # its slot has come, and waits

    host.control.edit(host.job(job)["key"], {"cron": "*/10 * * * *", "jitter": 0})

    assert rows(host, job) == [("calendar", "06-05T23:30", "06-06T00:20", 6)]
    assert days(host, job) == ["06-06T00:30"]


def test_a_probe_is_a_slot_that_the_calendar_keeps(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-05T20:30:00+00:00")
    player = Player(failed("exit_code", exit_code=1))
    host = stage(player.plays(), calendars=[OFFICE])
    job = host.add(
        "hourly", cron="0 * * * *", calendar="office", breaker=1, breaker_cooldown=6 * 3600, attempts=1
    )
    beats(host, clock, 1)

    assert host.job(job)["state"] == "paused"
    assert text(host.job(job)["next_run_at"]) == "2026-06-08T00:00:00.000Z"
    beats(host, clock, 55)

    assert days(host, job)[:2] == ["06-05T21:00", "06-08T00:00"]
    assert rows(host, job) == [("breaker", "06-05T22:00", "06-07T23:00", 50)]
    assert host.job(job)["state"] == "active"


def test_a_late_probe_does_not_run_a_slot_that_is_dropped(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-05T16:30:00+00:00")
    player = Player(failed("exit_code", exit_code=1))
    host = stage(player.plays(), calendars=[OFFICE])
    job = host.add(
        "hourly", cron="0 * * * *", calendar="office", breaker=1, breaker_cooldown=5 * 3600, attempts=1
    )
    beats(host, clock, 1)

    clock.set("2026-06-06T09:30:00+00:00")  # asleep from the probe's time on
    host.beat()

    assert days(host, job) == ["06-05T17:00", "06-05T23:00"]


def test_a_count_is_used_up_by_what_is_dropped_and_the_job_is_done(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-05T21:30:00+00:00")
    host = stage(calendars=[OFFICE])
    job = host.add("few", cron="0 */2 * * *", calendar="office", count=26)
    beats(host, clock, 60)

    assert days(host, job) == ["06-05T22:00", "06-08T00:00"]
    assert rows(host, job) == [("calendar", "06-06T00:00", "06-07T22:00", 24)]
    assert (host.job(job)["state"], host.job(job)["slots_left"]) == ("done", 0)


def test_a_job_of_which_only_dropped_slots_are_left_is_done(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-05T21:30:00+00:00")
    host = stage(calendars=[OFFICE])
    trigger = {"cron": "0 * * * *", "not_after": "2026-06-06T12:00Z", "calendar": "office"}
    job = host.add("ends", trigger=trigger)
    beats(host, clock, 3)

    assert days(host, job) == ["06-05T22:00", "06-05T23:00"]
    assert (host.job(job)["state"], host.job(job)["next_run_at"]) == ("done", None)
    answer = host.control.why("ends", "2026-06-06T05:00Z")
    assert (answer["verdict"], answer["reason"]) == ("not_a_slot", "done")


def test_a_manual_run_asks_no_calendar(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-06T10:30:00+00:00")
    host = stage(calendars=[OFFICE])
    job = host.add("hourly", cron="0 * * * *", calendar="office")

    host.control.run("hourly")
    host.beat()

    assert host.words(job) == [("10:30:00", "succeeded")]


def test_a_backfill_of_a_weekend_leaves_out_what_was_dropped(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-05T20:30:00+00:00")
    host = stage(calendars=[OFFICE])
    job = host.add("hourly", cron="0 * * * *", calendar="office")
    clock.set("2026-06-08T02:30:00+00:00")
    host.beat()

    found = host.control.backfill("hourly", "2026-06-05T21:00Z", "2026-06-08T02:00Z")
    host.beat()

    assert [slot[5:16] for slot in found["slots"]] == [
        "06-05T21:00", "06-05T22:00", "06-05T23:00", "06-08T00:00", "06-08T01:00",
    ]  # fmt: skip
    assert (found["answered"], found["left"]) == (1, 0)
    assert len(days(host, job)) == 6


def test_new_zone_data_leave_what_was_dropped_with_the_definition_of_its_time(
    stage: Stage, clock: ManualClock
) -> None:
    clock.set("2026-06-05T21:30:00+00:00")
    host = stage(calendars=[OFFICE])
    trigger = {"every": "1h", "zone": "Europe/Berlin", "calendar": "office"}
    job = host.add("local", trigger=trigger)
    beats(host, clock, 12)  # until Saturday, 11:30 in Berlin
    host.stop()

    with replaced_data("9999z", {"Europe/Berlin": zone_bytes("Etc/GMT-9")}):
        host = stage(calendars=[OFFICE])

        assert [(row[0], row[3]) for row in rows(host, job)] == [("calendar", 12)]
        assert [row["definition"] for row in host.skip_rows(job)] == [1]
        assert [d["tz_version"] for d in host.definitions(job)][-1] == "9999z"
        assert text(host.job(job)["next_run_at"]) == "2026-06-07T15:30:00.000Z"
        host.control.remove("local")


# -- moved ------------------------------------------------------------------------------------------------


def test_a_slot_of_a_holiday_runs_once_on_the_next_open_day(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-08-14T12:00:00+00:00")
    host = stage(calendars=[OFFICE])
    other = host.beside()
    job = host.add("pay", cron="0 9 15 * *", calendar="office", on_closed="move")
    assert text(host.job(job)["next_run_at"]) == "2026-08-17T09:00:00.000Z"

    let_days_pass(clock, 5, host, other)

    assert days(host, job) == ["08-17T09:00"]
    assert rows(host, job) == []
    other.stop()


def test_slots_that_meet_run_once(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office", on_closed="move")

    let_days_pass(clock, 4, host)

    assert days(host, job) == ["06-08T09:00", "06-09T09:00"]
    assert rows(host, job) == []


def test_asleep_over_a_holiday_the_moved_slot_is_caught_up_once(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("weekly", cron="0 9,15 * * 6", calendar="office", on_closed="move")

    clock.set("2026-06-09T07:00:00+00:00")
    host.beat()
    clock.advance(days=20)
    host.beat()

    assert days(host, job) == ["06-08T15:00", "06-22T15:00"]
    assert rows(host, job) == [
        ("coalesced", "06-08T09:00", "06-08T09:00", 1),
        ("coalesced", "06-15T09:00", "06-22T09:00", 3),
    ]


def test_where_a_slot_was_moved_is_told_by_why(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    host.add("weekly", cron="0 9 * * 6", calendar="office", on_closed="move")
    clock.set("2026-06-08T09:00:00+00:00")
    host.beat()

    here = host.control.why("weekly", "2026-06-08T09:00Z")
    away = host.control.why("weekly", "2026-06-06T09:00Z")

    assert here["verdict"] == "run"
    assert "moved from 2026-06-06T09:00:00+00:00, because Saturday is closed" in here["sentence"]
    assert (away["verdict"], away["reason"], away["nearest"]) == (
        "not_a_slot",
        "calendar",
        "2026-06-08T09:00:00.000Z",
    )
    assert "it was moved to 2026-06-08T09:00:00+00:00" in away["sentence"]


def test_a_host_that_dies_anywhere_runs_a_moved_slot_once_and_counts_dropped_ones_once(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    clock.set("2026-06-05T20:30:00+00:00")
    player = Player()
    witness = stage(player.plays(), calendars=[OFFICE])
    moved = witness.add("moved", cron="0 9 * * 6", calendar="office", on_closed="move")
    dropped = witness.add("dropped", cron="0 9 * * *", calendar="office")
    for n in range(1, 12):
        host = stage(player.plays(), calendars=[OFFICE], ledger=dying)
        clock.set("2026-06-08T09:00:00+00:00" if n == 1 else f"2026-06-08T09:{n:02}:00+00:00")
        dying.fail("commit", n % 3 + 1, after=n % 2 == 0)
        host.beat()
        dying.fail("commit", 10**9)
        host.stop()
    witness.beat()

    assert days(witness, moved) == days(witness, dropped) == ["06-08T09:00"]
    assert rows(witness, moved) == []
    assert rows(witness, dropped) == [("calendar", "06-06T09:00", "06-07T09:00", 2)]
    assert len(player.seen) == 2


# -- a calendar that changes, or goes ---------------------------------------------------------------------


def test_a_calendar_that_changes_holds_from_the_next_start_on(stage: Stage, clock: ManualClock) -> None:
    clock.set("2026-06-05T20:30:00+00:00")
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office")
    beats(host, clock, 16)  # until Saturday 12:30
    host.stop()

    host = stage(calendars=[Calendar("office", ("saturday", "2026-06-08"))])
    let_days_pass(clock, 3, host)

    assert days(host, job) == ["06-07T09:00", "06-09T09:00"]
    assert rows(host, job) == [
        ("calendar", "06-06T09:00", "06-06T09:00", 1),
        ("calendar", "06-08T09:00", "06-08T09:00", 1),
    ]
    assert [row["definition"] for row in host.skip_rows(job)] == [1, 2]
    (changed,) = [event for event in host.control.history("daily") if event["action"] == "calendar"]
    assert changed["reason"] == "calendar 'office' says something else now"
    assert changed["changes"]["trigger.calendar"][1]["closed"] == ["saturday", "2026-06-08"]


def test_what_was_due_before_a_calendar_changed_is_decided_as_it_was_then(
    stage: Stage, clock: ManualClock
) -> None:
    clock.set("2026-06-04T12:00:00+00:00")
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office")
    host.stop()

    clock.set("2026-06-08T12:00:00+00:00")  # nobody lived from Thursday to Monday
    host = stage(calendars=[Calendar("office", ("monday", "friday"))])
    beats(host, clock, 24)

    assert days(host, job) == ["06-08T09:00", "06-09T09:00"]
    assert rows(host, job) == [
        ("coalesced", "06-05T09:00", "06-05T09:00", 1),
        ("calendar", "06-06T09:00", "06-07T09:00", 2),
    ]
    assert [run["definition"] for run in host.runs(job)] == [1, 2]


def test_a_calendar_that_says_the_same_changes_nothing(stage: Stage, clock: ManualClock) -> None:
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office")
    host.stop()

    host = stage(calendars=[Calendar("office", ("sun", "sat", "sun"))])

    assert len(host.definitions(job)) == 1


def test_a_moved_slot_that_is_to_come_follows_the_calendar(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("weekly", cron="0 9 * * 6", calendar="office", on_closed="move")
    clock.set("2026-06-07T12:00:00+00:00")
    host.stop()

    host = stage(calendars=[Calendar("office", ("saturday", "sunday", "2026-06-08"))])
    let_days_pass(clock, 3, host)

    assert days(host, job) == ["06-09T09:00"]


def test_a_paused_job_follows_its_calendar_too(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office")
    host.control.pause("daily")
    host.stop()

    host = stage(calendars=[Calendar("office", ("monday",))])
    clock.set("2026-06-07T12:00:00+00:00")
    host.control.resume("daily")
    let_days_pass(clock, 2, host)

    assert days(host, job) == ["06-09T09:00"]
    assert [row[0] for row in rows(host, job)] == ["paused", "calendar"]


def test_a_job_whose_calendar_is_gone_is_paused_and_says_why(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office")
    plain = host.add("plain", cron="0 9 * * *")
    host.stop()

    host = stage()
    let_days_pass(clock, 1, host)

    assert (host.job(job)["state"], host.job(plain)["state"]) == ("paused", "active")
    assert host.job(job)["state_reason"] == (
        "invalid: its calendar 'office' is declared by no host; declare it again, or edit the job"
    )
    assert days(host, job) == []
    with pytest.raises(Conflict, match="cannot be read"):
        host.control.resume("daily")
    with pytest.raises(Refused, match="declared by no host"):
        host.control.edit("daily", {"name": "Every day"})


def test_a_job_whose_calendar_comes_back_goes_on(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office")
    host.stop()
    stage().stop()
    clock.set("2026-06-10T12:00:00+00:00")

    host = stage(calendars=[Calendar("office", ("thursday",))])
    let_days_pass(clock, 3, host)

    assert host.job(job)["state"] == "active"
    assert days(host, job) == ["06-12T09:00", "06-13T09:00"]
    assert rows(host, job) == [
        ("paused", "06-06T09:00", "06-10T09:00", 5),
        ("calendar", "06-11T09:00", "06-11T09:00", 1),
    ]
    actions = [event["action"] for event in host.control.history("daily")]
    assert actions == ["create", "pause", "calendar", "resume"]


def test_a_job_may_be_given_another_calendar_or_none_when_its_own_is_gone(
    stage: Stage, clock: ManualClock
) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    one, other = (host.add(key, cron="0 9 * * *", calendar="office") for key in ("one", "other"))
    host.stop()
    host = stage(calendars=[NIGHT])

    host.control.edit("one", {"calendar": None})
    host.control.edit("other", {"calendar": "night"})
    beats(host, clock, 24)

    assert days(host, one) == days(host, other) == ["06-06T09:00"]
    assert "calendar" not in host.control.show("one")["trigger"]


def test_a_calendar_that_another_live_host_declares_is_not_gone(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office")
    host.beat()

    other = stage()
    other.beat()

    assert host.job(job)["state"] == "active"


def test_a_host_without_the_calendar_runs_what_the_definition_says(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office")
    host.beat()
    other = stage()
    host.stop()

    let_days_pass(clock, 4, other)

    assert days(other, job) == ["06-08T09:00", "06-09T09:00"]
    assert rows(other, job) == [("calendar", "06-06T09:00", "06-07T09:00", 2)]


def test_a_paused_job_is_not_resumed_while_no_live_host_has_its_calendar(
    stage: Stage, clock: ManualClock
) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    job = host.add("daily", cron="0 9 * * *", calendar="office")
    host.control.pause("daily")
    host.stop()
    host = stage()
    host.beat()

    with pytest.raises(Conflict) as caught:
        host.control.resume("daily")

    assert caught.value.code == "unknown_calendar"
    assert host.job(job)["state"] == "paused"


def test_a_calendar_that_leaves_a_job_no_slot_pauses_it_and_says_so(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE])
    weekly = host.add("weekly", cron="0 9 * * 3", calendar="office")
    once = host.add("once", at="2026-06-10T09:00Z", calendar="office")
    host.stop()

    host = stage(calendars=[Calendar("office", ("wednesday",))])
    let_days_pass(clock, 6, host)
    for job in (weekly, once):
        assert host.job(job)["state"] == "paused"
        assert "'office' drops every slot that is left" in host.job(job)["state_reason"]
    host.stop()
    clock.set("2026-06-16T12:00:00+00:00")
    host = stage(calendars=[OFFICE])
    beats(host, clock, 24)

    assert (host.job(weekly)["state"], days(host, weekly)) == ("active", ["06-17T09:00"])
    assert (host.job(once)["state"], days(host, once)) == ("paused", [])


def test_a_job_that_has_used_up_its_count_is_left_to_end(stage: Stage, clock: ManualClock) -> None:
    clock.set(FRIDAY_NOON)
    host = stage(calendars=[OFFICE], hold=True)
    job = host.add("once", cron="0 13 * * *", count=1, calendar="office")
    beats(host, clock, 1)
    beside = stage(calendars=[Calendar("office", ("friday",))])
    assert host.job(job)["state"] == "active"

    host.finish()
    host.beat()

    assert host.job(job)["state"] == "done"
    beside.stop()


# -- dates ------------------------------------------------------------------------------------------------


def test_report_r46_a_date_reminder_fires_at_the_day_time_of_its_zone(
    stage: Stage, clock: ManualClock
) -> None:
    clock.set("2026-07-04T12:00:00+00:00")
    host = stage()
    job = host.add("reminder", at="2026-07-05", day_time="09:00", zone="America/New_York")
    with pytest.raises(Refused, match="names no time"):
        host.add("midnight", at="2026-07-05", zone="America/New_York")

    beats(host, clock, 30)

    assert days(host, job) == ["07-05T13:00"]
    assert host.job(job)["state"] == "done"


def test_report_r46_a_date_reminder_on_a_closed_day_comes_on_the_next_open_one(
    stage: Stage, clock: ManualClock
) -> None:
    clock.set("2026-07-03T12:00:00+00:00")
    host = stage(calendars=[Calendar("office", ("saturday", "sunday"), day_time="08:30")])
    job = host.add("reminder", at="2026-07-05", calendar="office", on_closed="move", zone="Asia/Tokyo")

    let_days_pass(clock, 4, host)

    assert days(host, job) == ["07-05T23:30"]  # Monday, 08:30 in Tokyo
