"""``docs/job-file.md`` has every field and policy, with the values that are really taken."""

from __future__ import annotations

from typing import Any

import pytest
from tests.house.pages import rows, toml_blocks

from schedcore._host.job_files import read_file
from schedcore.domain.duration import parse_duration
from schedcore.domain.errors import Refused
from schedcore.domain.job import JobOrder
from schedcore.domain.names import JOB_FIELDS, POLICY_FIELDS, TRIGGER_FIELDS, Names
from schedcore.domain.policy import Resolved
from schedcore.domain.policy_fields import READERS

PAGE = "docs/job-file.md"
FIELDS = rows(PAGE, "field")
POLICIES = rows(PAGE, "policy")
RANGES = [(row[0].strip("`"), row[2]) for row in POLICIES if row[2][-1].isalnum() and "-" in row[2]]
WORDS = [(row[0].strip("`"), row[2]) for row in POLICIES if row[2].startswith("`") and "{" not in row[2]]


def bare(cell: str) -> str:
    return cell.strip("`")


def number(text: str) -> int:
    return parse_duration(text) if text[-1].isalpha() else int(text.replace(",", ""))


def test_every_field_of_jobs_and_triggers_has_a_row_and_no_other_name_has():
    assert [bare(row[0]) for row in FIELDS] == [*JOB_FIELDS.own, *TRIGGER_FIELDS.own]


@pytest.mark.parametrize("row", FIELDS, ids=lambda row: row[0])
def test_a_row_tells_all_other_names_of_its_field(row: list[str]):
    names: Names = JOB_FIELDS if row in FIELDS[: len(JOB_FIELDS.own)] else TRIGGER_FIELDS
    told = {names._key(bare(alias)) for alias in row[1].split(", ") if alias}

    assert told == {name for name, own in names._own.items() if own == bare(row[0])} - {bare(row[0])}


def test_every_policy_has_a_row_and_no_other_name_has():
    assert [bare(row[0]) for row in POLICIES] == list(POLICY_FIELDS.own)


@pytest.mark.parametrize("row", POLICIES, ids=lambda row: row[0])
def test_a_row_tells_the_default(row: list[str]):
    value: Any = Resolved().value(bare(row[0]))
    if value is None or value == ():
        assert row[1] == ("unset" if value is None else "none")
    elif isinstance(value, bool | str):
        assert bare(row[1]) == str(value).lower()
    else:
        assert number(row[1]) == value


@pytest.mark.parametrize(("name", "told"), RANGES, ids=[name for name, _ in RANGES])
def test_both_ends_of_a_range_are_taken_and_nothing_beyond(name: str, told: str):
    span = told.removeprefix("at most ").removeprefix("0, ")
    low, high = (number(end) for end in span.split("-"))
    read = READERS[name]

    assert (read(low, name), read(high, name)) == (low, high)
    for beyond in (low - 1, high + 1):
        if beyond != 0:
            with pytest.raises(Refused):
                read(beyond, name)
    if told.startswith("0, "):
        assert read(0, name) == 0


@pytest.mark.parametrize(("name", "told"), WORDS, ids=[name for name, _ in WORDS])
def test_the_words_of_a_row_are_those_that_are_taken(name: str, told: str):
    words = [bare(word) for word in told.split(", ")]
    if words == ["true", "false"]:
        assert [READERS[name](value, name) for value in (True, False)] == [True, False]
        return
    with pytest.raises(Refused) as refused:
        READERS[name]("no such word", name)

    assert refused.value.hint == "one of: " + ", ".join(words)


def test_the_example_is_taken(tmp_path):
    (example,) = toml_blocks(PAGE)
    file = tmp_path / "schedcore.toml"
    file.write_text(example, encoding="utf-8")

    declared = read_file(file)

    assert declared.faults == []
    for key, order in declared.orders.items():
        assert JobOrder.errors({"key": key, **order}, now_us=0) == []
