"""Every mutant still fits the code, and the fast ones are killed each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.killing import ROOT, Mutant, killed, mutants, scratch

ALL = mutants()


@pytest.mark.parametrize("mutant", ALL, ids=lambda m: m.name.replace(" ", "-"))
def test_a_mutant_is_one_change_of_the_code_as_it_is(mutant: Mutant):
    assert mutant.text() != (ROOT / mutant.file).read_text(encoding="utf-8")
    assert mutant.tests
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.tests)


def test_there_are_thirty_and_at_most_three_are_only_explained():
    assert len(ALL) >= 30
    assert len({mutant.name for mutant in ALL}) == len(ALL)
    assert sum(mutant.explained is not None for mutant in ALL) <= 3


def test_the_fast_ones_are_killed(tmp_path: Path):
    fast = [mutant for mutant in ALL if mutant.fast]

    with scratch(tmp_path) as root:
        survivors = [mutant.name for mutant in fast if killed(mutant, root).seen_by is None]

    assert len(fast) >= 10
    assert survivors == []
