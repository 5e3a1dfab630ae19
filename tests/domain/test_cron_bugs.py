"""Public reports on other crons, each with its right answer here: section 4 of the cron page."""

from __future__ import annotations

import pytest
from tests.domain.moments import firings, utc

from schedcore.domain.clock import DAY, HOUR
from schedcore.domain.cron import parse_cron
from schedcore.domain.errors import Refused

NY, LA, LORD_HOWE, SAO = "America/New_York", "America/Los_Angeles", "Australia/Lord_Howe", "America/Sao_Paulo"

CLOCK_CHANGES = [
    (
        "croniter-25",
        "0 20 * * *",
        "Europe/Paris",
        "2022-10-30T00:00",
        ["2022-10-30T19:00", "2022-10-31T19:00"],
    ),
    ("croniter-91", "0 6 * * *", NY, "2024-03-09T12:00", ["2024-03-10T10:00"]),
    ("croniter-191", "10 3 * * 0", "Europe/Prague", "2025-10-19T10:00", ["2025-10-26T02:10"]),
    ("croniter-56", "*/5 * * * *", "Europe/Zurich", "2023-10-29T00:55", ["2023-10-29T01:00"]),
    ("croniter-266", "0 * * * *", LORD_HOWE, "2026-10-03T14:20", ["2026-10-03T14:30", "2026-10-03T16:00"]),
    (
        "croniter-267",
        "0 1 * * *",
        "Europe/Dublin",
        "2019-10-26T12:00",
        ["2019-10-27T00:00", "2019-10-28T01:00"],
    ),
    ("taichino-48", "0 0 * * *", SAO, "2018-02-17T03:05", ["2018-02-18T03:00"]),
    (
        "taichino-91",
        "30 * * * *",
        "Europe/Vienna",
        "2017-10-28T23:45",
        ["2017-10-29T00:30", "2017-10-29T01:30"],
    ),
    ("turnstone-1097", "30 1 * * *", NY, "2026-11-01T04:00", ["2026-11-01T05:30", "2026-11-02T06:30"]),
    ("sentry-66868", "0 5 * * *", NY, "2026-03-07T12:00", ["2026-03-08T09:00", "2026-03-09T09:00"]),
    ("hermes-66436", "0 9 * * 1-5", "Europe/Berlin", "2026-10-23T07:00", ["2026-10-26T08:00"]),
    ("apscheduler-1021", "30 * * * *", "Europe/Helsinki", "2017-10-29T01:45", ["2017-10-29T02:30"]),
    ("apscheduler-1059", "0 2 * * *", NY, "2013-03-10T05:00", ["2013-03-10T07:00"]),
    (
        "celery-10107",
        "0 * * * *",
        "US/Pacific",
        "2026-11-01T07:30",
        ["2026-11-01T08:00", "2026-11-01T09:00", "2026-11-01T10:00"],
    ),
    (
        "kubernetes-121594",
        "0 2 * * *",
        "Europe/Berlin",
        "2023-10-28T12:00",
        ["2023-10-29T00:00", "2023-10-30T01:00"],
    ),
    ("robfig-541", "0 2 * * *", "US/Pacific", "2025-03-08T20:00", ["2025-03-09T10:00"]),
    ("supercronic-86", "0 * * * *", LA, "2021-03-14T09:30", ["2021-03-14T10:00"]),
    ("node-cron-919", "0 1 30 3 *", "Europe/Lisbon", "2025-03-29T12:00", ["2025-03-30T01:00"]),
    (
        "node-cron-881",
        "*/30 * * * *",
        "Australia/Melbourne",
        "2024-04-06T14:30",
        ["2024-04-06T15:00", "2024-04-06T15:30", "2024-04-06T16:00", "2024-04-06T16:30", "2024-04-06T17:00"],
    ),
    ("node-cron-509", "* * * * *", NY, "2026-03-08T06:59", ["2026-03-08T07:00"]),
    ("croner-284", "0 * * * *", "UTC", "2025-10-05T02:00", ["2025-10-05T03:00"]),
    ("cron-utils-332", "0 6 * * *", "America/Santiago", "2018-08-11T12:00", ["2018-08-12T09:00"]),
    ("nats-8543", "0 1 * * 0", SAO, "2018-11-04T01:00", ["2018-11-04T03:00"]),
    ("quartz-1138", "5 2 23 2 *", "Africa/Casablanca", "2025-01-01T00:00", ["2025-02-23T01:05"]),
    (
        "quartznet-2497",
        "30 1 * * *",
        "Europe/London",
        "2025-03-29T12:00",
        ["2025-03-30T01:00", "2025-03-31T00:30"],
    ),
    (
        "systemd-13745",
        "0 * * * *",
        "Europe/Dublin",
        "2025-03-29T22:30",
        ["2025-03-29T23:00", "2025-03-30T00:00", "2025-03-30T01:00"],
    ),
    ("eliza-11100", "45 1 * * *", LORD_HOWE, "2026-04-04T12:00", ["2026-04-04T14:45", "2026-04-05T15:15"]),
    (
        "bun-40402",
        "10,35,40 2 * * *",
        LORD_HOWE,
        "2026-10-03T12:00",
        ["2026-10-03T15:30", "2026-10-03T15:35", "2026-10-03T15:40"],
    ),
    ("agent-os-2495", "30 1 * * *", NY, "2026-11-01T05:30", ["2026-11-02T06:30"]),
    ("airflow-7999", "0 2 * * *", NY, "2024-03-09T12:00", ["2024-03-10T07:00", "2024-03-11T06:00"]),
    (
        "db-scheduler-663",
        "30 1 * * *",
        "Europe/London",
        "2026-03-28T12:00",
        ["2026-03-29T01:00", "2026-03-30T00:30"],
    ),
]


@pytest.mark.parametrize(
    ("text", "zone", "after", "right"), [c[1:] for c in CLOCK_CHANGES], ids=[c[0] for c in CLOCK_CHANGES]
)
def test_a_reported_clock_change_is_right_here(text: str, zone: str, after: str, right: list[str]):
    cron = parse_cron(text, zone)

    assert firings(cron, utc(after), len(right)) == [utc(one) for one in right]


@pytest.mark.parametrize(
    ("text", "zone", "after"), [c[1:4] for c in CLOCK_CHANGES], ids=[c[0] for c in CLOCK_CHANGES]
)
def test_a_reported_schedule_rises_through_every_change(text: str, zone: str, after: str):
    cron = parse_cron(text, zone)
    walked, steps = utc(after), 0
    while steps < 3_000 and walked < utc("2100-01-01"):
        slot = cron.next(walked)

        assert slot is not None
        assert slot > walked
        walked, steps = slot, steps + 1


FIELDS = [
    (
        "croniter-1",
        "0 0 */10 * *",
        "2026-01-01T12:00",
        ["2026-01-11", "2026-01-21", "2026-01-31", "2026-02-01"],
    ),
    ("croniter-246", "59/15 * * * *", "2026-01-01T00:00", ["2026-01-01T00:59", "2026-01-01T01:59"]),
    ("croniter-243", "0 0 31 2 1", "2027-01-01", ["2027-02-01", "2027-02-08", "2027-02-15", "2027-02-22"]),
    ("croniter-41", "0 0 * * 2#1", "2026-01-01", ["2026-01-06", "2026-02-03", "2026-03-03"]),
    (
        "cronie-142",
        "*/59 * * * *",
        "2026-01-01T00:00",
        ["2026-01-01T00:59", "2026-01-01T01:00", "2026-01-01T01:59"],
    ),
    ("cronie-215", "0 0 * * */2", "2026-01-02", ["2026-01-03", "2026-01-04", "2026-01-06", "2026-01-08"]),
    (
        "qwen-code-6629",
        "5/15 * * * *",
        "2026-01-01T00:00",
        ["2026-01-01T00:05", "2026-01-01T00:20", "2026-01-01T00:35", "2026-01-01T00:50"],
    ),
    ("apscheduler-sunday", "0 0 * * 0", "2026-01-01", ["2026-01-04", "2026-01-11"]),
    ("agent-os-665", "0 0 13 * 5", "2026-01-01", ["2026-01-02", "2026-01-09", "2026-01-13", "2026-01-16"]),
    ("croner-254", "0 0 * * 6#4", "2026-08-01T12:00", ["2026-08-22", "2026-09-26"]),
    ("taichino-55", "0 9 29 2 *", "2095-01-01", ["2096-02-29T09:00", "2104-02-29T09:00"]),
    ("taichino-145", "0 0 * 2 1#5", "2026-01-01", ["2044-02-29", "2072-02-29"]),
    ("taichino-105", "32 16 * * *", "2026-01-01T16:32:01", ["2026-01-02T16:32"]),
]


@pytest.mark.parametrize(("text", "after", "right"), [c[1:] for c in FIELDS], ids=[c[0] for c in FIELDS])
def test_a_reported_field_is_read_right_here(text: str, after: str, right: list[str]):
    assert firings(parse_cron(text), utc(after), len(right)) == [utc(one) for one in right]


REFUSED = [
    ("croniter-50", "*/90 * * * *", "every 90m"),
    ("croniter-75", "0 0 */32,1-7 * 2", "1 to 31"),
    ("taichino-177", "0 0 8-9 * 0#2", "'*' as day-of-month"),
    ("taichino-122", "0 */5 * * * *", "five fields"),
    ("cron-parser-310", "0 0 * * 1/2", "Sunday"),
    ("cronie-15", "0 22-2 * * *", "22-23,0-2"),
    ("apscheduler-105", "* * * * 8", "0-7"),
    ("taichino-34", "0 0 30 2 *", "never"),
    ("fugit-121", "R R * * *", "jitter"),
    ("fugit-121-b", "0~30 * * * *", "jitter"),
]


@pytest.mark.parametrize(("text", "says"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_a_reported_guess_is_refused_here_and_the_way_out_is_named(text: str, says: str):
    with pytest.raises(Refused) as refused:
        parse_cron(text)

    assert says in str(refused.value)


HINTS = [
    ("0 0 * * FRI-MON", "5-7,1"),
    ("0 0 * * 5-0", "5-7"),
    ("0 0 * * 6-2", "6-7,1-2"),
    ("0 0 31-1 * *", "31,1"),
    ("@reboot", "*/5 * * * *"),
    ("@every 5m", "--every 5m"),
    ("@fortnightly", "@weekly"),
    ("0 0 ? * MON", "'*'"),
    ("H H * * *", "jitter"),
    ("0 0 15W * *", "1-3"),
    ("0 9 * * 5L", "0 9 L * *"),
    ("0 9 L * 1", "'*' as day-of-week"),
    ("0 9 L-2 * *", "L alone"),
    ("* * * * * # nightly", "'* * * * *'"),
    ("*5 * * * *", "*/5"),
    ("0 0 1 JANUARY *", "JAN"),
]


@pytest.mark.parametrize(("text", "says"), HINTS, ids=[text for text, _ in HINTS])
def test_a_refusal_shows_what_to_write(text: str, says: str):
    with pytest.raises(Refused) as refused:
        parse_cron(text)

    assert says in str(refused.value)


@pytest.mark.parametrize("value", [None, 5, b"* * * * *", ["*"] * 5, True, 1.5])
def test_what_is_no_text_is_refused(value: object):
    with pytest.raises(Refused):
        parse_cron(value)  # type: ignore[arg-type]  # wrong on purpose


def test_a_never_is_found_at_registration_and_a_leap_day_on_a_weekday_is_not_one():
    with pytest.raises(Refused, match="never") as refused:
        parse_cron("0 0 30 2 *")
    cron = parse_cron("0 0 29 2 */7")

    assert refused.value.code == "never_fires"
    assert firings(cron, utc("2060-03-01"), 2) == [utc("2088-02-29"), utc("2128-02-29")]


def test_a_start_near_the_ends_of_the_calendar_is_answered():
    cron = parse_cron("0 9 * * *", NY)

    assert cron.next(utc("1970-01-01")) == utc("1970-01-01T14:00")
    assert cron.next(-(2**62)) is not None
    assert cron.next(2**62 - 1) is None
    assert cron.count_between(0, 2**62 - 1) > 90_000
    assert cron.newest(2**61, 2**62 - 1, 3) == []


def test_samoa_without_a_thirtieth_of_december_costs_one_question():
    cron = parse_cron("* * * * *", "Pacific/Apia")
    midnight = utc("2011-12-30T10:00")

    assert firings(cron, midnight - 2, 2) == [midnight, midnight + 60_000_000]
    assert cron.count_between(midnight - DAY, midnight + HOUR) == 1_440 + 60
