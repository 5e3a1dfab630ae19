"""``docs/calendars.md`` has every field and word of calendars, the limits that hold, and an example that works."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from tests.house.pages import rows, text_of, toml_blocks

from schedcore._host.job_files import read_file
from schedcore._host.settings import load
from schedcore.domain.calendar import ON_CLOSED, Calendar, Calendars
from schedcore.domain.calendar_entries import MOST_CLOSED, MOST_QUIET
from schedcore.domain.closed_time import LONGEST_CLOSED
from schedcore.domain.job import JobOrder

PAGE = "docs/calendars.md"


def test_every_field_of_a_calendar_has_a_row_with_its_limit():
    told = {row[0].strip("`"): row[1] for row in rows(PAGE, "field of a calendar")}

    assert list(told) == [one.name for one in fields(Calendar)][1:]
    assert (told["closed"], told["quiet"]) == (f"{MOST_CLOSED:,}", str(MOST_QUIET))
    assert f"more than {LONGEST_CLOSED} days in a row" in text_of(PAGE)


def test_every_word_for_closed_time_has_a_row_and_the_default_says_so():
    told = {row[0].strip("`"): row[1] for row in rows(PAGE, "`on_closed`")}

    assert tuple(told) == ON_CLOSED
    assert [word for word, what in told.items() if "this is the default" in what] == [ON_CLOSED[0]]


def test_the_time_of_a_date_is_the_one_that_holds():
    assert f"the setting `day_time` ({Calendars().day_time})" in text_of(PAGE)


def test_the_example_is_taken(tmp_path: Path):
    (example,) = toml_blocks(PAGE)
    file = tmp_path / "schedcore.toml"
    file.write_text(example, encoding="utf-8")
    known = Calendars(load(file, {}).calendars)

    declared = read_file(file)

    assert declared.faults == []
    for key, order in declared.orders.items():
        assert JobOrder.errors({"key": key, **order}, now_us=0, calendars=known) == []
