"""The auditor's own opinion of calendars: against minutes on the clock of a zone, and of ledgers that lie."""

from __future__ import annotations

import json
import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.auditing import untrue
from tests.domain.closed_oracle import Window
from tests.domain.moments import utc
from tests.domain.test_calendar_oracle import BEFORE, DAYS, PLACES

from schedcore._audit.stored import read_trigger
from schedcore.domain.calendar import Calendar
from schedcore.domain.clock import DAY, HOUR
from schedcore.testing import ManualClock, StandingHost, fresh_sqlite, open_ledger

RULES = ["30 2 * * *", "*/15 * * * *", "7 */2 * * *", "0 9,15 * * 0,6", "* 3 * * *", "45 1-23 * * *"]
CLOSED = ["saturday", "sunday", "monday", "wednesday"]
HOURS = ["22:00-07:00", "12:00-13:30", "00:00-02:30", "01:30-03:00", "20:00-00:00"]


def stored(**trigger: Any) -> Any:
    found = read_trigger(json.dumps(trigger))
    assert found.grid is not None, found.why
    return found


@pytest.mark.parametrize(("zone", "start"), PLACES)
def test_slots_are_moved_where_the_clock_of_the_zone_says(zone: str, start: str) -> None:
    rnd = random.Random(f"{zone} {start}")
    begin, days = utc(start), date.fromisoformat(start)
    for text in RULES:
        closed = [(days + timedelta(days=n)).isoformat() for n in rnd.sample(range(DAYS), rnd.randrange(4))]
        closed += rnd.sample(CLOSED, rnd.randrange(3))
        quiet = rnd.sample(HOURS, rnd.randrange(3))
        calendar = {"name": "office", "closed": closed, "quiet": quiet}
        plain = stored(kind="cron", text=text, zone=zone).grid
        window = Window(zone, begin, DAYS, closed, quiet)

        found = stored(kind="cron", text=text, zone=zone, calendar=calendar, on_closed="move").grid
        first, last = begin + BEFORE * DAY, window.end - DAY
        mine = walked(found, first, last)

        wanted = [
            slot for slot in window.moved(walked(plain, begin - 1, window.end - 1)) if first < slot <= last
        ]
        assert mine == wanted, (text, closed, quiet)
        assert found.count(first, last) == len(wanted)


def walked(grid: Any, after: int, until: int) -> list[int]:
    slots = []
    while (slot := grid.next(after, until)) is not None:
        slots.append(slot)
        after = slot
    return slots


def test_where_slots_are_dropped_the_grid_has_all_of_them() -> None:
    calendar = {"name": "office", "closed": ["saturday"]}
    found = stored(kind="cron", text="0 9 * * *", zone="UTC", calendar=calendar, on_closed="drop")

    assert found.grid.count(utc("2026-06-01"), utc("2026-06-08")) == 7
    assert [found.drops.holds(utc(f"2026-06-0{n}T09:00")) for n in (5, 6, 7)] == [False, True, False]


@pytest.mark.parametrize(
    "calendar", [{"closed": 7}, {"quiet": ["22-7"]}, "office", {"quiet": [None]}, {"closed": ["saturday"]}]
)
def test_a_calendar_that_cannot_be_read_leaves_the_slots_unjudged(calendar: Any) -> None:
    trigger = {"kind": "cron", "text": "0 9 * * *", "zone": "UTC", "calendar": calendar, "on_closed": "never"}

    assert read_trigger(json.dumps(trigger)).grid is None


@pytest.fixture
def told(tmp_path: Path) -> str:
    """An hourly job that is closed at weekends, from a Friday to a Tuesday; it slept on Monday morning."""
    url = fresh_sqlite(tmp_path)
    clock = ManualClock("2026-06-05T20:30:00+00:00")
    ledger = open_ledger(url, clock)
    office = Calendar("office", ("saturday", "sunday"))
    host = StandingHost(ledger, clock, tmp_path / "host", calendars=[office])
    host.add("hourly", cron="0 * * * *", calendar="office")
    for _ in range(60):
        clock.advance(hours=1)
        host.beat()
    clock.advance(hours=12)
    for _ in range(10):
        clock.advance(hours=1)
        host.beat()
    host.stop()
    ledger.close()
    return url


def test_a_ledger_under_a_calendar_is_true(told: str) -> None:
    assert untrue(told) == []


@pytest.mark.parametrize(
    ("what", "statement", "says"),
    [
        (
            "a dropped slot is said to have been late",
            "update skipped set reason='late', slots=1, last_slot=first_slot where reason='calendar'",
            "is for a slot that the calendar of definition 1 drops",
        ),
        (
            "slots that were kept are said to have been dropped",
            "update skipped set reason='calendar' where reason='coalesced'",
            "counts a slot that the calendar of definition 1 keeps",
        ),
        (
            "a run stands where the calendar has none",
            f"update runs set scheduled_for=scheduled_for-{20 * HOUR} where scheduled_for={utc('2026-06-08')}",
            "is for a slot that the calendar of definition 1 drops",
        ),
        (
            "the row of the weekend is gone",
            "delete from skipped where reason='calendar'",
            "owed 48 slots from here",
        ),
        (
            "the job waits for a slot that will be dropped",
            f"update due set last_slot={utc('2026-06-05T23:00')}, next_run_at={utc('2026-06-06')}",
            "after last_slot it follows that it is 2026-06-08T00:00",
        ),
    ],
)
def test_what_a_ledger_says_wrongly_of_closed_time_is_found(
    told: str, what: str, statement: str, says: str
) -> None:
    ledger = open_ledger(told, ManualClock())
    with ledger.write() as c:
        c.exec_driver_sql(statement)
    ledger.close()

    assert any(says in found for _, _, found in untrue(told)), what
