"""What a fixed-time job may choose at a clock change, and what counting and looking back say of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.domain.moments import firings, utc

from schedcore.domain.clock import DAY, MINUTE
from schedcore.domain.cron import FOLDS, GAPS, Cron, parse_cron
from schedcore.domain.errors import Refused

NY = "America/New_York"

GAP = [
    ("at_once", "30 2 * * *", ["2026-03-08T07:00", "2026-03-09T06:30"]),
    ("shift", "30 2 * * *", ["2026-03-08T07:30", "2026-03-09T06:30"]),
    ("skip", "30 2 * * *", ["2026-03-09T06:30"]),
    ("shift", "30 2,3 * * *", ["2026-03-08T07:30", "2026-03-09T06:30", "2026-03-09T07:30"]),
    ("shift", "0,30 2 * * *", ["2026-03-08T07:00", "2026-03-08T07:30", "2026-03-09T06:00"]),
    ("skip", "0 2,3 * * *", ["2026-03-08T07:00", "2026-03-09T06:00"]),
]
FOLD = [
    ("first", "30 1 * * *", ["2026-11-01T05:30", "2026-11-02T06:30"]),
    ("second", "30 1 * * *", ["2026-11-01T06:30", "2026-11-02T06:30"]),
    ("both", "30 1 * * *", ["2026-11-01T05:30", "2026-11-01T06:30", "2026-11-02T06:30"]),
    ("second", "30 0,1,2 * * *", ["2026-11-01T04:30", "2026-11-01T06:30", "2026-11-01T07:30"]),
    (
        "both",
        "0,59 1 * * *",
        ["2026-11-01T05:00", "2026-11-01T05:59", "2026-11-01T06:00", "2026-11-01T06:59"],
    ),
]


@pytest.mark.parametrize(("gap", "text", "right"), GAP)
def test_a_skipped_time_fires_as_chosen(gap: str, text: str, right: list[str]):
    cron = parse_cron(text, NY, gap=gap)

    assert firings(cron, utc("2026-03-08T05:00"), len(right)) == [utc(one) for one in right]


@pytest.mark.parametrize(("fold", "text", "right"), FOLD)
def test_a_repeated_time_fires_as_chosen(fold: str, text: str, right: list[str]):
    cron = parse_cron(text, NY, fold=fold)

    assert firings(cron, utc("2026-11-01T04:00"), len(right)) == [utc(one) for one in right]


@pytest.mark.parametrize("choice", [{"gap": "skip"}, {"gap": "shift"}, {"fold": "second"}, {"fold": "both"}])
@pytest.mark.parametrize("text", ["*/30 2 * * *", "30 * * * *", "0 */2 * * *", "@hourly"])
def test_a_wildcard_job_has_no_choice(text: str, choice: dict[str, str]):
    with pytest.raises(Refused) as refused:
        parse_cron(text, NY, **choice)

    assert (refused.value.code, refused.value.field) == ("not_fixed", next(iter(choice)))


def test_a_choice_that_is_none_is_refused_with_the_nearest():
    with pytest.raises(Refused, match="'skip'"):
        parse_cron("30 2 * * *", NY, gap="skp")
    with pytest.raises(Refused, match="first, second, both"):
        parse_cron("30 2 * * *", NY, fold="zzz")


TEXTS = [
    *(
        "* * * * *",
        "*/7 * * * *",
        "0 * * * *",
        "*/20 1-3 * * *",
        "* 2 * * 0",
        "0 */2 * * 1-5",
        "15 0-23 * * *",
    ),
    *(
        "30 2 * * *",
        "0 0 * * *",
        "30 1,2 * * *",
        "0-59 0-3 * * *",
        "45 23 L * *",
        "0 12 * * 5#2",
        "10 3 13 * 5",
    ),
    *("*/30 0 29 2 *", "5,35 */6 1-7 3,10 */7"),
]
PLACES = [
    *(
        "UTC",
        NY,
        "Europe/Berlin",
        "Australia/Lord_Howe",
        "Antarctica/Troll",
        "America/Santiago",
        "Asia/Beirut",
    ),
    *("Pacific/Apia", "Africa/Casablanca", "Asia/Kathmandu", "Pacific/Chatham", "America/Sao_Paulo"),
]
#: Instants near a change of one of those zones, and two that are near none.
NEAR = [
    *("2026-03-08T07:00", "2026-11-01T06:00", "2026-03-29T01:00", "2026-10-25T01:00", "2026-04-04T15:00"),
    *("2026-10-03T15:30", "2018-08-12T04:00", "2026-03-28T22:00", "2011-12-30T10:00", "2025-02-23T02:00"),
    *("2018-11-04T03:00", "2018-02-18T02:00", "2026-06-15T12:00", "2030-01-01T00:00", "2028-02-29T00:00"),
]


@st.composite
def crons(draw: st.DrawFn) -> Cron:
    text, place = draw(st.sampled_from(TEXTS)), draw(st.sampled_from(PLACES))
    if parse_cron(text).fixed:
        return parse_cron(text, place, gap=draw(st.sampled_from(GAPS)), fold=draw(st.sampled_from(FOLDS)))
    return parse_cron(text, place)


@st.composite
def spans(draw: st.DrawFn) -> tuple[int, int]:
    middle = utc(draw(st.sampled_from(NEAR))) + draw(st.integers(-900, 900)) * MINUTE
    after = (
        middle - draw(st.integers(0, 3 * DAY // MINUTE)) * MINUTE - draw(st.sampled_from([0, 1, MINUTE - 1]))
    )
    return after, after + draw(st.integers(0, 3 * DAY)) - draw(st.sampled_from([0, 0, 1, DAY]))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(crons(), spans())
def test_counting_and_looking_back_agree_with_walking(cron: Cron, span: tuple[int, int]):
    after, until = span
    walked = []
    slot = cron.next(after)
    while slot is not None and slot <= until:
        walked.append(slot)
        slot = cron.next(slot)

    assert walked == sorted(set(walked))
    assert cron.count_between(after, until) == len(walked)
    for n in (0, 1, 3, len(walked), len(walked) + 5):
        assert cron.newest(after, until, n) == walked[max(len(walked) - n, 0) :][:n]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(crons(), spans())
def test_every_firing_is_found_from_just_before_it_and_from_nowhere_later(cron: Cron, span: tuple[int, int]):
    slot = cron.next(span[0])

    if slot is not None:
        assert cron.next(slot - 1) == slot
        assert cron.next(slot) != slot
        assert cron.count_between(slot - 1, slot) == 1


@pytest.mark.parametrize("text", ["* * * * *", "*/5 * * * *", "0 9 * * 1-5", "0 0 * 2 1#5"])
@pytest.mark.parametrize("place", ["UTC", NY, "Pacific/Apia"])
def test_fifty_years_are_counted_without_walking_them(text: str, place: str):
    cron = parse_cron(text, place)
    after, middle, until = utc("2001-01-01"), utc("2027-03-05T17:31"), utc("2051-01-01")

    total = cron.count_between(after, until)

    assert total == cron.count_between(after, middle) + cron.count_between(middle, until)
    if text == "* * * * *":
        assert total == (until - after) // MINUTE


def test_a_count_does_not_ask_for_each_firing(monkeypatch: pytest.MonkeyPatch):
    cron = parse_cron("* * * * *", NY)

    def never(*_: object) -> None:
        raise AssertionError("it walked")

    monkeypatch.setattr(type(cron), "next", never)

    assert cron.count_between(utc("2026-10-20"), utc("2026-11-10")) == 21 * 1440


def test_the_newest_do_not_ask_for_the_older_ones(monkeypatch: pytest.MonkeyPatch):
    cron = parse_cron("* * * * *", NY)
    asked = []
    last = cron._walls.last
    monkeypatch.setattr(
        type(cron._walls), "last", lambda self, low, high: asked.append(low) or last(low, high)
    )

    found = cron.newest(utc("2020-01-01"), utc("2026-11-10"), 10)

    assert len(found) == 10
    assert len(asked) <= 12


def test_the_same_times_are_known_however_written():
    weekdays = parse_cron("0 9 * * 1-5", NY)

    assert weekdays.same_times(parse_cron("00 09 * * MON-FRI", NY))
    assert not weekdays.same_times(parse_cron("0 9 * * 1-5", "Europe/Berlin"))
    assert not weekdays.same_times(parse_cron("0 9 * * 1-5", NY, gap="skip"))
    assert not parse_cron("0 * * * *", NY).same_times(parse_cron("0 0-23 * * *", NY))


RARE = [
    "0 0 29 2 *",
    "0 0 * 2 1#5",
    "*/30 1 29 2 *",
    "*/20 2 8 3 *",
    "30 2 8-14 3 */7",
    "0 12 1 1 *",
    "15 1 1-7 11 */7",
]


@pytest.mark.parametrize("text", RARE)
@pytest.mark.parametrize("place", [NY, "Europe/Berlin", "UTC", "Australia/Lord_Howe", "Pacific/Apia"])
def test_a_rare_job_misses_nothing_in_the_years_it_passes_over(text: str, place: str):
    cron = parse_cron(text, place)
    start = utc("1999-06-01")
    slots = firings(cron, start, 40)

    assert len(slots) == 40 or text == "0 0 * 2 1#5"
    for number, slot in enumerate(slots, 1):
        assert cron.count_between(start, slot) == number
    assert cron.newest(start, slots[-1], 9) == slots[-9:]
