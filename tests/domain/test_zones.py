"""Zones come from the tzdata package, whatever the machine has, and nothing outside is changed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
import tzdata
from tests.domain import oracle
from tests.domain.moments import utc

from schedcore.domain.clock import DAY, SECOND
from schedcore.domain.cron import parse_cron
from schedcore.domain.errors import Refused
from schedcore.domain.timeline import ALWAYS, NEVER, timeline
from schedcore.domain.zones import replaced_data, tz_version, zone, zone_bytes, zone_names

REFUSED = [
    *(
        "",
        "Europe/Berln",
        "America",
        "America/",
        "localtime",
        "posixrules",
        "Factory",
        "UTC+5",
        "+02:00",
        "-0500",
    ),
    *(
        "GMT+5",
        "right/Europe/Berlin",
        "posix/UTC",
        "/etc/localtime",
        "../UTC",
        "zone.tab",
        "Europe/Berlin\n",
        "utc",
    ),
    *(
        "europe/berlin",
        "Europe\\Berlin",
        " UTC",
        "x" * 10_000,
        "UTC\x00",
        "\N{FULLWIDTH LATIN CAPITAL LETTER U}TC",
    ),
]


def run(code: str, **environ: str) -> list[str]:
    """The words that a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_iana_key_is_refused(name: str):
    with pytest.raises(Refused) as refused:
        zone(name)

    assert refused.value.code == "unknown_zone"
    assert refused.value.field is None
    assert refused.value.hint
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("name", [None, 5, b"UTC", UTC, ["UTC"]])
def test_a_zone_that_is_no_text_is_refused(name: object):
    with pytest.raises(Refused):
        zone(name)  # type: ignore[arg-type]  # wrong on purpose


def test_a_typing_error_gets_the_nearest_zone():
    with pytest.raises(Refused, match="'Europe/Berlin'"):
        zone("Europe/Berln")
    with pytest.raises(Refused, match="'America/New_York'"):
        zone("America/NewYork")


def test_an_offset_is_told_that_it_is_no_zone():
    with pytest.raises(Refused, match="an offset is no zone"):
        zone("UTC+5")


def test_every_listed_zone_opens():
    for name in sorted(zone_names()):
        assert zone(name).key == name


def test_the_version_is_that_of_the_package():
    assert tz_version() == tzdata.IANA_VERSION


def test_the_files_of_the_machine_are_not_asked(tmp_path: Path):
    (tmp_path / "Europe").mkdir()
    (tmp_path / "Europe" / "Berlin").write_bytes(zone_bytes("Asia/Tokyo"))
    code = (
        "import zoneinfo; from schedcore.domain.timeline import timeline\n"
        "print(timeline('Europe/Berlin').offset(1_781_000_000_000_000) // 3_600_000_000)\n"
        "print(zoneinfo.ZoneInfo('Europe/Berlin').utcoffset(__import__('datetime').datetime(2026, 6, 9)))"
    )

    assert run(code, PYTHONTZPATH=str(tmp_path)) == ["2", "9:00:00"]


@pytest.mark.parametrize("machine", ["Pacific/Kiritimati", "America/New_York", "UTC"])
def test_hosts_in_other_system_zones_have_the_same_slots(machine: str):
    code = (
        "from schedcore.domain.trigger import Trigger as T\n"
        "a = T.parse({'cron': '30 2 * * *', 'zone': 'Europe/Berlin'}, now_us=0)\n"
        "b = T.parse({'at': '2026-03-29T02:30'}, now_us=0)\n"
        "print(a.next(1_774_700_000_000_000), b.next(0), a.jitter_of('j', 5))"
    )

    assert run(code, TZ=machine, PYTHONTZPATH="") == ["1774746000000000", str(utc("2026-03-29T02:30")), "0"]


def test_the_segments_of_every_zone_are_those_of_zoneinfo():
    rnd = random.Random(3)
    for name in sorted(zone_names()):
        line, there = timeline(name), zone(name)
        index = line.index(0)
        seconds = [rnd.randrange(4_200_000_000) for _ in range(15)]
        while (part := line.part(index)).until < utc("2045-01-01"):
            seconds += [part.until // SECOND - 1, part.until // SECOND]
            index += 1
        for at in seconds:
            expected = datetime.fromtimestamp(at, UTC).astimezone(there).utcoffset()

            assert timedelta(microseconds=line.offset(at * SECOND)) == expected, f"{name} at {at}"


def test_no_change_of_a_rule_is_missed():
    for name in (
        "Antarctica/Macquarie",
        "Europe/Vilnius",
        "America/New_York",
        "Africa/Cairo",
        "Asia/Gaza",
        "EST5EDT",
    ):
        line = timeline(name)
        found = [
            line.part(n).start
            for n in range(line.index(utc("2000-01-01")) + 1, line.index(utc("2099-12-31")) + 1)
        ]

        assert found == [minute * 60 * SECOND for minute in oracle.changes(name, 2000, 2100)]


def test_a_segment_holds_its_instant_and_borders_on_the_next():
    line = timeline("Europe/Berlin")
    start, until, offset = line.segment(utc("2026-06-15"))

    assert start <= utc("2026-06-15") < until
    assert offset == 2 * 3600 * SECOND
    assert line.segment(until)[0] == until
    assert line.segment(until - 1)[0] == start


def test_a_zone_without_changes_is_one_segment():
    assert timeline("UTC").segment(utc("2026-06-15")) == (ALWAYS, NEVER, 0)


def test_the_first_instant_that_reaches_a_wall_time():
    line = timeline("America/New_York")

    assert line.reach(utc("2026-03-08T02:30")) == utc("2026-03-08T07:00")
    assert line.reach(utc("2026-11-01T01:30")) == utc("2026-11-01T05:30")
    assert line.reach(utc("2026-11-01T02:00")) == utc("2026-11-01T07:00")
    assert timeline("Pacific/Apia").reach(utc("2011-12-30T12:00")) == utc("2011-12-30T10:00")


def test_new_zone_data_are_rehearsed_and_forgotten():
    kept = parse_cron("0 9 * * *", "Europe/Berlin")
    moved = files("tzdata").joinpath("zoneinfo", "Asia", "Tokyo").read_bytes()
    after = utc("2026-06-15")

    with replaced_data("2099z", {"Europe/Berlin": moved}):
        assert tz_version() == "2099z"
        assert zone_bytes("Europe/Berlin") == moved
        assert parse_cron("0 9 * * *", "Europe/Berlin").next(after) == after + DAY
        assert kept.next(after) == utc("2026-06-15T07:00")

    assert tz_version() == tzdata.IANA_VERSION
    assert parse_cron("0 9 * * *", "Europe/Berlin").next(after) == utc("2026-06-15T07:00")
