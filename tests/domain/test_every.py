"""Intervals keep their grid: section 9 of the cron page."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.domain.moments import firings, utc

from schedcore.domain.clock import DAY, HOUR, MINUTE, SECOND
from schedcore.domain.errors import Refused
from schedcore.domain.every import Every, parse_every
from schedcore.domain.trigger import Trigger

YEAR = 365 * DAY


def every(text: str, anchor: str) -> Every:
    return Every(parse_every(text, floor_s=1), utc(anchor))


@pytest.mark.parametrize(
    ("anchor", "right"), [("2026-03-08T06:30", "2026-03-08T08:30"), ("2026-11-01T04:30", "2026-11-01T06:30")]
)
def test_two_hours_stay_two_hours_over_a_clock_change(anchor: str, right: str):
    trigger = Trigger.parse({"every": "2h", "zone": "America/New_York"}, now_us=utc(anchor))

    assert trigger.next(utc(anchor)) == utc(right)


def test_a_restart_within_a_period_leaves_the_grid():
    trigger = Trigger.parse({"every": "1h"}, now_us=utc("2026-01-01T00:10"))
    stored = Trigger.from_dict(trigger.to_dict())

    assert stored.next(utc("2026-01-01T05:55")) == utc("2026-01-01T06:10")


def test_the_registration_itself_is_no_slot_and_a_given_anchor_is_one():
    now = utc("2026-01-01T00:00")
    implied = Trigger.parse({"every": "1h"}, now_us=now)
    explicit = Trigger.parse({"every": "1h", "anchor": "2026-01-01T00:00Z"}, now_us=now)

    assert implied.next(now - 1) == now + HOUR
    assert explicit.next(now - 1) == now
    assert implied.next(now - DAY) == now + HOUR
    assert explicit.next(now - DAY) == now


def test_after_a_slot_comes_the_next_one():
    rule = every("15m", "2026-01-01T00:00")

    assert rule.next(utc("2026-01-01T00:15")) == utc("2026-01-01T00:30")
    assert rule.next(utc("2026-01-01T00:15") - 1) == utc("2026-01-01T00:15")


def test_a_slow_run_of_four_minutes_leaves_ninety_six_slots_a_day():
    rule = every("15m", "2026-01-01T00:00")
    finished, slots = utc("2026-01-01T00:00"), 0
    while (slot := rule.next(finished)) <= utc("2026-01-02T00:00"):
        slots, finished = slots + 1, slot + 4 * MINUTE

    assert slots == 96


def test_a_year_offline_at_one_second_is_one_subtraction():
    rule = every("1s", "2026-01-01T00:00")
    now = utc("2026-01-01T00:00") + YEAR

    assert rule.count_between(utc("2026-01-01T00:00"), now) == 365 * 86_400
    assert rule.newest(utc("2026-01-01T00:00"), now, 2) == [now - SECOND, now]


def test_a_clock_set_back_names_the_same_slots():
    rule = every("1m", "2026-01-01T00:00")
    slot = rule.next(utc("2026-01-01T10:00:30"))

    assert rule.next(utc("2026-01-01T10:00:30") - 90 * SECOND) <= slot
    assert rule.next(slot - 1) == slot


def test_the_floor_is_a_minute_unless_the_host_lowers_it_to_a_second():
    with pytest.raises(Refused, match="1m"):
        parse_every("59s")
    assert parse_every("59s", floor_s=1) == 59
    with pytest.raises(Refused):
        parse_every("0s", floor_s=0)
    with pytest.raises(Refused):
        parse_every("PT0S", floor_s=0)


def test_the_ceiling_is_a_leap_year():
    assert parse_every("366d") == 366 * 86_400
    with pytest.raises(Refused, match="366d"):
        parse_every("367d")


def test_an_anchor_is_a_whole_millisecond():
    assert Trigger.parse({"every": "1h"}, now_us=1_234_567).anchor == 1_234_000
    with pytest.raises(Refused):
        Every(60, 1)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(1, 400 * 86_400),
    st.integers(0, 10**12).map(lambda ms: ms * 1000),
    st.booleans(),
    st.integers(-(10**15), 4 * 10**15),
    st.integers(0, 200),
)
def test_counting_and_looking_back_agree_with_walking(
    period: int, anchor: int, given_: bool, after: int, n: int
):
    rule = Every(period, anchor, given=given_)
    walked = firings(rule, after, n + 1)
    until = walked[-1] - 1 if walked else after

    assert rule.count_between(after, until) == n
    assert rule.newest(after, until, 5) == walked[:-1][-5:]
    assert rule.newest(after, until, 0) == []
    assert rule.count_between(until, after) == 0
    assert all((slot - anchor) % (period * SECOND) == 0 for slot in walked)


def test_two_intervals_are_the_same_when_the_grid_may_be_kept():
    first = Trigger.parse({"every": "30m"}, now_us=utc("2026-01-01"))
    again = Trigger.parse({"every": "PT30M", "jitter": 5}, now_us=utc("2026-02-02T02:02"))
    fixed = Trigger.parse({"every": "30m", "anchor": "2026-01-01T00:00Z"}, now_us=utc("2026-02-02"))

    assert first.same_times(again)
    assert not first.same_times(fixed)
    assert not first.same_times(Trigger.parse({"every": "31m"}, now_us=utc("2026-01-01")))
