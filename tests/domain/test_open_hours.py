"""A calendar on the clock of a zone: what is closed, and where a slot goes from there (F-15)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.domain.closed import NIGHT, WEEKEND
from tests.domain.moments import utc

from schedcore.domain.calendar import Calendar
from schedcore.domain.open_hours import OpenHours


def hours(
    zone: str = "Europe/Berlin", closed: Sequence[str] = WEEKEND, quiet: Sequence[str] = ()
) -> OpenHours:
    return OpenHours(Calendar("office", tuple(closed), tuple(quiet)), zone)


@pytest.mark.parametrize(
    ("instant", "entry"),
    [
        ("2026-06-05T21:59Z", None),  # Friday, 23:59
        ("2026-06-05T22:00Z", "saturday"),
        ("2026-06-06T21:59Z", "saturday"),
        ("2026-06-06T22:00Z", "sunday"),
        ("2026-06-07T22:00Z", None),
    ],
)
def test_a_day_is_that_of_the_zone_and_not_of_utc(instant: str, entry: str | None):
    assert hours().entry(utc(instant)) == entry


def test_tokyo_is_closed_while_it_is_still_friday_in_london():
    friday_evening = utc("2026-06-05T15:00Z")  # 00:00 on Saturday in Tokyo

    assert hours("Asia/Tokyo").entry(friday_evening) == "saturday"
    assert hours("Asia/Tokyo").entry(friday_evening - 1) is None
    assert hours("Europe/London").entry(friday_evening) is None


@pytest.mark.parametrize(
    ("instant", "entry"),
    [
        ("2026-06-02T19:59Z", None),
        ("2026-06-02T20:00Z", NIGHT),
        ("2026-06-03T04:59Z", NIGHT),
        ("2026-06-03T05:00Z", None),
        ("2026-06-05T20:00Z", NIGHT),  # on Friday evening it is still an open day
        ("2026-06-05T22:00Z", "saturday"),  # a closed day is told before the hours
    ],
)
def test_quiet_hours_go_over_midnight(instant: str, entry: str | None):
    assert hours(quiet=[NIGHT]).entry(utc(instant)) == entry


@pytest.mark.parametrize(
    ("what", "closed", "quiet", "slot", "there"),
    [
        ("an open instant stays", WEEKEND, [NIGHT], "2026-06-05T10:00Z", "2026-06-05T10:00Z"),
        ("a closed day: the same time on Monday", WEEKEND, [], "2026-06-06T07:30Z", "2026-06-08T07:30Z"),
        ("two closed days: on Monday too", WEEKEND, [], "2026-06-07T07:30Z", "2026-06-08T07:30Z"),
        (
            "a holiday after it: on Tuesday",
            [*WEEKEND, "2026-06-08"],
            [],
            "2026-06-06T07:30Z",
            "2026-06-09T07:30Z",
        ),
        ("quiet hours: to their end", WEEKEND, [NIGHT], "2026-06-02T21:00Z", "2026-06-03T05:00Z"),
        ("the last quiet minute", WEEKEND, [NIGHT], "2026-06-03T04:59Z", "2026-06-03T05:00Z"),
        ("a quiet night into a closed day", WEEKEND, [NIGHT], "2026-06-05T21:00Z", "2026-06-08T05:00Z"),
        ("a closed day in quiet hours", WEEKEND, [NIGHT], "2026-06-06T21:00Z", "2026-06-08T05:00Z"),
        ("a closed day before dawn", WEEKEND, [NIGHT], "2026-06-06T02:00Z", "2026-06-08T05:00Z"),
        ("to midnight only", [], ["22:00-00:00"], "2026-06-02T21:00Z", "2026-06-02T22:00Z"),
        ("hours that meet", [], ["12:00-13:00", "13:00-14:00"], "2026-06-02T10:30Z", "2026-06-02T12:00Z"),
        ("the end of a year", ["12-31", "01-01"], [], "2026-12-31T08:00Z", "2027-01-02T08:00Z"),
        ("seconds are kept", WEEKEND, [], "2026-06-06T07:30:12.345Z", "2026-06-08T07:30:12.345Z"),
    ],
)
def test_a_slot_goes_first_out_of_the_hours_and_then_to_the_next_open_day(
    what: str, closed: Sequence[str], quiet: Sequence[str], slot: str, there: str
):
    assert hours(closed=closed, quiet=quiet).moved(utc(slot)) == utc(there), what


@pytest.mark.parametrize(
    ("what", "zone", "closed", "quiet", "slot", "there"),
    [
        (
            "the time of day is kept over a change of the clock",
            "Europe/Berlin", ["2026-03-28", "2026-03-29"], [], "2026-03-28T08:00Z", "2026-03-30T07:00Z",
        ),
        (
            "a time that the open day has not: the instant after the gap",
            "Europe/Berlin", ["2026-03-28"], [], "2026-03-28T01:30Z", "2026-03-29T01:00Z",
        ),
        (
            "a time that the open day has twice: the first",
            "Europe/Berlin", ["2026-10-24"], [], "2026-10-24T00:30Z", "2026-10-25T00:30Z",
        ),
        (
            "both passes of a closed hour go to one instant",
            "Europe/Berlin", ["2026-10-25"], [], "2026-10-25T01:30Z", "2026-10-26T01:30Z",
        ),
        (
            "quiet hours whose end is skipped: the instant after the gap",
            "Europe/Berlin", [], ["22:00-02:30"], "2026-03-28T23:00Z", "2026-03-29T01:00Z",
        ),
        (
            "quiet hours whose end comes twice: the first time",
            "Europe/Berlin", [], ["22:00-02:30"], "2026-10-24T23:00Z", "2026-10-25T00:30Z",
        ),
        (
            "and they are quiet again when the clock is set back into them",
            "Europe/Berlin", [], ["22:00-02:30"], "2026-10-25T01:10Z", "2026-10-25T01:30Z",
        ),
        (
            "a gap that swallows the morning, and then quiet hours",
            "Europe/Berlin", ["2026-03-28"], ["03:00-06:00"], "2026-03-28T01:30Z", "2026-03-29T04:00Z",
        ),
        (
            "a day that was not: Samoa had no 30 December 2011",
            "Pacific/Apia", ["2011-12-29"], [], "2011-12-29T20:00Z", "2011-12-30T10:00Z",
        ),
        (
            "a clock set back over midnight: the day before once more",
            "America/St_Johns", ["2010-11-06"], [], "2010-11-07T03:20Z", "2010-11-08T03:20Z",
        ),
    ],
)  # fmt: skip
def test_a_slot_is_moved_on_the_clock_of_its_zone(
    what: str, zone: str, closed: Sequence[str], quiet: Sequence[str], slot: str, there: str
):
    assert hours(zone, closed, quiet).moved(utc(slot)) == utc(there), what


def test_a_piece_is_one_part_of_one_day():
    piece = hours(quiet=[NIGHT]).piece(utc("2026-06-03T10:00Z"))

    assert (piece.start, piece.until) == (utc("2026-06-03T05:00Z"), utc("2026-06-03T20:00Z"))
    assert (piece.open, piece.closed, piece.quiet) == (True, False, False)


def test_a_piece_ends_where_the_clock_is_changed():
    piece = hours(closed=[]).piece(utc("2026-03-29T00:30Z"))

    assert (piece.start, piece.until) == (utc("2026-03-28T23:00Z"), utc("2026-03-29T01:00Z"))
