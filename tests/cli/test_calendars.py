"""Calendars on the command line: across a holiday, in every answer, and what is refused (F-15)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Cli

CONFIG = """\
timezone = "Europe/Paris"
day_time = "08:00"

[calendars.france]
closed = ["saturday", "sunday", "12-25", "01-01", 2027-03-29]

[calendars.night]
quiet = ["22:00-07:00"]
"""
ACROSS = ("--after", "2026-12-23T12:00:00Z")


@pytest.fixture
def france(schedcore: Cli, home: Path) -> Cli:
    """The command, with two calendars in its settings."""
    (home / "schedcore.toml").write_text(CONFIG, encoding="utf-8")
    return schedcore


def test_next_across_a_holiday_drops_it_and_says_so(france: Cli):
    told = france("next", "0 9 * * *", "--calendar", "france", *ACROSS, "-n", "2", "--json")

    assert told.json == {
        "v": 1,
        "slots": [
            {"utc": "2026-12-24T08:00:00.000Z", "local": "2026-12-24T09:00:00+01:00", "note": None},
            {
                "utc": "2026-12-28T08:00:00.000Z",
                "local": "2026-12-28T09:00:00+01:00",
                "note": "before it: 3 slots dropped, the first because 12-25 is closed in calendar france",
            },
        ],
        "dropped": [
            {
                "first": "2026-12-25T08:00:00.000Z",
                "first_local": "2026-12-25T09:00:00+01:00",
                "last": "2026-12-27T08:00:00.000Z",
                "last_local": "2026-12-27T09:00:00+01:00",
                "slots": 3,
                "reason": "calendar",
                "note": "3 slots dropped, the first because 12-25 is closed in calendar france",
            }
        ],
    }


def test_next_across_a_holiday_moves_it_and_says_so(france: Cli):
    told = france("next", "0 9 25 * *", "--calendar", "france", "--on-closed", "move", *ACROSS, "-n", "1")

    assert told.lines[0] == (
        "at 09:00 on day 25 of the month (Europe/Paris); moved out of the closed time of calendar france"
    )
    assert "2026-12-28 09:00:00+01:00" in told.lines[2]
    assert "moved from 2026-12-25T09:00:00+01:00, because 12-25 is closed in calendar france" in told.lines[2]


def test_a_job_is_added_with_a_calendar_and_shown_with_it(france: Cli):
    added = france("add", "report", "0 9 * * *", "--set", "calendar=france", "--", "/bin/true")
    shown = france("show", "report")
    coming = france("next", "report", *ACROSS, "-n", "2", "--json").json

    assert added.code == 0, added.err
    assert "not in the closed time of calendar france" in shown.out
    assert [slot["utc"][:10] for slot in coming["slots"]] == ["2026-12-24", "2026-12-28"]
    assert [row["slots"] for row in coming["dropped"]] == [3]


def test_why_says_what_closes_a_time_to_come(france: Cli):
    france("add", "report", "0 9 * * *", "--set", "calendar=france", "--", "/bin/true")

    told = france("why", "report", "2030-12-25T09:00")

    assert "will get no run: dropped, because 12-25 is closed in calendar france" in told.out


@pytest.mark.parametrize(
    ("words", "code", "field", "hint"),
    [
        (["0 9 * * *", "--calendar", "frence"], "unknown_calendar", "calendar", "did you mean 'france'?"),
        (["0 9 * * 6", "--calendar", "france"], "never_fires", "on_closed", "on_closed = 'move'"),
        (["0 9 * * *", "--on-closed", "move"], "not_taken", "on_closed", "add calendar = NAME"),
        (["--at", "2030-05-03"], "bad_instant", "at", "write '2030-05-03T09:00'"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_write(
    france: Cli, words: list[str], code: str, field: str, hint: str
):
    told = france("next", *words, "--json")

    assert told.code == 2
    assert (told.error["code"], told.error["field"]) == (code, field)
    assert hint in told.error["hint"]


def test_a_job_has_its_own_calendar(france: Cli):
    france("add", "report", "0 9 * * *", "--", "/bin/true")

    told = france("next", "report", "--calendar", "france")

    assert told.code == 2
    assert "its own calendar" in told.err


def test_a_date_alone_is_refused_from_people_unless_the_order_has_a_day_rule(france: Cli):
    bare = france("add", "a", "--at", "2030-05-03", "--json", "--", "/bin/true")
    timed = france("add", "b", "--at", "2030-05-03", "--set", "day_time=10:15", "--json", "--", "/bin/true")
    judged = france("add", "c", "--at", "2030-05-03", "--set", "calendar=night", "--json", "--", "/bin/true")

    assert (bare.code, bare.error["code"]) == (2, "bad_instant")
    assert bare.error["hint"] == "write '2030-05-03T08:00', or give day_time = '08:00'"
    assert timed.json["slots"][0]["local"] == "2030-05-03T10:15:00+02:00"
    assert judged.json["slots"][0]["local"] == "2030-05-03T08:00:00+02:00"


def test_a_job_file_names_calendars_and_gives_no_dates_alone(france: Cli, home: Path):
    body = 'kind = "script"\npayload = {args = ["/bin/true"]}\nunchecked = "a test"\n'
    good = f'[jobs.good]\ncron = "0 9 * * *"\ncalendar = "france"\non_closed = "move"\n{body}'
    bad = f'[jobs.bad]\ncron = "0 9 * * *"\ncalendar = "mars"\n{body}'
    dated = f"[jobs.dated]\nat = 2030-05-03\n{body}"
    (home / "schedcore.toml").write_text("\n".join([CONFIG, good, bad, dated]), encoding="utf-8")

    checked = france("config", "check", "--json")
    applied = france("apply", "--json")

    assert checked.code == 1
    assert sorted((fault["field"], fault["code"]) for fault in checked.json["faults"]) == [
        ("jobs.bad.calendar", "unknown_calendar"),
        ("jobs.dated.at", "bad_instant"),
    ]
    assert [job["key"] for job in applied.json["creates"]] == ["good"]
    assert sorted(job["external_id"] for job in applied.json["rejects"]) == ["bad", "dated"]


def test_config_check_names_bad_entries_and_config_show_has_the_good_ones(france: Cli, home: Path):
    shown = france("config", "show", "--json")
    (home / "schedcore.toml").write_text(CONFIG.replace('"12-25"', '"25-12"'), encoding="utf-8")

    checked = france("config", "check", "--json")

    assert '"closed": ["sunday", "saturday", "01-01", "12-25", "2027-03-29"]' in shown.out
    (fault,) = checked.json["faults"]
    assert (fault["field"], fault["value"]) == ("calendars.france.closed[2]", "25-12")
    assert "month and day" in fault["hint"]


def test_an_edit_by_options_changes_what_becomes_of_closed_time(france: Cli):
    france("add", "report", "0 9 * * *", "--set", "calendar=france", "--", "/bin/true")

    told = france("edit", "report", "--set", "on_closed=move")
    gone = france("edit", "report", "--unset", "calendar")

    assert "trigger.on_closed: drop -> move" in told.out
    assert gone.code == 0, gone.err
    assert "calendar" not in france("show", "report", "--json").json["trigger"]
