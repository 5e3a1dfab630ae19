"""``next`` with expressions: no ledger, and the exact forms of the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Cli


def test_slots_have_utc_local_and_note(cli: Cli):
    words = ("--tz", "America/New_York", "--after", "2026-03-07T12:00:00Z", "-n", "1", "--json")

    told = cli("next", "30 2 * * *", *words)

    note = told.json["slots"][0].pop("note")
    assert told.json["v"] == 1
    assert set(told.json) == {"v", "slots"}
    (slot,) = told.json["slots"]
    assert slot["utc"] == "2026-03-08T07:00:00.000Z"
    assert slot["local"] == "2026-03-08T03:00:00-04:00"
    assert note is None or "02:30" in note


def test_the_note_says_what_a_clock_change_does(cli: Cli):
    words = ("--tz", "America/New_York", "--after", "2026-03-07T12:00:00Z", "-n", "1", "--json")

    (slot,) = cli("next", "30 2 * * *", *words).json["slots"]

    assert "02:30" in slot["note"]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["--every", "2h"], "2026-11-01T02:00:00.000Z"),
        (["--at", "2026-11-01T09:30:00+01:00"], "2026-11-01T08:30:00.000Z"),
        (["@daily"], "2026-11-02T00:00:00.000Z"),
        (["2026-11-05T10:00"], "2026-11-05T10:00:00.000Z"),
        (["--in", "90s"], "2026-11-01T00:01:30.000Z"),
    ],
    ids=str,
)
def test_every_form_of_an_expression_is_taken(cli: Cli, words: list[str], first: str):
    told = cli("next", *words, "--after", "2026-11-01T00:00:00Z", "--json")

    assert told.code == 0, told.err
    assert told.json["slots"][0]["utc"] == first


def test_n_is_5_unless_said_and_at_most_100(cli: Cli):
    assert len(cli("next", "@hourly", "--json").json["slots"]) == 5
    assert len(cli("next", "@hourly", "-n", "100", "--json").json["slots"]) == 100
    assert cli("next", "@hourly", "-n", "101").code == 2
    assert cli("next", "@hourly", "-n", "0").code == 2


def test_people_are_told_in_words_with_a_table_below(cli: Cli):
    told = cli("next", "0 9 * * 1-5", "--tz", "Europe/Berlin", "-n", "2")

    assert told.lines[0] == "at 09:00 on weekdays (Europe/Berlin)"
    assert told.lines[1].split() == ["UTC", "LOCAL", "LEFT"]
    assert len(told.lines) == 4


def test_one_thing_is_asked_at_a_time(cli: Cli):
    assert cli("next").code == 2
    assert cli("next", "@daily", "--every", "2h").code == 2
    assert cli("next", "@daily", "--down-from", "2026-01-01T00:00Z", "--up-at", "2026-01-02T00:00Z").code == 2


def test_the_zone_of_the_settings_holds_where_none_is_given(cli: Cli, home):
    (home / "schedcore.toml").write_text('timezone = "Asia/Tokyo"\n')

    told = cli("next", "0 9 * * *", "--after", "2026-01-01T12:00:00Z", "-n", "1", "--json")

    assert told.json["slots"][0]["local"] == "2026-01-02T09:00:00+09:00"


@pytest.mark.parametrize(
    ("lang", "said", "note"),
    [
        ("fr", "tous les jours à 02:30 (America/New_York)", "02:30 n'existe pas le 2026-03-08\u00a0; "),
        ("zh", "每天02:30（America/New_York）", "2026-03-08没有02:30；时钟跳过后立即执行"),
    ],
)
def test_another_language_says_the_trigger_and_the_notes(cli: Cli, lang: str, said: str, note: str):
    words = ("--tz", "America/New_York", "--after", "2026-03-07T12:00:00Z", "-n", "1", "--lang", lang)

    told = cli("next", "30 2 * * *", *words)

    assert told.out.splitlines()[0] == said
    assert note in told.out


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", "there is no further slot"), ("fr", "il n'y a plus de créneau"), ("zh", "没有后续的执行时刻")],
)
def test_a_trigger_that_is_over_says_so_in_the_language_asked_for(cli: Cli, lang: str, said: str):
    told = cli("next", "--at", "2026-01-01T00:00Z", "--after", "2026-02-01T00:00Z", "--lang", lang)

    assert said in told.err


def test_the_setting_says_the_language_and_an_option_another(cli: Cli, home: Path):
    (home / "schedcore.toml").write_text('language = "fr"\n')

    assert cli("next", "@daily").out.startswith("tous les jours à 00:00")
    assert cli("next", "@daily", "--lang", "zh").out.startswith("每天00:00")
