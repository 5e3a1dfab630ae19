"""Faults in the wild that concern triggers alone; the ids are those of the case page."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.domain.moments import firings, utc

from schedcore.domain import errors
from schedcore.domain.clock import DAY, HOUR, SECOND
from schedcore.domain.cron import parse_cron
from schedcore.domain.errors import Refused
from schedcore.domain.trigger import Trigger

ROOT = Path(__file__).resolve().parents[2]


def cron(text: str, zone: str = "UTC") -> Trigger:
    return Trigger.parse({"cron": text, "zone": zone}, now_us=utc("2000-01-01"))


def test_fault_R7_a_weekly_interval_fires_four_times_in_thirty_days_of_restarts():
    created = utc("2026-01-01T10:00")
    stored = Trigger.parse({"every": "7d"}, now_us=created).to_dict()
    last, fired = created, []
    for restart in range(1, 30 * 4 + 1):
        fired += Trigger.from_dict(stored).newest(last, created + restart * 6 * HOUR, 9)
        last = max([last, *fired])

    assert len(fired) == 4


def test_fault_R13_the_slots_missed_over_a_week_end_are_counted_exactly():
    office = cron("30 6-16/4 * * 1-5", "Europe/Berlin")
    down, up = utc("2026-06-19T11:00"), utc("2026-06-23T07:00")  # Friday 13:00 to Tuesday 09:00 there

    assert office.newest(down, up, 9) == [
        utc("2026-06-19T12:30"),
        *(utc(f"2026-06-22T{hour}:30") for hour in ("04", "08", "12")),
        utc("2026-06-23T04:30"),
    ]
    assert office.count_between(down, up) == 5


def test_fault_R26_two_o_clock_runs_once_when_clocks_fall_back():
    nightly = cron("0 2 * * *", "Europe/Berlin")

    assert nightly.newest(utc("2025-10-25T12:00"), utc("2025-10-26T12:00"), 9) == [utc("2025-10-26T00:00")]


def test_fault_R28_the_same_instant_is_not_returned_for_ever():
    slots = firings(cron("0 0 * * 0", "America/Santiago"), utc("2022-08-21T05:00"), 6)

    assert slots == sorted(set(slots))
    assert slots[2] == utc("2022-09-11T04:00")


def test_fault_R29_a_day_in_the_gap_is_answered_with_bounded_work():
    yearly = parse_cron("0 1 30 3 *", "Europe/Lisbon")
    asked = []
    first = yearly._walls.first
    type(yearly._walls).first = lambda self, low, high, *limit: asked.append(low) or first(low, high, *limit)
    try:
        slot = yearly.next(utc("2025-03-29T12:00"))
    finally:
        type(yearly._walls).first = first.__func__

    assert slot == utc("2025-03-30T01:00")
    assert len(asked) < 50


def test_fault_R31_ten_seconds_stay_ten_seconds_across_the_repeated_hour():
    ticks = Trigger.parse(
        {"every": "10s", "zone": "America/New_York"}, now_us=utc("2026-11-01T04:00"), floor_s=1
    )
    slots = firings(ticks, utc("2026-11-01T04:00"), 3 * 360)

    assert {after - before for before, after in pairwise(slots)} == {10 * SECOND}


def test_fault_R31_a_utc_job_has_no_gap_when_clocks_change_elsewhere():
    minutely = cron("* * * * *")

    assert minutely.count_between(utc("2026-10-24"), utc("2026-10-27")) == 3 * 1_440
    assert cron("* * * * *", "Europe/Berlin").count_between(utc("2026-10-24"), utc("2026-10-27")) == 3 * 1_440


@pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,4,6,9,11 *", "59 23 30-31 2 */1"])
def test_fault_R32_an_impossible_date_is_refused_at_save(text: str):
    with pytest.raises(Refused, match="never") as refused:
        cron(text)

    assert (refused.value.code, refused.value.field) == ("never_fires", "trigger.cron")


TEMPLATES = [
    "${7*7}",
    "{{7*7}}",
    "{0.__class__}",
    "%(x)s",
    "{x!r:>{y}}",
    "$(id)",
    "`id`",
    "<b>x</b>",
    "\x1b[31m",
]


@pytest.mark.parametrize("text", TEMPLATES)
@pytest.mark.parametrize("kind", ["cron", "every", "at", "in", "kind", "zone"])
def test_fault_S3_a_schedule_that_looks_like_a_program_is_echoed_and_never_run(kind: str, text: str):
    data: dict[str, Any] = {kind: text}
    if kind in {"kind", "zone"}:
        data["text"] = "0 9 * * *"

    with pytest.raises(Refused) as refused:
        Trigger.parse(data, now_us=0)

    said = str(refused.value)
    assert "49" not in said
    assert "<class" not in said
    assert ascii(text)[1:-1] in said
    assert "\x1b" not in said


HOSTILE = [
    "0" + ",0" * 30 + "X",
    "0 0" + " 0" * 10_000 + " 1 jan * UTC",
    ",".join(["5"] * 100_000) + " * * * *",
    "9" * 1_000_000 + " * * * *",
    "0-59," * 100_000 + "0 * * * *",
    "*/" * 100_000,
    "*" * 1_000_000,
    "-" * 1_000_000,
    "#" * 1_000_000,
    " " * 1_000_000,
    "\t" * 1_000_000 + "0 9 * * *",
    "@" * 1_000_000,
    "0 0 30 2 *",
    "(" * 100_000,
    "L" * 1_000_000,
    "P" + "9" * 1_000_000 + "D",
    "1h" * 500_000,
    "2026-01-01T00:00:00." + "0" * 1_000_000 + "Z",
    "2026-01-01T00:00" + "+" * 1_000_000,
    "Europe/" * 100_000,
    "\N{ARABIC-INDIC DIGIT THREE}" * 100_000,
]


_EACH = """
from schedcore.domain.errors import Refused
from schedcore.domain.trigger import Trigger
from tests.domain.test_faults_triggers import HOSTILE
refused = 0
for text in HOSTILE:
    forms = [text, *({kind: text} for kind in ("cron", "every", "at", "in"))]
    forms += [{"cron": "0 9 * * *", name: text} for name in ("zone", "gap", "not_before", "jitter", text)]
    for form in forms:
        try:
            Trigger.parse(form, now_us=0)
        except Refused as error:
            refused += len(str(error)) < 500
print(refused)
"""


def test_fault_S40_no_text_makes_a_parser_slow():
    # 210 texts in the time of a process: generous for a busy machine, and far from what a blow-up takes.
    done = subprocess.run(
        [sys.executable, "-c", _EACH], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.stdout.strip(), done.stderr) == (str(len(HOSTILE) * 10), "")


def test_fault_T33_a_long_list_within_the_cap_is_taken_and_beyond_it_refused():
    longest = ",".join(["5"] * 123) + "  * * * *"

    assert cron(longest).next(utc("2026-01-01")) == utc("2026-01-01T00:05")
    with pytest.raises(Refused, match="256"):
        cron(longest + " " * 4)


def test_fault_T33_no_near_name_is_looked_for_behind_a_long_one(monkeypatch: pytest.MonkeyPatch):
    def never(*_: object, **__: object) -> list[str]:
        raise AssertionError("it was compared")

    monkeypatch.setattr(errors, "get_close_matches", never)
    for data in (
        {"cron": "0 9 * * *", "z" * 10_000: 1},
        {"kind": "z" * 10_000, "text": ""},
        {"zone": "z" * 10_000},
    ):
        with pytest.raises(Refused):
            Trigger.parse({"text": "0 9 * * *", **data} if "zone" in data else data, now_us=0)


def test_fault_T33_refusing_reads_a_long_text_not_at_all(monkeypatch: pytest.MonkeyPatch):
    class Long(str):
        __slots__ = ()

        def __len__(self) -> int:
            return 10**9

        def isascii(self) -> bool:
            raise AssertionError("it was read")

        split = replace = isdigit = isascii

    for kind in ("cron", "every", "at"):
        with pytest.raises(Refused, match="too many"):
            Trigger.parse({kind: Long("0 9 * * *")}, now_us=0)


def test_a_search_of_fifty_years_ends():
    rare = parse_cron("0 0 * 2 1#5", "America/New_York")

    assert rare.next(utc("2072-03-01")) == utc("2112-02-29T05:00")
    assert rare.next(utc("2250-01-01") + 10 * DAY) is None
