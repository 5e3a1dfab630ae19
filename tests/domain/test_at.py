"""One-shots, row by row of section 10 of the cron page."""

from __future__ import annotations

import pytest
from tests.domain.moments import utc

from schedcore.domain.at import parse_instant, refuse_past
from schedcore.domain.clock import SECOND
from schedcore.domain.errors import Refused
from schedcore.domain.trigger import Trigger

NY = "America/New_York"

TAKEN = [
    ("2026-11-01T01:30:00-05:00", NY, "2026-11-01T06:30", None),
    ("2026-11-01T01:30", NY, "2026-11-01T05:30", "fold_first"),
    ("2026-03-08T02:30", NY, "2026-03-08T07:00", "gap_at_once"),
    ("2026-07-01T09:00-05:00", NY, "2026-07-01T14:00", None),
    ("2026-11-01T01:30Z", NY, "2026-11-01T01:30", None),
    ("2026-11-01T01:30", "UTC", "2026-11-01T01:30", None),
    ("2026-11-01T09:30:15", NY, "2026-11-01T14:30:15", None),
    ("2026-11-01T09:30:15.250Z", NY, "2026-11-01T09:30:15.250", None),
    ("2026-11-01T09:30:15.250000Z", NY, "2026-11-01T09:30:15.250", None),
    ("2026-11-01t09:30:15z", NY, "2026-11-01T09:30:15", None),
    ("2026-11-01T09:30:15-00:00", NY, "2026-11-01T09:30:15", None),
    ("2026-11-01T09:30+05:45", NY, "2026-11-01T03:45", None),
    ("1970-01-01T00:00Z", "UTC", "1970-01-01T00:00", None),
    ("2200-12-31T23:59:59Z", "UTC", "2200-12-31T23:59:59", None),
    ("2028-02-29T12:00", "Asia/Kathmandu", "2028-02-29T06:15", None),
]
REFUSED = [
    *(("2026-11-01", "T09:00"), ("2026-11-01T24:00", "no such"), ("2026-11-01T09:60", "no such")),
    *(("2026-02-30T09:00", "no such"), ("2026-13-01T09:00", "no such"), ("2026-11-01T09:00:60Z", "no such")),
    *(("2026-W44-7", "RFC 3339"), ("20261101T0130", "RFC 3339"), ("2026-11-01x01:30", "RFC 3339")),
    *(
        ("2026-11-01T01:30 -05:00", "RFC 3339"),
        ("2026-11-01 01:30", "RFC 3339"),
        ("2026-11-01T01:30:00,5", "RFC 3339"),
    ),
    *(("2026-11-01T01:30:00.1234567Z", "millisecond"), ("2026-11-01T01:30:00.0005Z", "millisecond")),
    *(("2026-11-01T01:30+05:30:15", "hours and minutes"), ("2026-11-01T01:30+0530", "hours and minutes")),
    *(
        ("2026-11-01T01:30-05", "hours and minutes"),
        ("2026-11-01T01:30+25:00", "offset"),
        ("2026-11-01T01:30+05:60", "offset"),
    ),
    *(
        ("2026-11-01T01:30[America/New_York]", "brackets"),
        ("2026-11-01T01:30-05:00[America/New_York]", "brackets"),
    ),
    *(
        ("0001-01-01T00:00+14:00", "1970-2200"),
        ("9999-12-31T23:59-12:00", "1970-2200"),
        ("1969-12-31T23:59Z", "1970-2200"),
    ),
    *(
        ("1970-01-01T00:00+14:00", "1970-2200"),
        ("2201-01-01T00:00Z", "1970-2200"),
        ("2200-12-31T23:59-12:00", "1970-2200"),
    ),
    *(("1793514600", "number"), ("1793514600.5", "number"), ("\uff12\uff10\uff126-11-01T09:00", "RFC 3339")),
    *(
        ("2026-11-01T09:00\n", "RFC 3339"),
        (" 2026-11-01T09:00", "RFC 3339"),
        ("", "RFC 3339"),
        ("tomorrow", "RFC 3339"),
    ),
    *(("2026-11-01T9:00", "RFC 3339"), ("2026-11-01T09", "RFC 3339"), ("9" * 10_000, "too many")),
]


@pytest.mark.parametrize(("text", "zone", "right", "code"), TAKEN)
def test_an_instant_is_read(text: str, zone: str, right: str, code: str | None):
    us, note = parse_instant(text, zone)

    assert us == utc(right)
    assert (note.code if note else None) == code


@pytest.mark.parametrize(("text", "says"), REFUSED, ids=[repr(text)[:40] for text, _ in REFUSED])
def test_what_names_no_instant_is_refused(text: str, says: str):
    with pytest.raises(Refused) as refused:
        parse_instant(text, NY, "trigger.at")

    assert (refused.value.code, refused.value.field) == ("bad_instant", "trigger.at")
    assert says in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("value", [1_793_514_600, 1.5, None, True, b"2026-11-01T09:00"])
def test_an_instant_that_is_no_text_is_refused(value: object):
    with pytest.raises(Refused):
        parse_instant(value)  # type: ignore[arg-type]  # wrong on purpose


def test_a_date_alone_is_taken_where_a_day_rule_applies():
    assert parse_instant("2026-11-01", NY, day_time="09:00")[0] == utc("2026-11-01T14:00")


def test_the_shift_out_of_a_gap_is_reported():
    _, note = parse_instant("2026-03-08T02:30", NY)

    assert note
    assert (note.day, note.wall, note.fires) == ("2026-03-08", "02:30", "03:00")


def test_the_past_is_refused_but_for_a_minute_of_grace():
    now = utc("2026-11-01T09:00")
    for late, taken in ((0, True), (59, True), (60, True), (61, False), (86_400, False)):
        if taken:
            refuse_past(now - late * SECOND, now)
        else:
            with pytest.raises(Refused, match="in the past"):
                refuse_past(now - late * SECOND, now)


def test_a_one_shot_of_now_or_just_before_is_owed_at_once():
    now = utc("2026-11-01T09:00")
    exactly = Trigger.parse({"at": "2026-11-01T09:00Z"}, now_us=now)
    before = Trigger.parse({"at": "2026-11-01T08:59:30Z"}, now_us=now)

    assert exactly.first_after_creation(now) == now
    assert before.first_after_creation(now) == now - 30 * SECOND
    assert before.count_between(before.owed_from(now), now) == 1


def test_a_one_shot_that_is_declared_again_is_taken_at_any_age():
    now = utc("2026-12-01T09:00")
    with pytest.raises(Refused) as refused:
        Trigger.parse({"at": "2026-11-01T09:00Z"}, now_us=now)
    again = Trigger.parse({"at": "2026-11-01T09:00Z"}, now_us=now, past_ok=True)

    assert (refused.value.code, refused.value.field) == ("in_the_past", "trigger.at")
    assert again.next(now) is None


def test_a_one_shot_has_one_slot():
    now = utc("2026-11-01T09:00")
    trigger = Trigger.parse({"at": "2026-11-02T09:00"}, now_us=now)
    slot = utc("2026-11-02T09:00")

    assert trigger.next(now) == slot
    assert trigger.next(slot) is None
    assert trigger.is_slot(slot)
    assert not trigger.is_slot(slot + SECOND)
    assert trigger.newest(now, slot, 3) == [slot]
    assert trigger.newest(now, slot, 0) == []
    assert trigger.count_between(now, slot) == 1
    assert trigger.count_between(slot, slot + SECOND) == 0


def test_the_same_instant_however_written():
    now = utc("2026-11-01T09:00")
    first = Trigger.parse({"at": "2026-11-02T09:00Z"}, now_us=now)

    assert first.same_times(Trigger.parse({"at": "2026-11-02T10:00", "zone": "Europe/Berlin"}, now_us=now))
    assert not first.same_times(Trigger.parse({"at": "2026-11-02T09:01Z"}, now_us=now))
