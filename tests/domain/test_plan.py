from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.grids import Grid, Listed

from schedcore.domain.clock import DAY, HOUR, MINUTE, SECOND, parse_text, text
from schedcore.domain.plan import Plan, Skip, passed, plan
from schedcore.domain.trigger import Trigger


def cron(words: str, zone: str = "UTC") -> Trigger:
    return Trigger.parse({"cron": words, "zone": zone}, now_us=0)


MINUTELY = Grid(60)
DAILY = Grid(86_400)


def at(hour: int, minute: int = 0, second: int = 0) -> int:
    return hour * HOUR + minute * MINUTE + second * SECOND


def test_one_due_slot_runs_and_the_next_is_fixed() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 1, 30))

    assert done == Plan((at(9, 1),), (), at(9, 1), at(9, 2), None, at(9, 2))


def test_nothing_due_leaves_the_last_slot_where_it_is() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 0, 59))

    assert done == Plan((), (), at(9), at(9, 1), None, at(9, 1))


def test_a_slot_is_due_at_its_very_instant_and_not_a_microsecond_before() -> None:
    early = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 1) - 1)
    due = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 1))

    assert (early.open, due.open) == ((), (at(9, 1),))


def test_a_job_that_never_fired_counts_from_its_anchor() -> None:
    done = plan(MINUTELY, last_slot=None, anchor=at(9, 0, 5), now=at(9, 1, 40))

    assert done.open == (at(9, 1),)


def test_a_clock_that_stands_before_the_last_slot_decides_nothing() -> None:
    done = plan(MINUTELY, last_slot=at(9, 5), anchor=0, now=at(1))

    assert (done.open, done.skips, done.last_slot, done.next_slot) == ((), (), at(9, 5), at(9, 6))


def test_run_once_runs_the_newest_missed_slot_and_counts_the_others() -> None:
    done = plan(DAILY, last_slot=0, anchor=0, now=3 * DAY + HOUR)

    assert done.open == (3 * DAY,)
    assert done.skips == (Skip(DAY, 2 * DAY, 2, "coalesced"),)


def test_all_runs_the_newest_n_oldest_first() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(10), catch_up="all", catch_up_max=3)

    assert done.open == (at(9, 58), at(9, 59), at(10))
    assert done.skips == (Skip(at(9, 1), at(9, 57), 57, "coalesced"),)


def test_all_with_fewer_missed_than_its_number_skips_none() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 4), catch_up="all")

    assert done.open == (at(9, 1), at(9, 2), at(9, 3), at(9, 4))
    assert done.skips == ()


def test_skip_counts_what_is_past_the_limit_apart_from_the_rest() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(10), catch_up="skip")

    assert done.open == (at(10),)
    assert done.skips == (
        Skip(at(9, 1), at(9, 44), 44, "late"),
        Skip(at(9, 45), at(9, 59), 15, "coalesced"),
    )


def test_skip_over_a_whole_missed_day_runs_nothing() -> None:
    done = plan(DAILY, last_slot=0, anchor=0, now=DAY + 15 * MINUTE + 1, catch_up="skip")

    assert (done.open, done.skips) == ((), (Skip(DAY, DAY, 1, "late"),))
    assert (done.last_slot, done.next_slot) == (DAY, 2 * DAY)


@pytest.mark.parametrize("catch_up", ["run_once", "skip", "all"])
def test_a_limit_given_explicitly_holds_for_every_policy_and_a_slot_at_it_runs(catch_up: str) -> None:
    at_limit = plan(DAILY, last_slot=0, anchor=0, now=DAY + HOUR, catch_up=catch_up, late_limit_us=HOUR)
    past = plan(DAILY, last_slot=0, anchor=0, now=DAY + HOUR + 1, catch_up=catch_up, late_limit_us=HOUR)

    assert at_limit.open == (DAY,)
    assert (past.open, past.skips) == ((), (Skip(DAY, DAY, 1, "late"),))


def test_a_limit_of_zero_is_none_even_under_skip() -> None:
    done = plan(DAILY, last_slot=0, anchor=0, now=2 * DAY - 1, catch_up="skip", late_limit_us=0)

    assert done.open == (DAY,)


def test_all_under_a_limit_runs_only_what_is_within_it() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(10), catch_up="all", late_limit_us=2 * MINUTE)

    assert done.open == (at(9, 58), at(9, 59), at(10))
    assert done.skips == (Skip(at(9, 1), at(9, 57), 57, "late"),)


def test_a_jittered_slot_waits_for_its_jitter() -> None:
    waiting = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 1, 20), jitter_us=30 * SECOND)
    due = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 1, 30), jitter_us=30 * SECOND)

    assert (waiting.open, waiting.next_slot, waiting.next_due) == ((), at(9, 1), at(9, 1, 30))
    assert (due.open, due.next_due) == ((at(9, 1),), at(9, 2, 30))


def test_jitter_holds_back_only_the_newest_of_several() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 3, 10), jitter_us=30 * SECOND)

    assert (done.open, done.last_slot, done.next_slot) == ((at(9, 2),), at(9, 2), at(9, 3))


def test_lateness_counts_from_the_slot_and_its_jitter() -> None:
    def jitter(_: int) -> int:
        return 30 * SECOND

    in_time = plan(
        DAILY, last_slot=0, anchor=0, now=DAY + 90 * SECOND, late_limit_us=MINUTE, jitter_us=jitter
    )
    late = plan(DAILY, last_slot=0, anchor=0, now=DAY + 91 * SECOND, late_limit_us=MINUTE, jitter_us=jitter)

    assert in_time.open == (DAY,)
    assert late.skips == (Skip(DAY, DAY, 1, "late"),)


def test_a_count_ends_the_job_after_its_last_slot() -> None:
    second = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 1), left=2)
    third = plan(MINUTELY, last_slot=at(9, 1), anchor=0, now=at(9, 2), left=second.left)
    after = plan(MINUTELY, last_slot=at(9, 2), anchor=0, now=at(12), left=third.left)

    assert (second.open, second.left, second.next_slot) == ((at(9, 1),), 1, at(9, 2))
    assert (third.open, third.left, third.next_slot) == ((at(9, 2),), 0, None)
    assert after == Plan((), (), at(9, 2), None, 0)


def test_a_count_bounds_what_a_downtime_missed() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(12), left=3)

    assert done.open == (at(9, 3),)
    assert done.skips == (Skip(at(9, 1), at(9, 2), 2, "coalesced"),)
    assert (done.left, done.next_slot) == (0, None)


def test_a_one_shot_that_was_missed_runs_once_and_has_no_next() -> None:
    done = plan(Listed([at(9)]), last_slot=None, anchor=at(8), now=at(20))

    assert done == Plan((at(9),), (), at(9), None, None)


def test_a_pause_is_one_row_for_all_its_slots() -> None:
    assert passed(MINUTELY, at(9), at(9, 10, 30), "paused") == Skip(at(9, 1), at(9, 10), 10, "paused")


def test_a_pause_between_two_slots_leaves_no_row() -> None:
    assert passed(MINUTELY, at(9), at(9, 0, 59), "paused") is None
    assert passed(MINUTELY, at(9), at(8), "breaker") is None


def test_a_pause_ends_with_the_count() -> None:
    assert passed(MINUTELY, at(9), at(12), "pending", left=3) == Skip(at(9, 1), at(9, 3), 3, "pending")
    assert passed(MINUTELY, at(9), at(12), "pending", left=0) is None


slot_lists = st.lists(st.integers(1, 400), min_size=1, max_size=60, unique=True)


@settings(max_examples=400, deadline=None)
@given(
    slots=slot_lists,
    start=st.integers(0, 400),
    now=st.integers(0, 450),
    left=st.none() | st.integers(0, 70),
    catch_up=st.sampled_from(["run_once", "skip", "all"]),
    most=st.integers(1, 12),
    limit=st.none() | st.integers(0, 200),
    jitter=st.integers(0, 5),
)
def test_every_slot_is_decided_exactly_once(
    slots: list[int],
    start: int,
    now: int,
    left: int | None,
    catch_up: str,
    most: int,
    limit: int | None,
    jitter: int,
) -> None:
    trigger = Listed(slots)

    def offset(slot: int) -> int:
        following = trigger.next(slot)
        return jitter if following is None else min(jitter, following - slot - 1)

    done = plan(
        trigger,
        last_slot=start,
        anchor=0,
        now=now,
        left=left,
        catch_up=catch_up,
        catch_up_max=most,
        late_limit_us=limit,
        jitter_us=offset,
    )

    owed = [s for s in trigger.slots if s > start and s + offset(s) <= now][:left]
    bound = (15 * MINUTE if catch_up == "skip" else 0) if limit is None else limit
    late = [s for s in owed if bound and now - s - offset(s) > bound]
    fresh = owed[len(late) :]
    runs = fresh[-(most if catch_up == "all" else 1) :]
    rows = [(late, "late"), (fresh[: len(fresh) - len(runs)], "coalesced")]
    assert list(done.open) == runs
    assert list(done.skips) == [Skip(g[0], g[-1], len(g), why) for g, why in rows if g]
    assert sum(s.count for s in done.skips) + len(done.open) == len(owed)
    assert done.last_slot == (owed[-1] if owed else start)
    assert done.left == (None if left is None else left - len(owed))
    assert done.next_slot == (None if done.left == 0 else trigger.next(done.last_slot or 0))
    assert trigger.longest_list <= most + 1


@settings(max_examples=200, deadline=None)
@given(slots=slot_lists, cuts=st.lists(st.integers(0, 450), min_size=1, max_size=8), first=st.booleans())
def test_beats_at_any_instants_decide_the_same_slots_as_one(
    slots: list[int], cuts: list[int], first: bool
) -> None:
    trigger = Listed(slots)
    seen: list[int] = []
    last = None if first else 0
    for now in cuts:
        done = plan(trigger, last_slot=last, anchor=0, now=now, catch_up="all", catch_up_max=1000)
        seen.extend(done.open)
        last = done.last_slot

    assert seen == [s for s in trigger.slots if s <= max(cuts)]


@settings(max_examples=200, deadline=None)
@given(
    slots=slot_lists,
    start=st.integers(0, 400),
    until=st.integers(0, 450),
    left=st.none() | st.integers(0, 70),
)
def test_what_passed_is_counted_exactly(slots: list[int], start: int, until: int, left: int | None) -> None:
    row = passed(Listed(slots), start, until, "paused", left=left)

    went = [s for s in sorted(slots) if start < s <= until][:left]
    assert row == (Skip(went[0], went[-1], len(went), "paused") if went else None)


def test_report_S16_two_weeks_of_a_five_second_grid_are_one_run() -> None:
    five = Grid(5)

    once = plan(five, last_slot=0, anchor=0, now=14 * DAY)
    some = plan(five, last_slot=0, anchor=0, now=14 * DAY, catch_up="all", catch_up_max=10)

    assert (len(once.open), once.skips[0].count, once.skips[0].reason) == (1, 241_919, "coalesced")
    assert (len(some.open), some.skips[0].count) == (10, 241_910)


def test_report_S16_a_hundred_and_one_missed_minutes_are_no_refusal() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(10, 41))

    assert (len(done.open), done.skips[0].count) == (1, 100)


def test_report_S17_a_weekly_job_restarted_every_two_days_keeps_its_phase() -> None:
    weekly = Grid(7 * 86_400)
    last, fired = None, []
    for now in range(2 * DAY, 22 * DAY, 2 * DAY):
        done = plan(weekly, last_slot=last, anchor=0, now=now)
        fired.extend(done.open)
        last = done.last_slot

    done = plan(weekly, last_slot=last, anchor=0, now=21 * DAY)
    assert [*fired, *done.open] == [7 * DAY, 14 * DAY, 21 * DAY]


def test_report_S17_a_first_fire_that_was_slept_over_comes_late() -> None:
    yearly = Grid(365 * 86_400)

    done = plan(yearly, last_slot=None, anchor=0, now=366 * DAY)

    assert done.open == (365 * DAY,)


def test_report_S19_a_jitter_longer_than_the_restarts_fires_once() -> None:
    def offset(slot: int) -> int:
        return (slot // DAY * 7919) % 12 * HOUR

    last, fired = None, []
    for now in range(DAY, 3 * DAY, 2 * HOUR):
        done = plan(DAILY, last_slot=last, anchor=DAY, now=now, jitter_us=offset)
        fired.extend((slot, now) for slot in done.open)
        last = done.last_slot

    assert fired == [(2 * DAY, 2 * DAY + offset(2 * DAY))]


def test_report_S19_no_jitter_is_exactly_zero() -> None:
    done = plan(Listed([at(9)]), last_slot=None, anchor=0, now=at(9) - 1, jitter_us=0)

    assert done.next_due == done.next_slot == at(9)


def test_report_R23_a_market_job_does_not_fire_in_the_evening() -> None:
    eleven = Grid(86_400, at(11))

    done = plan(eleven, last_slot=at(11) - DAY, anchor=0, now=at(22), late_limit_us=2 * HOUR)

    assert (done.open, done.skips) == ((), (Skip(at(11), at(11), 1, "late"),))


def test_report_R25_skip_after_five_minutes_runs_one_and_counts_four() -> None:
    done = plan(MINUTELY, last_slot=at(9), anchor=0, now=at(9, 5, 20), catch_up="skip")

    assert done.open == (at(9, 5),)
    assert done.skips == (Skip(at(9, 1), at(9, 4), 4, "coalesced"),)
    assert done.next_slot == at(9, 6)


def test_report_R26_a_saturday_wake_stands_for_fridays_slot() -> None:
    weekdays = cron("0 9 * * 1-5", "Europe/Paris")
    friday = parse_text("2026-01-02T08:00:00.000Z")

    once = plan(weekdays, last_slot=friday - DAY, anchor=0, now=friday + DAY)
    skip = plan(weekdays, last_slot=friday - DAY, anchor=0, now=friday + DAY, catch_up="skip")

    assert (once.open, once.next_slot) == ((friday,), friday + 3 * DAY)
    assert (skip.open, skip.skips) == ((), (Skip(friday, friday, 1, "late"),))


def test_report_R28_what_skip_leaves_out_is_in_a_row() -> None:
    done = plan(Grid(3600), last_slot=at(3), anchor=0, now=at(8, 30), catch_up="skip")

    assert done.skips == (Skip(at(4), at(8), 5, "late"),)


def test_fault_R4_five_stale_jobs_are_five_late_rows_and_no_run() -> None:
    eleven = Grid(86_400, at(11))

    done = [
        plan(eleven, last_slot=at(11) - DAY, anchor=0, now=at(22, 10), late_limit_us=HOUR) for _ in range(5)
    ]

    assert [d.skips[0].reason for d in done] == ["late"] * 5
    assert [d.open for d in done] == [()] * 5


def test_fault_R11_a_long_downtime_is_one_run_and_one_row_and_a_pause_only_a_row() -> None:
    down = plan(MINUTELY, last_slot=0, anchor=0, now=101 * MINUTE)
    pause = passed(MINUTELY, 0, 3 * DAY, "paused")
    resumed = plan(MINUTELY, last_slot=3 * DAY, anchor=0, now=3 * DAY + 30 * SECOND, catch_up="all")

    assert (len(down.open), [(s.reason, s.count) for s in down.skips]) == (1, [("coalesced", 100)])
    assert pause == Skip(MINUTE, 3 * DAY, 4320, "paused")
    assert (resumed.open, resumed.next_slot) == ((), 3 * DAY + MINUTE)


def test_fault_R13_irregular_slots_are_counted_exactly() -> None:
    shape = cron("30 6-16/4 * * 1-5")
    thursday = parse_text("2026-01-08T14:30:00.000Z")
    monday = parse_text("2026-01-12T00:00:00.000Z")

    done = plan(shape, last_slot=thursday, anchor=0, now=monday + at(12))

    assert done.open == (monday + at(10, 30),)
    assert done.skips == (Skip(monday - 3 * DAY + at(6, 30), monday + at(6, 30), 4, "coalesced"),)


def test_a_jitter_of_a_trigger_is_kept_through_restarts() -> None:
    daily = Trigger.parse({"cron": "0 9 * * *", "jitter": 180}, now_us=0)
    slot = at(9)
    due = slot + daily.jitter_of("job-1", slot)

    seen = []
    for now in range(slot, slot + 5 * MINUTE, 20 * SECOND):
        last = seen[-1][0] if seen else None
        done = plan(daily, last_slot=last, anchor=0, now=now, jitter_us=lambda s: daily.jitter_of("job-1", s))
        seen += [(s, now) for s in done.open]

    assert [s for s, _ in seen] == [slot]
    assert due <= seen[0][1] < due + 20 * SECOND


def test_a_count_over_a_clock_change_ends_at_its_very_slot() -> None:
    twice = Trigger.parse({"cron": "30 1 * * *", "zone": "America/New_York", "count": 3}, now_us=0)
    before = parse_text("2026-10-31T00:00:00.000Z")

    done = plan(twice, last_slot=before, anchor=0, now=before + 9 * DAY, left=3, catch_up="all")

    assert [text(s) for s in done.open] == [
        "2026-10-31T05:30:00.000Z",
        "2026-11-01T05:30:00.000Z",
        "2026-11-02T06:30:00.000Z",
    ]
    assert (done.left, done.next_slot) == (0, None)


def test_fault_R22_a_beat_that_comes_90_seconds_late_drops_nothing() -> None:
    done = plan(Grid(300), last_slot=at(9), anchor=0, now=at(9, 6, 30))

    assert (done.open, done.skips) == ((at(9, 5),), ())
