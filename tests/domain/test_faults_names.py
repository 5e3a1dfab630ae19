"""Faults in the wild that concern names and texts alone; the ids are those of the case page."""

from __future__ import annotations

from typing import Any

import pytest

from schedcore.domain import cron_grammar
from schedcore.domain.at import parse_instant
from schedcore.domain.duration import parse_duration
from schedcore.domain.errors import Refused
from schedcore.domain.job import JobOrder

LEAST = {"key": "backup", "kind": "script"}


def refused(data: dict[str, Any]) -> Refused:
    with pytest.raises(Refused) as caught:
        JobOrder.parse(data, now_us=0, default_zone="UTC", known_kinds=("script",))
    return caught.value


@pytest.mark.parametrize("key", ["../../x", "..\\x", "a/b", "/etc/passwd", "a\0b"])
def test_fault_S9_a_name_leads_to_no_other_folder(key: str):
    error = refused(LEAST | {"key": key})

    assert (error.field, error.code) == ("key", "bad_key")


@pytest.mark.parametrize(
    "key", ["job-1\n", "job-1\r", "--claim\n--finish", "-claim", "job-\u0661", "jo\u0432"]
)
def test_fault_S39_a_name_is_one_line_of_plain_letters(key: str):
    assert refused(LEAST | {"key": key}).code == "bad_key"


@pytest.mark.parametrize("field", ["groups", "tags", "toolset"])
@pytest.mark.parametrize("name", ["mail\n", "mail\u0661", "-mail"])
def test_fault_S39_so_is_every_other_name(field: str, name: str):
    assert refused(LEAST | {field: [name]}).field == f"{field}[0]"


@pytest.mark.parametrize("text", ["5m\n", "\u0665m", "5\u0665s"])
def test_fault_S39_durations_have_plain_digits_and_end_where_they_end(text: str):
    with pytest.raises(Refused):
        parse_duration(text)


@pytest.mark.parametrize("text", ["2026-06-01T09:00:00Z\n", "2026-06-01T0\u0669:00:00Z"])
def test_fault_S39_so_do_instants(text: str):
    with pytest.raises(Refused):
        parse_instant(text, zone="UTC")


@pytest.mark.parametrize("text", ["\u0660 9 * * *", "0 9 * * *\n0 10 * * *"])
def test_fault_S39_so_do_expressions(text: str):
    with pytest.raises(Refused):
        cron_grammar.read_fields(text)


def test_fault_S4_an_unknown_field_of_a_job_is_refused_by_name():
    error = refused(LEAST | {"files": [{"filepath": "/etc/passwd"}]})

    assert "files" in str(error)
