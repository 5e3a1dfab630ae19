"""Triggers in words."""

from __future__ import annotations

import string
from typing import Any

import pytest
from tests.domain.moments import utc

from schedcore.domain.describe import describe
from schedcore.domain.errors import Refused
from schedcore.domain.trigger import Trigger
from schedcore.domain.words import LANGUAGES, PATTERNS, words_of

NOW = utc("2026-03-07T12:00")

CRON = [
    ("*/15 * * * *", "every 15 minutes"),
    ("* * * * *", "every minute"),
    ("*/7 * * * *", "every hour at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56"),
    ("5/15 * * * *", "every hour at minutes 5, 20, 35 and 50"),
    ("@hourly", "every hour on the hour"),
    ("5 * * * *", "every hour at minute 5"),
    ("0 */2 * * *", "every 2 hours at minute 0"),
    ("0 9 * * *", "at 09:00 every day"),
    ("0 9,17 * * *", "at 09:00 and 17:00 every day"),
    ("0 9 * * 1-5", "at 09:00 on weekdays"),
    ("0 9 * * MON,tue,WED,thu,FRI", "at 09:00 on weekdays"),
    ("30 10 * * 6,0", "at 10:30 at weekends"),
    ("0 0 * * SUN", "at 00:00 on Sunday"),
    ("0 9 * * 1,3,5", "at 09:00 on Monday, Wednesday and Friday"),
    ("0 9 * * FRI-SUN", "at 09:00 on Friday to Sunday"),
    ("0 9 * * 2-6/2", "at 09:00 on Tuesday, Thursday and Saturday"),
    ("30 2 1 * *", "at 02:30 on day 1 of the month"),
    ("0 9 1,15 * *", "at 09:00 on days 1 and 15 of the month"),
    ("15 8 10-20 * *", "at 08:15 on days 10 to 20 of the month"),
    ("0 0 L * *", "at 00:00 on the last day of the month"),
    ("0 9 * * 5#2", "at 09:00 on the second Friday of the month"),
    ("0 9 * * 5#2,1#5", "at 09:00 on the second Friday and fifth Monday of the month"),
    ("0 12 13 * FRI", "at 12:00 on day 13 of the month or on Friday"),
    ("0 12 1-7 * */7", "at 12:00 on Sunday that falls on day 1 to 7 of the month"),
    ("0 0 1 JAN,jul *", "at 00:00 on day 1 of the month in January and July"),
    ("0 9 * 3-5 6,0", "at 09:00 at weekends in March to May"),
    ("0 9 * 1 *", "at 09:00 every day in January"),
    ("*/10 9-17 * * MON-FRI", "every 10 minutes from 09:00 to 17:50 on weekdays"),
    ("* 9 * * *", "every minute from 09:00 to 09:59"),
    ("0,30 9-17 * * *", "at minutes 0 and 30 of hour 9 to 17"),
    ("*/30 * 1 * *", "every 30 minutes on day 1 of the month"),
]


@pytest.mark.parametrize(("text", "said"), CRON, ids=[text for text, _ in CRON])
def test_a_cron_is_said_in_words_with_its_zone(text: str, said: str):
    trigger = Trigger.parse({"cron": text, "zone": "Europe/Berlin"}, now_us=NOW)

    assert describe(trigger) == f"{said} (Europe/Berlin)"


OTHERS = [
    ({"every": "30m"}, "every 30 minutes"),
    ({"every": "1h"}, "every hour"),
    ({"every": "1m"}, "every minute"),
    ({"every": "90m"}, "every 1 hour 30 minutes"),
    ({"every": "1d"}, "every 24 hours"),
    ({"every": "1w"}, "every 7 days of 24 hours"),
    ({"every": "2h", "anchor": "2026-01-01T00:30Z"}, "every 2 hours, counted from 2026-01-01T00:30:00+00:00"),
    (
        {"at": "2026-03-08T02:30", "zone": "America/New_York"},
        "once, at 2026-03-08T03:00:00-04:00 (America/New_York)",
    ),
    (
        {"cron": "30 2 * * *", "gap": "skip", "fold": "second", "count": 3, "jitter": 90},
        (
            "at 02:30 every day (UTC); at most 3 times; put off by less than 1 minute 30 seconds; "
            "a time that the clock skips is left out; a time that comes twice counts the second time"
        ),
    ),
    (
        {"cron": "30 2 * * *", "gap": "shift", "fold": "both"},
        (
            "at 02:30 every day (UTC); a time that the clock skips is moved by the length of the gap; "
            "a time that comes twice counts both times"
        ),
    ),
    (
        {
            "every": "5m",
            "not_before": "2026-07-01T00:00",
            "not_after": "2026-08-01T00:00",
            "zone": "Asia/Tokyo",
        },
        "every 5 minutes; from 2026-07-01T00:00:00+09:00; until 2026-08-01T00:00:00+09:00",
    ),
]


@pytest.mark.parametrize(("data", "said"), OTHERS, ids=[str(data)[:40] for data, _ in OTHERS])
def test_the_other_kinds_and_what_limits_them_are_said_too(data: dict[str, Any], said: str):
    assert describe(Trigger.parse(data, now_us=NOW)) == said


def test_a_plugins_kind_is_said_as_it_is_written():
    class Rule:
        def next(self, after_us: int) -> None:
            return None

    sunset = Trigger.parse({"sun": "{n} %s set"}, now_us=NOW, kinds={"sun": lambda text, zone: Rule()})

    assert describe(sunset) == "sun {n} %s set (UTC)"


def test_a_language_without_words_is_refused():
    with pytest.raises(Refused) as refused:
        describe(Trigger.parse({"every": "5m"}, now_us=NOW), lang="tlh")

    assert refused.value.code == "unknown_language"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_language_has_every_pattern_with_no_other_values(lang: str):
    words = words_of(lang)

    assert set(words.patterns) == set(PATTERNS)
    for name, pattern in words.patterns.items():
        used = {field for _, field, _, _ in string.Formatter().parse(pattern) if field}
        assert used <= set(PATTERNS[name]), name
    assert words.code == lang
    assert (len(words.weekdays), len(words.months), len(words.ordinals)) == (7, 12, 5)
