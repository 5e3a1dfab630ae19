"""Calendars as people write them: days, hours, what is refused and why (F-15)."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pytest

from schedcore.domain.calendar import Calendar, Calendars, closed_time
from schedcore.domain.calendar_entries import MOST_CLOSED, MOST_QUIET
from schedcore.domain.clock import HOUR
from schedcore.domain.closed_time import LONGEST_CLOSED
from schedcore.domain.errors import Refused


def parse(**table: Any) -> Calendar:
    return Calendar.parse("france", table, "calendars.france")


def refused(**table: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        parse(**table)
    return caught.value


def day(text: str) -> int:
    return (date.fromisoformat(text) - date(1970, 1, 1)).days


def test_days_are_dates_days_of_every_year_and_days_of_the_week():
    time = closed_time(parse(closed=["sunday", "12-25", "2026-04-06"]))

    assert [time.closes_day(day(text)) for text in ("2026-04-05", "2026-04-06", "2026-04-07")] == [
        True,
        True,
        False,
    ]
    assert [time.closes_day(day(text)) for text in ("2026-12-25", "2027-12-25", "2026-12-24")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("entry", ["saturday", "Sat", "SATURDAY", "sat"])
def test_a_day_of_the_week_has_a_long_and_a_short_name_in_any_case(entry: str):
    assert parse(closed=[entry]).closed == ("saturday",)


def test_a_date_that_toml_has_read_is_a_date():
    assert parse(closed=[date(2026, 4, 6)]).closed == ("2026-04-06",)


def test_days_are_kept_in_one_order_and_once():
    given = parse(closed=["2026-04-06", "12-25", "sun", "01-01", "sunday", "2026-04-06", "mon"])

    assert given.closed == ("sunday", "monday", "01-01", "12-25", "2026-04-06")


def test_the_29th_of_february_is_closed_in_the_years_that_have_it():
    time = closed_time(parse(closed=["02-29"]))

    assert [time.closes_day(day(text)) for text in ("2028-02-29", "2027-02-28", "2027-03-01")] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("quiet", "times"),
    [
        (["12:00-13:00"], {11: False, 12: True, 13: False}),
        (["22:00-07:00"], {21: False, 22: True, 0: True, 6: True, 7: False}),
        (["22:00-00:00"], {22: True, 23: True, 0: False}),
        (["00:00-06:00"], {0: True, 5: True, 6: False, 23: False}),
        (["20:00-23:00", "22:00-02:00"], {19: False, 20: True, 23: True, 1: True, 2: False}),
        ("12:00-13:00", {12: True, 13: False}),
    ],
)
def test_quiet_hours_begin_at_their_first_minute_and_end_before_their_last(
    quiet: Any, times: dict[int, bool]
):
    time = closed_time(parse(quiet=quiet))

    assert {hour: time.hours_at(hour * HOUR)[2] for hour in times} == times


def test_the_most_exact_entry_is_named_as_the_one_that_closes():
    time = closed_time(parse(closed=["friday", "12-25", "2026-12-25", "2026-04-06"]))

    told = [time.entry_of(day(text)) for text in ("2026-12-25", "2027-12-25", "2026-12-18", "2026-12-19")]
    assert told == ["2026-12-25", "12-25", "friday", None]


def test_the_quiet_hours_that_hold_a_time_are_named():
    time = closed_time(parse(quiet=["12:00-13:00", "22:00-07:00"]))

    assert [time.quiet_at(hour * HOUR) for hour in (12, 23, 3, 9)] == [
        "12:00-13:00",
        "22:00-07:00",
        "22:00-07:00",
        None,
    ]


def test_a_calendar_is_stored_whole_and_read_again_as_the_same():
    given = parse(closed=["sun", "12-25"], quiet=["22:00-07:00"], day_time="08:30")

    assert given.to_dict() == {
        "name": "france",
        "closed": ["sunday", "12-25"],
        "quiet": ["22:00-07:00"],
        "day_time": "08:30",
    }
    assert Calendar.from_dict(given.to_dict()) == given
    assert parse().to_dict() == {"name": "france"}


@pytest.mark.parametrize(
    ("table", "field", "says", "hint"),
    [
        ({"closed": ["2026-02-30"]}, "closed[0]", "no such date", "a date '2026-12-25'"),
        ({"closed": ["sun", "13-01"]}, "closed[1]", "no year has such a day", "month and day"),
        ({"closed": ["02-30"]}, "closed[0]", "no year has such a day", "month and day"),
        ({"closed": ["sonday"]}, "closed[0]", "not a day", "did you mean 'sunday'?"),
        ({"closed": ["xmas"]}, "closed[0]", "not a day", "a day of the week 'sunday'"),
        ({"closed": [20261225]}, "closed[0]", "not a day", "a date"),
        ({"closed": [datetime(2026, 12, 25)]}, "closed[0]", "not a day", "a date"),  # noqa: DTZ001
        ({"closed": ["1969-12-31"]}, "closed[0]", "outside 1970-2200", "a date"),
        ({"closed": ["2201-01-01"]}, "closed[0]", "outside 1970-2200", "a date"),
        ({"closed": "sunday"}, "closed", "not a list", "write ["),
        ({"quiet": ["22:00"]}, "quiet[0]", "not a range of hours", "22:00-07:00"),
        ({"quiet": ["22:00-24:00"]}, "quiet[0]", "'24:00' is no time of day", "midnight is 00:00"),
        ({"quiet": ["9:00-17:00"]}, "quiet[0]", "'9:00' is no time of day", "00:00 to 23:59"),
        ({"quiet": ["09:00-09:00"]}, "quiet[0]", "begins where it ends", "write them into closed"),
        ({"quiet": [7]}, "quiet[0]", "not a range of hours", "22:00-07:00"),
        ({"quiet": 7}, "quiet", "not a list", "write ["),
    ],
)
def test_an_entry_that_is_none_is_refused_where_it_stands(
    table: dict[str, Any], field: str, says: str, hint: str
):
    error = refused(**table)

    assert (error.code, error.field) == ("bad_calendar", f"calendars.france.{field}")
    assert says in error.message
    assert hint in (error.hint or "")


def test_the_time_of_a_date_alone_is_hours_and_minutes():
    error = refused(day_time="9 am")

    assert (error.code, error.field, error.value) == ("bad_time", "calendars.france.day_time", "9 am")


def test_a_field_that_a_calendar_has_not_is_refused_with_the_nearest():
    error = refused(close=["sunday"])

    assert (error.code, error.field) == ("unknown_field", "calendars.france.close")
    assert error.hint == "did you mean 'closed'?"


def test_a_calendar_is_a_table():
    with pytest.raises(Refused, match="not a table"):
        Calendar.parse("france", ["sunday"], "calendars.france")


def test_a_name_is_a_name():
    with pytest.raises(Refused, match="not a name"):
        Calendar("les fêtes")


def test_days_and_hours_have_a_greatest_number():
    dates = [(date(2026, 1, 1) + timedelta(days=2 * n)).isoformat() for n in range(MOST_CLOSED + 1)]
    hours = [f"{n // 60:02}:{n % 60:02}-{(n + 1) // 60:02}:{(n + 1) % 60:02}" for n in range(0, 250, 10)]

    assert len(parse(closed=dates[:-1]).closed) == MOST_CLOSED
    assert refused(closed=dates).hint == "at most 1,000"
    assert len(parse(quiet=hours[:MOST_QUIET]).quiet) == MOST_QUIET
    assert refused(quiet=hours).hint == "at most 24"


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"quiet": ["00:00-12:00", "12:00-00:00"]}, "no hour of the day is left"),
        ({"quiet": ["06:00-05:00", "05:00-07:00"]}, "no hour of the day is left"),
        ({"closed": ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]}, "no day of the week is left"),
    ],
)
def test_a_calendar_that_never_opens_is_refused(table: dict[str, Any], says: str):
    error = refused(**table)

    assert error.code == "bad_calendar"
    assert says in error.message


@pytest.mark.parametrize("first", ["2026-01-01", "2026-04-01", "1999-12-31", "2199-01-01"])
def test_more_than_a_leap_year_in_a_row_cannot_be_closed(first: str):
    days = [(date.fromisoformat(first) + timedelta(days=n)).isoformat() for n in range(LONGEST_CLOSED + 1)]
    days = [text for text in days if text < "2201"]

    assert len(parse(closed=days[:LONGEST_CLOSED]).closed) == LONGEST_CLOSED
    assert f"from {first} on" in refused(closed=days).message


def test_a_year_of_days_that_leaves_one_weekday_free_of_them_is_refused_too():
    every_day = [(date(2000, 1, 1) + timedelta(days=n)).isoformat()[5:] for n in range(366)]

    assert "more than 366 days in a row are closed" in refused(closed=every_day).message
    assert "more than 366 days in a row" in refused(closed=[*every_day[:-1], "sun", "mon", "sat"]).message
    assert parse(closed=every_day[:-1]).closed


def test_the_longest_closed_run_is_passed_over_to_the_next_open_day():
    days = [(date(2026, 1, 1) + timedelta(days=n)).isoformat() for n in range(LONGEST_CLOSED)]
    time = closed_time(parse(closed=days))

    assert time.next_open_day(day("2025-12-31")) == day("2027-01-02")


def test_a_name_that_nobody_declares_is_refused_with_the_nearest():
    known = Calendars({"france": Calendar("france"), "tokyo": Calendar("tokyo")})

    with pytest.raises(Refused) as near:
        known.named("frence", "calendar")
    with pytest.raises(Refused) as far:
        known.named("mars", "trigger.calendar")
    with pytest.raises(Refused) as none:
        Calendars().named("france", "calendar")

    assert (near.value.code, near.value.value) == ("unknown_calendar", "frence")
    assert near.value.hint == "did you mean 'france'?"
    assert (far.value.field, "known are france, tokyo" in (far.value.hint or "")) == (
        "trigger.calendar",
        True,
    )
    assert "none is declared; write [calendars.NAME]" in (none.value.hint or "")
