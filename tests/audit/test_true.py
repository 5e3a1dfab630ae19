"""A ledger in which nothing is wrong: nothing is found, and everything that can be checked was."""

from __future__ import annotations

from tests.audit.conftest import Told

from schedcore._audit.rules import RULES

NOT_IN_THIS_LEDGER = {"I12", "I13", "I15", "L3"}


def test_nothing_is_found_in_a_ledger_in_which_nothing_is_wrong(told: Told) -> None:
    report = told.audit()

    assert [f.as_dict() for f in report.findings] == []
    assert report.ok


def test_every_rule_has_checked_something_or_says_why_not(told: Told) -> None:
    results = {result.rule: result for result in told.audit(canaries=["nowhere"]).results}

    assert set(results) == set(RULES)
    assert {rule for rule, result in results.items() if not result.checked} == NOT_IN_THIS_LEDGER
    assert all("not in this ledger" in results[rule].left[0][0] for rule in NOT_IN_THIS_LEDGER)
