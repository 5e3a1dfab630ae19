"""Durations, row by row of section 9 of the cron page, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedcore.domain.duration import bare_duration_hint, duration_text, parse_duration
from schedcore.domain.errors import Refused

TAKEN = [
    *(("90s", 90), ("30m", 1_800), ("2h", 7_200), ("1h30m", 5_400), ("PT1H30M", 5_400), ("PT1M", 60)),
    *(
        ("1d", 86_400),
        ("P1D", 86_400),
        ("1w", 604_800),
        ("P2W", 1_209_600),
        ("PT36H", 129_600),
        ("P1DT2H", 93_600),
    ),
    *(
        ("PT90S", 90),
        ("1d12h", 129_600),
        ("05m", 300),
        ("1w2d3h4m5s", 788_645),
        ("0h30m", 1_800),
        ("P366D", 31_622_400),
    ),
]
REFUSED = [
    *(("90", "'90s'"), ("0", "unit"), ("-5m", "sign"), ("+5m", "sign"), ("-PT5M", "sign"), ("PT-5M", "sign")),
    *(("nan", "30m"), ("inf", "30m"), ("1.5h", "fraction"), ("PT0.5S", "fraction"), ("PT1,5H", "fraction")),
    *(
        ("5M", "month or a minute"),
        ("P1M", "no fixed length"),
        ("P1Y", "no fixed length"),
        ("P1M2D", "no fixed length"),
    ),
    *(
        ("1y", "no fixed length"),
        ("2 months", "30m"),
        ("P", "30m"),
        ("PT", "30m"),
        ("P1H", "30m"),
        ("P1DT", "30m"),
    ),
    *(
        ("P1W2D", "30m"),
        ("30M20S", "30m"),
        ("5 m", "'5m'"),
        ("5H", "'5h'"),
        ("1h 30m", "'1h30m'"),
        ("30m1h", "large to"),
    ),
    *(("5m5m", "each once"), ("m", "30m"), ("", "30m"), ("30m\n", "30m"), (" 30m", "'30m'"), ("1h30", "30m")),
    *(("999999999d", "longer than"), ("9" * 5_000, "too many"), ("9" * 30 + "s", "30m"), ("367d", "366d")),
    *(
        ("\u0665m", "30m"),
        ("\uff15m", "30m"),
        ("\u00bdh", "30m"),
        ("@every 5m", "30m"),
        ("30min", "30m"),
        ("pt1h", "30m"),
    ),
]


@pytest.mark.parametrize(("text", "seconds"), TAKEN)
def test_a_duration_is_read(text: str, seconds: int):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(("text", "says"), REFUSED, ids=[repr(text)[:20] for text, _ in REFUSED])
def test_what_has_no_exact_length_is_refused(text: str, says: str):
    with pytest.raises(Refused) as refused:
        parse_duration(text, "timeout")

    assert (refused.value.code, refused.value.field) == ("bad_duration", "timeout")
    assert says in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("value", [90, 1.5, True, None, b"30m", ["30m"]])
def test_a_duration_that_is_no_text_is_refused(value: object):
    with pytest.raises(Refused):
        parse_duration(value)  # type: ignore[arg-type]  # wrong on purpose


def test_a_number_is_shown_with_its_unit():
    with pytest.raises(Refused, match="'90s'"):
        parse_duration(90)  # type: ignore[arg-type]  # wrong on purpose


def test_a_setting_has_its_own_bounds():
    assert parse_duration("5s", minimum=5, maximum=60) == 5
    assert parse_duration("1m", minimum=5, maximum=60) == 60
    for text in ("4s", "61s"):
        with pytest.raises(Refused, match="5s to 1m"):
            parse_duration(text, minimum=5, maximum=60)


def test_a_bare_duration_gets_both_ways_to_write_it():
    assert (
        bare_duration_hint("30m")
        == "--every 30m for one run each 30m, --in 30m for a single run 30m from now"
    )
    assert bare_duration_hint("PT30M") == bare_duration_hint("30m")
    assert bare_duration_hint("0 9 * * *") is None
    assert bare_duration_hint("2026-11-01T09:00") is None


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 366 * 86_400))
def test_the_short_form_is_read_back(seconds: int):
    assert parse_duration(duration_text(seconds)) == seconds
