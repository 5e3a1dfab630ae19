"""Slots that are moved out of closed time: the moved instants are the slots (F-15)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from tests.domain.closed import NIGHT, WEEKEND, Counted, under
from tests.domain.moments import firings, utc

from schedcore.domain.calendar import Calendar
from schedcore.domain.clock import DAY, HOUR, MINUTE
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.every import Every
from schedcore.domain.moved import Moved
from schedcore.domain.open_hours import OpenHours

MONDAY = utc("2026-06-01")


def test_a_slot_of_a_holiday_is_the_same_time_of_the_next_open_day():
    monthly = under("move", cron="0 9 15 * *")

    assert firings(monthly, utc("2026-07-20"), 3) == [
        utc("2026-08-17T07:00Z"),  # the 15th is a Saturday
        utc("2026-09-15T07:00Z"),
        utc("2026-10-15T07:00Z"),
    ]


def test_slots_that_meet_are_one_slot():
    daily = under("move", cron="0 9 * * *")

    assert firings(daily, utc("2026-06-04T12:00Z"), 3) == [
        utc("2026-06-05T07:00Z"),
        utc("2026-06-08T07:00Z"),
        utc("2026-06-09T07:00Z"),
    ]
    assert daily.count_between(utc("2026-06-04T12:00Z"), utc("2026-06-09T12:00Z")) == 3


def test_each_slot_of_a_closed_day_keeps_its_time_of_day():
    twice = under("move", cron="0 9,15 * * 6")

    assert firings(twice, utc("2026-06-05"), 2) == [utc("2026-06-08T07:00Z"), utc("2026-06-08T13:00Z")]


def test_all_slots_of_a_quiet_night_are_one_at_its_end():
    often = under("move", closed=[], quiet=[NIGHT], cron="*/15 * * * *", zone="UTC")

    slots = firings(often, MONDAY + 21 * HOUR + 44 * MINUTE, 3)

    assert slots == [
        MONDAY + 21 * HOUR + 45 * MINUTE,
        MONDAY + DAY + 7 * HOUR,
        MONDAY + DAY + 7 * HOUR + 15 * MINUTE,
    ]


def test_a_slot_may_be_moved_behind_one_that_was_later():
    rare = under("move", cron="0 23 * * 6", quiet=[])
    both = under("move", cron="0 8,23 * * 6,1")

    assert firings(rare, utc("2026-06-05"), 1) == [utc("2026-06-08T21:00Z")]
    assert firings(both, utc("2026-06-05"), 3) == [
        utc("2026-06-08T06:00Z"),
        utc("2026-06-08T21:00Z"),
        utc("2026-06-15T06:00Z"),
    ]


def test_what_was_moved_in_before_the_instant_is_still_to_come():
    weekly = under("move", cron="0 9 * * 6")

    assert weekly.next(utc("2026-06-07T12:00Z")) == utc("2026-06-08T07:00Z")


def test_a_moved_slot_knows_where_it_comes_from_and_where_another_went():
    weekly = under("move", cron="0 9 * * 6", closed=["2026-06-06"])
    was, there = utc("2026-06-06T07:00Z"), utc("2026-06-07T07:00Z")

    here, away = weekly.closing(there), weekly.closing(was)

    assert here is not None
    assert away is not None
    assert (here.code, here.entry, here.other) == ("moved_here", "2026-06-06", was)
    assert (away.code, away.entry, away.other) == ("moved_away", "2026-06-06", there)
    assert (weekly.is_slot(there), weekly.is_slot(was)) == (True, False)
    assert weekly.closing(utc("2026-06-13T07:00Z")) is None


def test_a_slot_that_was_there_anyway_was_not_moved():
    daily = under("move", cron="0 9 * * *")

    assert daily.closing(utc("2026-06-08T07:00Z")) is None


def test_bounds_judge_the_instants_of_the_rule_and_not_where_they_go():
    bounded = under("move", cron="0 9 * * 6", not_before="2026-06-06T00:00", not_after="2026-06-06T23:59")

    assert firings(bounded, utc("2026-01-01"), 5) == [utc("2026-06-08T07:00Z")]
    assert bounded.newest(0, utc("2027-01-01"), 3) == [utc("2026-06-08T07:00Z")]


def test_a_one_shot_on_a_holiday_is_due_on_the_next_open_day():
    once = under("move", at="2026-06-06T10:00", now=MONDAY)

    assert firings(once, MONDAY, 2) == [utc("2026-06-08T08:00Z")]
    assert once.first_after_creation(MONDAY) == utc("2026-06-08T08:00Z")


def test_a_clock_change_is_told_of_a_slot_that_stayed_and_of_no_moved_one():
    gap = under("move", cron="30 2 * * *", closed=["2026-03-28"])

    assert isinstance(gap.touched(utc("2026-03-29T01:00Z")), ClockNote)
    assert under("move", cron="30 2 28 3 *", closed=["2026-03-28"]).touched(utc("2026-03-29T01:00Z")) is None


def a_closed_year() -> list[str]:
    return [(date(2026, 1, 1) + timedelta(days=n)).isoformat() for n in range(365)]


@pytest.mark.parametrize(
    ("closed", "quiet", "most"),
    [(a_closed_year(), [], 1_500), ([], [NIGHT], 3_000), (WEEKEND, [NIGHT], 3_000)],
)
def test_a_year_of_minutes_is_counted_without_asking_for_each(closed: list[str], quiet: list[str], most: int):
    line = Counted(Every(60, utc("2025-01-01"), given=True))
    moved = Moved(line, OpenHours(Calendar("office", tuple(closed), tuple(quiet)), "UTC"), even=True)

    moved.count_between(utc("2026-01-01") - 1, utc("2027-01-01"))
    moved.newest(utc("2026-01-01"), utc("2026-12-31"), 1)
    moved.next(utc("2026-06-01"))

    assert line.asked < most < 525_600


def test_minutes_that_meet_on_the_first_open_day_of_a_year_are_its_own():
    minutely = under("move", closed=a_closed_year(), cron="* * * * *", zone="UTC")

    assert minutely.count_between(utc("2025-12-31T23:59"), utc("2027-01-01T23:59")) == 24 * 60
    assert minutely.next(utc("2025-12-31T23:59")) == utc("2027-01-01")
