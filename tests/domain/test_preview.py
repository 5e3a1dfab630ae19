"""The next slots for people: local time, and what a clock change does to them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.domain.moments import utc

from schedcore.domain.errors import Refused
from schedcore.domain.preview import preview
from schedcore.domain.trigger import Trigger

NY = "America/New_York"
SPRING, AUTUMN = "2026-03-08T05:00", "2026-11-01T04:00"


def shown(data: dict[str, Any], after: str, n: int) -> list[tuple[str, str | None]]:
    trigger = Trigger.parse(data, now_us=utc("2026-01-01"))
    return [(slot.local, slot.note) for slot in preview(trigger, utc(after), n)]


NOTES = [
    (
        {"cron": "30 2 * * *"},
        SPRING,
        [
            ("2026-03-08T03:00:00-04:00", "02:30 does not exist on 2026-03-08; fires at once after the gap"),
            ("2026-03-09T02:30:00-04:00", None),
        ],
    ),
    (
        {"cron": "0,30 2 * * *"},
        SPRING,
        [
            (
                "2026-03-08T03:00:00-04:00",
                "02:00 to 02:30 do not exist on 2026-03-08; fires once, at once after the gap",
            ),
            ("2026-03-09T02:00:00-04:00", None),
        ],
    ),
    (
        {"cron": "0 2,3 * * *"},
        SPRING,
        [("2026-03-08T03:00:00-04:00", "02:00 does not exist on 2026-03-08; fires at once after the gap")],
    ),
    (
        {"cron": "30 2 * * *", "gap": "shift"},
        SPRING,
        [("2026-03-08T03:30:00-04:00", "02:30 does not exist on 2026-03-08; moved to 03:30")],
    ),
    (
        {"cron": "30 2 * * *", "gap": "skip"},
        SPRING,
        [
            ("2026-03-09T02:30:00-04:00", "02:30 does not exist on 2026-03-08 and has no slot"),
            ("2026-03-10T02:30:00-04:00", None),
        ],
    ),
    (
        {"cron": "*/30 2 * * *"},
        SPRING,
        [
            ("2026-03-09T02:00:00-04:00", "02:00 to 02:30 do not exist on 2026-03-08 and have no slot"),
            ("2026-03-09T02:30:00-04:00", None),
        ],
    ),
    (
        {"cron": "0 * * * *"},
        "2026-03-08T06:00",
        [
            ("2026-03-08T03:00:00-04:00", "02:00 does not exist on 2026-03-08 and has no slot"),
            ("2026-03-08T04:00:00-04:00", None),
        ],
    ),
    (
        {"cron": "30 1 * * *"},
        AUTUMN,
        [
            ("2026-11-01T01:30:00-04:00", "01:30 comes twice on 2026-11-01; this is the first time"),
            ("2026-11-02T01:30:00-05:00", None),
        ],
    ),
    (
        {"cron": "30 1 * * *", "fold": "both"},
        AUTUMN,
        [
            ("2026-11-01T01:30:00-04:00", "01:30 comes twice on 2026-11-01; this is the first time"),
            ("2026-11-01T01:30:00-05:00", "01:30 comes twice on 2026-11-01; this is the second time"),
            ("2026-11-02T01:30:00-05:00", None),
        ],
    ),
    (
        {"cron": "0 * * * *"},
        "2026-11-01T04:30",
        [
            ("2026-11-01T01:00:00-04:00", "01:00 comes twice on 2026-11-01; this is the first time"),
            ("2026-11-01T01:00:00-05:00", "01:00 comes twice on 2026-11-01; this is the second time"),
            ("2026-11-01T02:00:00-05:00", None),
        ],
    ),
    (
        {"at": "2026-03-08T02:30"},
        SPRING,
        [("2026-03-08T03:00:00-04:00", "02:30 does not exist on 2026-03-08; fires at once after the gap")],
    ),
    (
        {"at": "2026-11-01T01:30"},
        AUTUMN,
        [("2026-11-01T01:30:00-04:00", "01:30 comes twice on 2026-11-01; this is the first time")],
    ),
    ({"at": "2026-11-01T01:30-05:00"}, AUTUMN, [("2026-11-01T01:30:00-05:00", None)]),
    (
        {"every": "1h", "anchor": "2026-11-01T05:30Z"},
        AUTUMN,
        [("2026-11-01T01:30:00-04:00", None), ("2026-11-01T01:30:00-05:00", None)],
    ),
]


@pytest.mark.parametrize(("data", "after", "right"), NOTES, ids=[f"{d}"[:60] for d, *_ in NOTES])
def test_a_slot_shows_its_local_time_and_the_clock_change(data: dict[str, Any], after: str, right: list[Any]):
    assert shown({**data, "zone": NY}, after, len(right)) == right


def test_a_slot_is_printed_with_its_utc_form():
    trigger = Trigger.parse({"cron": "30 2 * * *", "zone": NY}, now_us=0)

    assert preview(trigger, utc("2026-03-08T07:00"), 1)[0].as_dict() == {
        "utc": "2026-03-09T06:30:00.000Z",
        "local": "2026-03-09T02:30:00-04:00",
        "note": None,
    }


def test_milliseconds_are_shown_when_there_are_any():
    trigger = Trigger.parse({"at": "2026-06-15T12:00:00.250Z", "zone": "Asia/Kathmandu"}, now_us=0)

    assert preview(trigger, 0, 5)[0].local == "2026-06-15T17:45:00.250+05:45"


def test_a_preview_ends_with_the_trigger():
    now = utc("2026-06-15T12:00")
    counted = Trigger.parse({"every": "1h", "count": 3}, now_us=now)

    assert len(preview(counted, now, 100)) == 3
    assert len(preview(counted, now, 100, remaining=1)) == 1
    assert preview(counted, now, 5, remaining=0) == []


@pytest.mark.parametrize("n", [0, -1, 101, True, 1.0, "5", None])
def test_a_preview_has_one_to_a_hundred_slots(n: Any):
    with pytest.raises(Refused):
        preview(Trigger.parse({"every": "1h"}, now_us=0), 0, n)
