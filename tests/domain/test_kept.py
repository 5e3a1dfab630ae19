"""The slots that a calendar keeps where it drops the others (F-15)."""

from __future__ import annotations

from datetime import date, timedelta

from tests.domain.closed import NIGHT, WEEKEND, Counted, under
from tests.domain.moments import firings, utc

from schedcore.domain.calendar import Calendar
from schedcore.domain.clock import DAY, HOUR
from schedcore.domain.every import Every
from schedcore.domain.kept import HORIZON, Kept
from schedcore.domain.open_hours import OpenHours


def test_the_line_has_all_slots_and_the_kept_ones_are_open():
    daily = under("drop", cron="0 9 * * *")
    friday = utc("2026-06-05T12:00Z")

    assert firings(daily, friday, 3) == [utc(f"2026-06-0{n}T07:00Z") for n in (6, 7, 8)]
    assert firings(daily.kept, friday, 2) == [utc("2026-06-08T07:00Z"), utc("2026-06-09T07:00Z")]
    assert daily.drops


def test_each_dropped_slot_knows_what_closes_it():
    hourly = under("drop", quiet=[NIGHT], cron="0 * * * *")

    night = hourly.closing(utc("2026-06-03T02:00Z"))
    saturday = hourly.closing(utc("2026-06-06T10:00Z"))

    assert night is not None
    assert saturday is not None
    assert (night.code, night.entry, saturday.entry) == ("dropped", NIGHT, "saturday")
    assert hourly.closing(utc("2026-06-03T10:00Z")) is None
    assert hourly.closing(utc("2026-06-06T10:30Z")) is None  # no slot at all


def test_where_a_calendar_only_keeps_nothing_is_dropped_or_moved():
    daily = under("keep", cron="0 9 * * *")
    plain = under("keep", closed=[], cron="0 9 * * *")

    assert not daily.drops
    assert firings(daily, utc("2026-06-05"), 9) == firings(plain, utc("2026-06-05"), 9)
    closing = daily.closing(utc("2026-06-06T07:00Z"))
    assert closing is not None
    assert closing.code == "kept"


def test_a_year_of_minutes_is_counted_without_asking_for_each():
    days = tuple((date(2026, 1, 1) + timedelta(days=n)).isoformat() for n in range(365))
    line = Counted(Every(60, utc("2025-01-01"), given=True))
    kept = Kept(line, OpenHours(Calendar("office", days, (NIGHT,)), "UTC"))

    assert kept.next(utc("2025-12-31T21:59")) == utc("2027-01-01T07:00")
    assert kept.count_between(utc("2025-12-31T21:59"), utc("2027-01-01T07:00")) == 1
    assert kept.newest(utc("2025-12-31T21:59"), utc("2027-01-01T06:59"), 1) == []
    assert line.asked < 4_000


def test_what_never_comes_is_looked_for_50_years_and_no_longer():
    line = Counted(Every(86_400, utc("2026-01-01T03:00"), given=True))
    kept = Kept(line, OpenHours(Calendar("office", WEEKEND, (NIGHT,)), "UTC"))

    assert kept.next(utc("2026-01-01")) is None
    assert line.asked <= HORIZON // DAY + 2


def test_the_newest_kept_slots_are_found_over_a_closed_stretch():
    hourly = under("drop", cron="0 * * * *", zone="UTC")
    monday = utc("2026-06-08")

    assert hourly.kept.newest(utc("2026-06-01"), monday + HOUR, 4) == [
        utc("2026-06-05T22:00"),
        utc("2026-06-05T23:00"),
        monday,
        monday + HOUR,
    ]
    assert hourly.kept.newest(utc("2026-06-06"), monday - 1, 4) == []
