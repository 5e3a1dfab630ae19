"""What becomes of slots where a calendar drops some: each is decided once, and rows tell the two sorts apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.closed import NIGHT, NOW, WEEKEND, under
from tests.domain.moments import firings, utc

from schedcore.domain.clock import DAY, HOUR, MINUTE
from schedcore.domain.errors import Refused
from schedcore.domain.plan import Plan, Skip, plan
from schedcore.domain.plan_kept import MOST_ROWS, plan_trigger
from schedcore.domain.trigger import Trigger

FRIDAY, SATURDAY, SUNDAY, MONDAY = (utc(f"2026-06-0{n}") for n in (5, 6, 7, 8))


def hourly(**more: Any) -> Trigger:
    return under("drop", cron="0 * * * *", zone="UTC", **more)


def decide(trigger: Trigger, last_slot: int, now: int, **more: Any) -> Plan:
    return plan_trigger(trigger, last_slot=last_slot, anchor=0, now=now, **more)


def test_a_dropped_slot_waits_for_the_next_one_that_is_kept():
    saturday = decide(hourly(), FRIDAY + 23 * HOUR, SATURDAY + 10 * HOUR)

    assert saturday == Plan((), (), FRIDAY + 23 * HOUR, MONDAY, None, MONDAY)


def test_a_closed_weekend_is_one_row_beside_the_run_of_monday():
    monday = decide(hourly(), FRIDAY + 23 * HOUR, MONDAY + MINUTE)

    assert monday.open == (MONDAY,)
    assert monday.skips == (Skip(SATURDAY, SUNDAY + 23 * HOUR, 48, "calendar"),)
    assert (monday.last_slot, monday.next_slot) == (MONDAY, MONDAY + HOUR)


def test_what_came_late_is_told_apart_from_what_was_dropped():
    late = decide(hourly(), FRIDAY + 18 * HOUR, MONDAY + 9 * HOUR + MINUTE)

    assert late.open == (MONDAY + 9 * HOUR,)
    assert late.skips == (
        Skip(FRIDAY + 19 * HOUR, FRIDAY + 23 * HOUR, 5, "coalesced"),
        Skip(SATURDAY, SUNDAY + 23 * HOUR, 48, "calendar"),
        Skip(MONDAY, MONDAY + 8 * HOUR, 9, "coalesced"),
    )


def test_dropped_slots_behind_the_newest_kept_one_wait_too():
    saturday = decide(hourly(), FRIDAY + 21 * HOUR, SATURDAY + 10 * HOUR)

    assert (saturday.open, saturday.last_slot) == ((FRIDAY + 23 * HOUR,), FRIDAY + 23 * HOUR)
    assert saturday.skips == (Skip(FRIDAY + 22 * HOUR, FRIDAY + 22 * HOUR, 1, "coalesced"),)
    assert saturday.next_slot == MONDAY


def test_all_runs_the_newest_kept_slots_with_the_dropped_ones_between():
    found = decide(hourly(), FRIDAY + 20 * HOUR, MONDAY + HOUR, catch_up="all", catch_up_max=3)

    assert found.open == (FRIDAY + 23 * HOUR, MONDAY, MONDAY + HOUR)
    assert found.skips == (
        Skip(FRIDAY + 21 * HOUR, FRIDAY + 22 * HOUR, 2, "coalesced"),
        Skip(SATURDAY, SUNDAY + 23 * HOUR, 48, "calendar"),
    )


def test_what_is_past_its_limit_is_late_and_what_was_dropped_is_not():
    found = decide(hourly(), FRIDAY + 22 * HOUR, MONDAY + 2 * HOUR, late_limit_us=HOUR + MINUTE)

    assert found.open == (MONDAY + 2 * HOUR,)
    assert found.skips == (
        Skip(FRIDAY + 23 * HOUR, FRIDAY + 23 * HOUR, 1, "late"),
        Skip(SATURDAY, SUNDAY + 23 * HOUR, 48, "calendar"),
        Skip(MONDAY, MONDAY, 1, "late"),
        Skip(MONDAY + HOUR, MONDAY + HOUR, 1, "coalesced"),
    )


def test_a_kept_slot_that_waits_for_its_jitter_leaves_the_dropped_ones_waiting():
    held = decide(hourly(), FRIDAY + 23 * HOUR, MONDAY + MINUTE, jitter_us=2 * MINUTE)
    due = decide(hourly(), FRIDAY + 23 * HOUR, MONDAY + 2 * MINUTE, jitter_us=2 * MINUTE)

    assert held == Plan((), (), FRIDAY + 23 * HOUR, MONDAY, None, MONDAY + 2 * MINUTE)
    assert due.open == (MONDAY,)
    assert due.next_due == MONDAY + HOUR + 2 * MINUTE


def test_slots_at_whose_end_nothing_is_kept_are_decided_when_the_last_kept_one_is():
    ends = hourly(not_after="2026-06-06T03:00")

    on_time = decide(ends, FRIDAY + 22 * HOUR, FRIDAY + 23 * HOUR)
    late = decide(ends, FRIDAY + 22 * HOUR, SATURDAY + 2 * HOUR)
    alone = decide(ends, FRIDAY + 23 * HOUR, SATURDAY + 2 * HOUR)

    assert (on_time.open, on_time.skips, on_time.next_slot) == ((FRIDAY + 23 * HOUR,), (), None)
    assert (late.open, late.skips) == (
        (FRIDAY + 23 * HOUR,),
        (Skip(SATURDAY, SATURDAY + 2 * HOUR, 3, "calendar"),),
    )
    assert (late.last_slot, late.next_slot, late.next_due) == (SATURDAY + 2 * HOUR, None, None)
    assert (alone.open, alone.skips) == ((), (Skip(SATURDAY, SATURDAY + 2 * HOUR, 3, "calendar"),))


@pytest.mark.parametrize(
    ("left", "runs", "dropped", "rest", "following"),
    [
        (0, (), 0, 0, None),
        (1, (FRIDAY + 23 * HOUR,), 0, 0, None),
        (2, (FRIDAY + 23 * HOUR,), 1, 0, None),
        (49, (FRIDAY + 23 * HOUR,), 48, 0, None),
        (50, (MONDAY,), 48, 0, None),
        (51, (MONDAY + HOUR,), 48, 0, None),
        (60, (MONDAY + HOUR,), 48, 9, MONDAY + 2 * HOUR),
    ],
)
def test_every_slot_uses_one_of_the_count(
    left: int, runs: tuple[int, ...], dropped: int, rest: int, following: int | None
):
    found = decide(hourly(count=100), FRIDAY + 22 * HOUR, MONDAY + HOUR + MINUTE, left=left)

    assert (found.open, found.left, found.next_slot) == (runs, rest, following)
    assert sum(row.count for row in found.skips if row.reason == "calendar") == dropped
    assert len(found.open) + sum(row.count for row in found.skips) == left - rest


def test_a_clock_that_stands_before_the_last_slot_decides_nothing():
    found = decide(hourly(), MONDAY, SUNDAY)

    assert (found.open, found.skips, found.last_slot, found.next_slot) == ((), (), MONDAY, MONDAY + HOUR)


def test_a_trigger_that_drops_nothing_is_planned_as_ever():
    plain = Trigger.parse({"cron": "0 * * * *"}, now_us=NOW)
    kept = under("keep", cron="0 * * * *", zone="UTC")
    how = {"last_slot": FRIDAY, "anchor": 0, "now": MONDAY, "catch_up": "all", "catch_up_max": 3}

    assert plan_trigger(plain, **how) == plan_trigger(kept, **how) == plan(plain, **how)


def test_quiet_nights_of_a_month_are_a_row_each():
    found = decide(hourly(closed=[], quiet=[NIGHT]), utc("2026-06-01"), utc("2026-07-01T12:00"))

    reasons = [row.reason for row in found.skips]
    assert reasons == ["calendar", "coalesced"] * 31
    assert sum(row.count for row in found.skips) + 1 == 30 * 24 + 12


def test_a_long_absence_keeps_the_newest_rows_exact_and_joins_the_oldest():
    found = decide(hourly(closed=[], quiet=[NIGHT]), utc("2025-06-01"), utc("2026-06-01T12:00"))

    oldest, *rest = found.skips
    assert len(found.skips) == MOST_ROWS
    assert (oldest.reason, oldest.first) == ("coalesced", utc("2025-06-01T01:00"))
    assert {row.count for row in rest} == {9, 15, 5}
    assert sum(row.count for row in found.skips) + 1 == 365 * 24 + 12


def test_an_absence_of_nothing_but_closed_time_is_one_row_however_long():
    found = decide(hourly(not_after="2026-06-07T20:00"), FRIDAY + 23 * HOUR, MONDAY + 300 * DAY)
    night = under(
        "drop", closed=[], quiet=[NIGHT], cron="0 3,12 * * *", not_after="2026-06-01T05:00", zone="UTC"
    )
    years = decide(night, utc("2026-05-31T12:00"), utc("2036-01-01"))

    assert found.skips == (Skip(SATURDAY, SUNDAY + 20 * HOUR, 45, "calendar"),)
    assert years.skips == (Skip(utc("2026-06-01T03:00"), utc("2026-06-01T03:00"), 1, "calendar"),)


RULES = st.sampled_from(
    ["0 * * * *", "*/20 * * * *", "30 2 * * *", "0 9 * * 1-5", "15 6,12,21 * * *", "0 0 * * 6,0"]
)


@settings(max_examples=200, deadline=None)
@given(
    rule=RULES,
    closed=st.lists(st.sampled_from([*WEEKEND, "wednesday", "2026-06-10", "06-11"]), max_size=3),
    quiet=st.lists(st.sampled_from([NIGHT, "12:00-13:00", "00:00-06:00"]), max_size=2),
    start=st.integers(0, 20 * 24 * 60),
    spans=st.lists(st.integers(1, 6 * 24 * 60), min_size=1, max_size=5),
    left=st.none() | st.integers(1, 60),
    catch_up=st.sampled_from(["run_once", "skip", "all"]),
    limit=st.sampled_from([None, 0, 3 * HOUR]),
    jitter=st.sampled_from([0, 90 * 1_000_000]),
)
def test_every_slot_is_decided_once_and_by_the_right_word(
    rule: str,
    closed: list[str],
    quiet: list[str],
    start: int,
    spans: list[int],
    left: int | None,
    catch_up: str,
    limit: int | None,
    jitter: int,
):
    try:
        trigger = under("drop", closed, quiet, cron=rule)
    except Refused:  # the calendar leaves nothing of it
        return
    began = now = utc("2026-05-25") + start * MINUTE
    last: int | None = None
    runs: list[int] = []
    rows: list[Skip] = []
    rest = left
    for span in spans:
        now += span * MINUTE
        how: dict[str, Any] = {"catch_up": catch_up, "late_limit_us": limit, "jitter_us": jitter}
        done = plan_trigger(trigger, last_slot=last, anchor=began, now=now, left=rest, **how)
        assert done.next_slot is None or done.next_slot > (last or 0)
        assert done.next_slot == trigger.next_kept(
            began if done.last_slot is None else done.last_slot, done.left
        )
        runs += done.open
        rows += done.skips
        last, rest = done.last_slot, done.left

    decided = [] if last is None else decided_until(trigger, began, last)
    answered: list[tuple[int, str]] = [(slot, "run") for slot in runs]
    for row in rows:
        counted = [slot for slot in decided if row.first <= slot <= row.last]
        assert (row.first, row.last, row.count) == (counted[0], counted[-1], len(counted))
        answered += [(slot, row.reason) for slot in counted]
    assert sorted(slot for slot, _ in answered) == decided
    assert trigger.hours is not None
    for slot, word in answered:
        assert (word == "calendar") == (trigger.hours.entry(slot) is not None)
    assert rest == (None if left is None else left - len(decided))
    waiting = trigger.kept.next(began if last is None else last)
    assert left is not None or waiting is None or waiting + jitter > now


def decided_until(trigger: Trigger, after: int, until: int) -> list[int]:
    found = firings(trigger, after, trigger.count_between(after, until))
    assert not found or found[-1] <= until
    return found
