"""Public reports on other schedulers that concern triggers alone; the ids are those of the case page."""

from __future__ import annotations

import pytest
from tests.domain.moments import firings, utc

from schedcore.domain.calendar import Calendars
from schedcore.domain.clock import DAY, HOUR, MINUTE, SECOND
from schedcore.domain.errors import Refused
from schedcore.domain.preview import preview
from schedcore.domain.trigger import Trigger


def cron(text: str, zone: str = "UTC", **more: str) -> Trigger:
    return Trigger.parse({"cron": text, "zone": zone, **more}, now_us=utc("2000-01-01"))


def test_report_S01_a_repeated_half_hour_is_never_returned_for_ever():
    halves = firings(cron("30 * * * *", "Europe/Helsinki"), utc("2017-10-29T00:15"), 3)

    assert halves == [utc("2017-10-29T00:30"), utc("2017-10-29T01:30"), utc("2017-10-29T02:30")]


@pytest.mark.parametrize(
    ("gap", "right"),
    [("at_once", "2013-03-10T07:00"), ("shift", "2013-03-10T07:00"), ("skip", "2013-03-11T06:00")],
)
def test_report_S02_a_wall_time_that_does_not_exist_is_never_returned(gap: str, right: str):
    assert cron("0 2 * * *", "US/Eastern", gap=gap).next(utc("2013-03-10T05:00")) == utc(right)


def test_report_S04_a_day_is_a_day_of_the_calendar_and_not_24_hours():
    weekdays = cron("0 0 * * 1-5", "US/Central")
    noon = cron("0 12 * * 0", "Europe/Berlin")

    assert weekdays.next(utc("2021-03-12T06:00:01")) == utc("2021-03-15T05:00")
    assert noon.next(utc("2022-03-24T11:00")) == utc("2022-03-27T10:00")


def test_report_S05_an_hourly_job_loses_nothing_in_the_repeated_hour():
    hourly = cron("0 * * * *", "US/Pacific")

    assert hourly.next(utc("2026-11-01T08:00")) == utc("2026-11-01T09:00")


def test_report_S07_weekdays_count_from_sunday_and_seven_is_sunday():
    sunday = cron("0 0 * * 0")
    both = cron("15 10,12 * * 1,7")
    stepped = cron("0 0 * * */2")

    assert sunday.next(utc("2026-01-02")) == utc("2026-01-04")
    assert firings(both, utc("2026-01-02"), 4) == [
        utc("2026-01-04T10:15"),
        utc("2026-01-04T12:15"),
        utc("2026-01-05T10:15"),
        utc("2026-01-05T12:15"),
    ]
    assert stepped.next(utc("2026-01-02")) == utc("2026-01-03")


def test_report_S08_a_clock_that_steps_names_no_slot_twice_and_counts_a_step_forward():
    minutely = cron("* * * * *")
    slot = utc("2026-06-15T12:00")

    for step in (-90 * SECOND, -8 * HOUR):
        assert minutely.next(slot) == slot + MINUTE
        assert minutely.count_between(slot, slot + step) == 0
        assert minutely.newest(slot, slot + step, 5) == []
    assert minutely.count_between(slot, slot + DAY) == 1_440


def test_report_S16_fourteen_days_of_five_seconds_are_counted_and_not_walked():
    ticks = Trigger.parse({"every": "5s"}, now_us=utc("2026-01-01"), floor_s=1)
    down, up = utc("2026-02-01"), utc("2026-02-15")

    assert ticks.count_between(down, up) == 241_920
    assert ticks.newest(down, up, 2) == [up - 5 * SECOND, up]
    assert cron("* * * * *").count_between(down, down + 101 * MINUTE) == 101


def test_report_S17_a_weekly_interval_keeps_its_phase_through_frequent_restarts():
    created = utc("2026-01-01T10:00")
    stored = Trigger.parse({"every": "1w"}, now_us=created).to_dict()
    fired, last = [], created
    for restart in range(1, 12):
        now = created + restart * 2 * DAY
        weekly = Trigger.from_dict(stored)
        fired += weekly.newest(last, now, 10)
        last = max([last, *fired])

    assert fired == [created + n * 7 * DAY for n in (1, 2, 3)]


def test_report_S17_a_yearly_job_that_was_down_over_its_first_time_still_owes_it():
    created = utc("2026-01-01")
    yearly = cron("0 9 1 3 *")

    assert yearly.newest(yearly.owed_from(created), utc("2026-04-01"), 1) == [utc("2026-03-01T09:00")]


def test_report_S19_jitter_is_the_same_after_every_restart_and_zero_when_none_is_configured():
    stored = Trigger.parse({"cron": "0 0,12 * * *", "jitter": 180}, now_us=0).to_dict()
    slot = utc("2026-01-01T12:00")

    drawn = {Trigger.from_dict(stored).jitter_of("job-1", slot) for _ in range(20)}

    assert len(drawn) == 1
    assert 0 < drawn.pop() < 180 * SECOND
    assert cron("0 0,12 * * *").jitter_of("job-1", slot) == 0


def test_report_R20_three_slots_of_a_sleep_are_one_run_and_two_counted():
    daily = cron("0 4 * * *")
    asleep, awake = utc("2026-06-15T05:00"), utc("2026-06-18T05:00")

    assert daily.newest(asleep, awake, 1) == [utc("2026-06-18T04:00")]
    assert daily.count_between(asleep, awake) == 3


def test_report_R26_a_weekday_job_has_no_slot_on_a_saturday():
    weekdays = cron("0 9 * * 1-5")
    saturday = utc("2026-06-20T15:00")

    assert weekdays.newest(utc("2026-06-19T08:00"), saturday, 5) == [utc("2026-06-19T09:00")]
    assert not weekdays.is_slot(utc("2026-06-20T09:00"))


def test_report_R40_half_past_two_fires_once_at_both_changes():
    kept = cron("30 2 * * *", "Europe/Berlin")

    assert kept.count_between(utc("2026-03-28T23:00"), utc("2026-03-29T22:00")) == 1
    assert kept.next(utc("2026-03-28T23:00")) == utc("2026-03-29T01:00")
    assert kept.newest(utc("2026-10-24T22:00"), utc("2026-10-25T23:00"), 9) == [utc("2026-10-25T00:30")]


def test_report_R40_with_skip_the_day_has_no_slot_and_the_preview_says_so():
    skipping = cron("30 2 * * *", "Europe/Berlin", gap="skip")

    assert skipping.count_between(utc("2026-03-28T23:00"), utc("2026-03-29T22:00")) == 0
    slot = preview(skipping, utc("2026-03-28T23:00"), 1)[0]
    assert slot.us == utc("2026-03-30T00:30")
    assert slot.note == "02:30 does not exist on 2026-03-29 and has no slot"


def test_report_R41_three_minutes_from_now_are_three_minutes():
    now = utc("2026-06-15T12:00")

    assert Trigger.parse({"in": "3m"}, now_us=now).next(now) == now + 3 * MINUTE


def test_report_R43_a_one_shot_has_a_year_and_does_not_come_back():
    once = Trigger.parse({"at": "2026-03-14T15:00", "zone": "Europe/Berlin"}, now_us=utc("2026-01-01"))
    slot = utc("2026-03-14T14:00")

    assert once.kind == "at"
    assert once.next(utc("2026-01-01")) == slot
    assert once.next(slot) is None
    assert once.count_between(slot, utc("2100-01-01")) == 0


def test_report_R44_a_slow_run_moves_no_slot():
    every = Trigger.parse({"every": "15m"}, now_us=utc("2026-01-01"))
    at, slots = utc("2026-01-01"), []
    while len(slots) < 96:
        at = every.next(at) or 0
        slots.append(at)
        at += 4 * MINUTE

    assert slots == [utc("2026-01-01") + n * 15 * MINUTE for n in range(1, 97)]


def test_report_R46_a_date_without_a_time_is_never_midnight():
    with pytest.raises(Refused, match="names no time"):
        Trigger.parse({"at": "2026-05-03"}, now_us=utc("2026-01-01"))


def test_report_R46_a_date_without_a_time_has_a_day_level_rule_where_one_is_given():
    day = {"at": "2026-05-03", "zone": "Asia/Tokyo"}
    from_a_source = Trigger.parse(day, now_us=utc("2026-01-01"), calendars=Calendars(dated=True))
    said = Trigger.parse({**day, "day_time": "18:30"}, now_us=utc("2026-01-01"))

    assert firings(from_a_source, 0, 2) == [utc("2026-05-03T00:00Z")]  # nine in the morning in Tokyo
    assert firings(said, 0, 2) == [utc("2026-05-03T09:30Z")]
