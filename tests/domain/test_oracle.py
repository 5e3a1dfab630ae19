"""Cron against brute force: random expressions, around clock changes, in many zones."""

from __future__ import annotations

import random
from bisect import bisect_right

import pytest
from tests.domain import oracle

from schedcore.domain.clock import MINUTE, SECOND
from schedcore.domain.cron import FOLDS, GAPS, parse_cron
from schedcore.domain.errors import Refused

#: A zone, and the years in which its changes are looked at. Half-hour gaps (Lord Howe), two-hour ones
#: (Troll), missing midnights (Beirut, Sao Paulo, Santiago, Cairo, Tehran, Asuncion, Havana), missing days.
ZONES = [
    *(("Africa/Cairo", 2023, 2029), ("Africa/Casablanca", 2016, 2029), ("Africa/El_Aaiun", 2019, 2028)),
    *(("America/Asuncion", 2012, 2019), ("America/Caracas", 2006, 2017), ("America/Chicago", 2018, 2027)),
    *(("America/Havana", 2016, 2027), ("America/Los_Angeles", 2021, 2030), ("America/New_York", 2019, 2030)),
    *(("America/Nuuk", 2021, 2027), ("America/Santiago", 2016, 2027), ("America/Sao_Paulo", 2009, 2020)),
    *(
        ("America/Scoresbysund", 2022, 2029),
        ("America/St_Johns", 2005, 2013),
        ("America/Tijuana", 2022, 2028),
    ),
    *(("America/Toronto", 2024, 2029), ("Antarctica/Casey", 2016, 2024), ("Antarctica/Troll", 2018, 2029)),
    *(("Asia/Almaty", 2003, 2026), ("Asia/Amman", 2009, 2023), ("Asia/Beirut", 2018, 2029)),
    *(("Asia/Gaza", 2016, 2026), ("Asia/Jerusalem", 2020, 2029), ("Asia/Pyongyang", 2014, 2019)),
    *(("Asia/Tehran", 2014, 2023), ("Asia/Yerevan", 2006, 2013), ("Atlantic/Azores", 2020, 2029)),
    *(
        ("Australia/Adelaide", 2019, 2027),
        ("Australia/Lord_Howe", 2012, 2030),
        ("Australia/Sydney", 2020, 2029),
    ),
    *(("Europe/Berlin", 2019, 2030), ("Europe/Chisinau", 2021, 2028), ("Europe/Dublin", 2019, 2030)),
    *(("Europe/Helsinki", 2017, 2025), ("Europe/Kyiv", 2021, 2028), ("Europe/Lisbon", 2019, 2028)),
    *(("Europe/London", 2019, 2030), ("Europe/Moscow", 2008, 2015), ("Europe/Volgograd", 2010, 2021)),
    *(("Pacific/Apia", 2009, 2022), ("Pacific/Auckland", 2020, 2029), ("Pacific/Chatham", 2018, 2029)),
    *(("Pacific/Fakaofo", 2011, 2013), ("Pacific/Fiji", 2012, 2022), ("Pacific/Norfolk", 2015, 2026)),
    *(("Pacific/Tongatapu", 2016, 2018), ("Asia/Kolkata", 2026, 2027), ("UTC", 2026, 2027)),
]
CASES = 24_000
CHUNKS = 12


def windows(chunk: int) -> list[oracle.Window]:
    """At most nine windows for each zone of a chunk, each from 2.5 days before a change to 3 behind it."""
    found = []
    for key, first, last in ZONES[chunk::CHUNKS]:
        at = oracle.changes(key, first, last) or [29_700_000]
        for change in random.Random(key).sample(at, min(len(at), 9)):
            found.append(oracle.Window(key, change - 3600, 3600 + 4320))
    return found


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_firings_around_clock_changes_are_those_of_the_oracle(chunk: int):
    rnd = random.Random(20_261_130 + chunk)
    around = windows(chunk)
    each = -(-CASES // CHUNKS // len(around))
    ran = 0
    for window in around:
        for text in oracle.expressions(rnd, each):
            expression = oracle.Expression(text)
            gap, fold = "at_once", "first"
            if not expression.wild and rnd.random() < 0.4:
                gap, fold = rnd.choice(GAPS), rnd.choice(FOLDS)
            cron = parse_cron(text, window.key, gap=gap, fold=fold)
            firings = window.firings(expression, gap, fold)
            end = (window.end - window.MARGIN) * MINUTE
            after = rnd.randrange(window.start + window.MARGIN, window.end - 2 * window.MARGIN) * MINUTE
            after += rnd.choice([0, 0, 0, 1, SECOND, MINUTE - 1])
            case = f"{text!r} in {window.key} gap={gap} fold={fold} after {after}"
            expected = firings_after(firings, after, end, 5)
            for us in expected:
                found = cron.next(after)

                assert found == us, case
                after = found
            if len(expected) < 5:
                found = cron.next(after)

                assert found is None or found >= end, case
            ran += 1

    assert ran >= CASES // CHUNKS


def firings_after(firings: list[int], after: int, end: int, n: int) -> list[int]:
    """The next ``n`` firings in microseconds; the last is one that lies in what the window knows."""
    start = bisect_right(firings, after // MINUTE)
    return [us for utc in firings[start : start + n] if (us := utc * MINUTE) < end]


@pytest.mark.parametrize("chunk", range(4))
def test_nothing_fires_where_the_oracle_sees_nothing(chunk: int):
    rnd = random.Random(77 + chunk)
    for window in windows(chunk * 3)[:12]:
        low, high = (window.start + window.MARGIN) * MINUTE, (window.end - window.MARGIN) * MINUTE
        for text in oracle.expressions(rnd, 25):
            expression = oracle.Expression(text)
            firings = [us for utc in window.firings(expression) if low < (us := utc * MINUTE) <= high]
            cron = parse_cron(text, window.key)

            assert cron.count_between(low, high) == len(firings), f"{text!r} in {window.key}"
            assert cron.newest(low, high, 7) == firings[-7:], f"{text!r} in {window.key}"


def test_the_days_of_ordinary_years_are_those_of_the_oracle():
    rnd = random.Random(5)
    start = 29_700_000 // oracle.DAY * oracle.DAY
    first = (oracle.EPOCH + oracle.timedelta(minutes=start)).date()
    for text in oracle.expressions(rnd, 700):
        expression = oracle.Expression(text)
        cron = parse_cron(text)
        days = [n for n in range(900) if expression.admits(first + oracle.timedelta(days=n))]
        times = sorted(60 * h + m for h in expression.hours for m in expression.minutes)
        after = start * MINUTE - 1
        for n in days[:40]:
            found = cron.next(after)

            assert found == (start + n * oracle.DAY + times[0]) * MINUTE, text
            after = (start + n * oracle.DAY + times[-1]) * MINUTE


def test_the_oracle_and_the_cases_agree_on_what_is_refused_as_never():
    for text in ("0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *"):
        expression = oracle.Expression(text)

        assert not expression.walls(oracle.date(2024, 1, 1), oracle.date(2032, 12, 31))
        with pytest.raises(Refused, match="never"):
            parse_cron(text)
