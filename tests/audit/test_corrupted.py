"""Corrupted ledgers: each rule that can be broken is, and the audit says so, of that job and slot."""

from __future__ import annotations

import pytest
from tests.audit.conftest import Told
from tests.audit.corruptions import CORRUPTIONS, Corruption

from schedcore._audit.rules import RULES

OF_A_SLOT = {"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "L1", "L2"}
CASES = [
    pytest.param(case, database, id=f"{case.rules.split()[0]}-{case.name.replace(' ', '_')}-{database}")
    for case in CORRUPTIONS
    for database in case.on.split()
]


@pytest.mark.parametrize(("case", "database"), CASES)
def test_a_corruption_breaks_its_rules_and_no_others(
    case: Corruption, database: str, request: pytest.FixtureRequest
) -> None:
    told: Told = request.getfixturevalue("sqlite_told" if database == "sqlite" else "postgres_told")
    told.sql(*case.statements)

    broken = told.broken(canaries=["CANARY-1"])

    assert sorted(broken) == sorted(case.rules.split()), broken
    first = broken[case.rules.split()[0]]
    if case.about is not None:
        assert case.about in {one.job for one in first}
        if first[0].rule in OF_A_SLOT and "row of due" not in case.name:
            assert any(one.slot is not None for one in first) or "count" in case.name
    assert all("CANARY" not in one.what for found in broken.values() for one in found)


def test_every_rule_that_this_ledger_can_break_is_broken_by_one_of_them() -> None:
    broken = {rule for case in CORRUPTIONS for rule in case.rules.split()}

    assert set(RULES) - broken == {"I12", "I13", "I15", "L3"}


def test_a_file_with_a_damaged_page_is_a_finding_and_the_rest_is_read_all_the_same(sqlite_told: Told) -> None:
    path = sqlite_told.url.removeprefix("sqlite:///")
    (page,) = sqlite_told.rows("select rootpage from sqlite_master where name='ix_skipped_last'")
    with open(path, "r+b") as file:  # nobody has it open
        file.seek((page[0] - 1) * 4096)
        file.write(b"\xff" * 4096)

    broken = sqlite_told.broken()

    assert list(broken) == ["I20"]
    assert any("the store" in one.what for one in broken["I20"])


def test_a_text_that_is_no_text_is_a_finding(sqlite_told: Told) -> None:
    sqlite_told.sql("update {s}runs set reason=cast(x'ff' as text) where id={run}")

    assert {one.what.partition(" UTF-8")[0] for one in sqlite_told.broken()["I20"]} == {
        "the store: Could not decode to"
    }


def test_a_table_that_cannot_be_read_ends_its_own_part_only(sqlite_told: Told) -> None:
    path = sqlite_told.url.removeprefix("sqlite:///")
    (page,) = sqlite_told.rows("select rootpage from sqlite_master where name='holds'")
    with open(path, "r+b") as file:
        file.seek((page[0] - 1) * 4096)
        file.write(b"\xff" * 4096)

    report = sqlite_told.audit()

    results = {result.rule: result for result in report.results}
    assert {one.rule for one in report.findings} == {"I20"}
    assert results["I7"].checked > 10
    assert ("the store is damaged; it was read up to there", 1) in results["I14"].left


def test_what_cannot_be_asked_ends_its_own_part_only(told: Told) -> None:
    told.sql("alter table {s}holds rename column reason to whim")

    report = told.audit()

    results = {result.rule: result for result in report.results}
    assert {one.rule for one in report.findings} == {"I20"}
    assert ("the store is damaged; it was read up to there", 1) in results["I14"].left
    assert results["I16"].checked > 10


def test_an_order_that_is_no_move_is_named(told: Told) -> None:
    state = 'update {s}events set changes=\'{{"state":["%s","%s"]}}\' where job_id={job_quarter} and action=\'%s\''
    told.sql(state % ("active", "done", "pause"), state % ("done", "paused", "resume"))

    assert "an order moved it from done to paused, which is no move" in {
        one.what for one in told.broken()["I17"]
    }
