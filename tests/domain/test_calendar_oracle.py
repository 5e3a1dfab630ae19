"""Every question about slots under a calendar beside the same worked out minute by minute (F-15)."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.closed_oracle import MINUTE, Window
from tests.domain.moments import utc

from schedcore.domain.calendar import Calendar, Calendars
from schedcore.domain.clock import DAY
from schedcore.domain.errors import Refused
from schedcore.domain.slots import SlotRule
from schedcore.domain.trigger import Trigger

DAYS = 14
BEFORE = 5  # days in which the oracle does not know what was moved into its window
PLACES = [
    ("Europe/Berlin", "2026-03-22"),
    ("Europe/Berlin", "2026-10-18"),
    ("America/New_York", "2026-10-25"),
    ("America/St_Johns", "2010-10-30"),
    ("America/St_Johns", "2010-03-07"),
    ("Pacific/Apia", "2011-12-22"),
    ("Asia/Pyongyang", "2018-04-28"),
    ("Asia/Beirut", "2026-10-18"),
    ("Asia/Beirut", "2026-03-22"),
    ("Australia/Lord_Howe", "2026-03-28"),
    ("America/Nuuk", "2026-03-21"),
    ("America/Sao_Paulo", "2018-10-28"),
    ("Pacific/Kwajalein", "1993-08-13"),
    ("Antarctica/Troll", "2026-03-22"),
    ("Asia/Tokyo", "2026-04-20"),
]
MINUTES, HOURS = st.integers(0, 59), st.integers(0, 23)
CLOCKS = st.builds(lambda half: f"{half // 2:02}:{half % 2 * 30:02}", st.integers(0, 47))
QUIET = st.tuples(CLOCKS, CLOCKS).filter(lambda ends: ends[0] != ends[1]).map("-".join)
RULES = st.one_of(
    st.builds(lambda m, h: {"cron": f"{m} {h} * * *"}, MINUTES, HOURS),
    st.builds(lambda n: {"cron": f"*/{n} * * * *"}, st.sampled_from([5, 15, 30])),
    st.builds(lambda m, n: {"cron": f"{m} */{n} * * *"}, MINUTES, st.integers(1, 3)),
    st.builds(
        lambda m, h, d: {"cron": f"{m} {h},{(h + 9) % 24} * * {d}"},
        MINUTES,
        HOURS,
        st.sampled_from(["1-5", "0,6", "6"]),
    ),
    st.builds(lambda h: {"cron": f"* {h} * * *"}, HOURS),
    st.builds(
        lambda m, h, gap, fold: {"cron": f"{m} {h}-23 * * *", "gap": gap, "fold": fold},
        *(
            MINUTES,
            HOURS,
            st.sampled_from(["at_once", "shift", "skip"]),
            st.sampled_from(["first", "second", "both"]),
        ),
    ),
    st.builds(lambda n: {"every": f"{n}m"}, st.sampled_from([37, 61, 90, 420])),
)


@st.composite
def calendars(draw: st.DrawFn, start: str) -> tuple[list[str], list[str]]:
    days = draw(st.lists(st.integers(0, DAYS - 1), max_size=5))
    weekdays = draw(st.lists(st.sampled_from(["saturday", "sunday", "monday", "wednesday"]), max_size=3))
    closed = [(date.fromisoformat(start) + timedelta(days=n)).isoformat() for n in days]
    return closed + weekdays, draw(st.lists(QUIET, max_size=2))


def answers(line: SlotRule, after: int, until: int) -> tuple[list[int], int, list[int], list[int]]:
    """All slots by walking, their number, the newest one and the newest three."""
    walked, at = [], after
    while (slot := line.next(at)) is not None and slot <= until:
        walked.append(slot)
        at = slot
    return (
        walked,
        line.count_between(after, until),
        line.newest(after, until, 1),
        line.newest(after, until, 3),
    )


def wanted(slots: list[int], after: int, until: int) -> tuple[list[int], int, list[int], list[int]]:
    within = [slot for slot in slots if after < slot <= until]
    return within, len(within), within[-1:], within[-3:]


@pytest.mark.parametrize("on_closed", ["move", "drop"])
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_next_count_and_newest_are_what_the_clock_of_the_zone_says(on_closed: str, data: st.DataObject):
    zone, start = data.draw(st.sampled_from(PLACES))
    rule: dict[str, Any] = data.draw(RULES)
    closed, quiet = data.draw(calendars(start))
    begin = utc(start)
    form = {**rule, "zone": zone}
    plain = Trigger.parse(form, now_us=begin)
    try:
        known = Calendars({"office": Calendar("office", tuple(closed), tuple(quiet))})
        judged = {**form, "calendar": "office", "on_closed": on_closed}
        trigger = Trigger.parse(judged, now_us=begin, calendars=known)
    except Refused:  # it never opens, or nothing of it is left
        return
    window = Window(zone, begin, DAYS, closed, quiet)
    slots, at = [], begin - 1
    while (slot := plain.next(at)) is not None and slot < window.end:
        slots.append(slot)
        at = slot
    right = window.kept(slots) if on_closed == "drop" else window.moved(slots)
    first, last = begin + BEFORE * DAY, window.end - DAY
    after = data.draw(
        st.integers(first, last) | st.sampled_from([s for s in right if first <= s <= last] or [first])
    )
    until = data.draw(st.integers(after, last))

    assert answers(trigger.kept, first, last) == wanted(right, first, last)
    assert answers(trigger.kept, after, until) == wanted(right, after, until)
    assert first % MINUTE == 0
