"""A few seeds in every run of the suite; `./dev simulate` plays as many as it is told."""

from __future__ import annotations

import pytest

from tests.simulation.playing import play, year


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_whatever_goes_wrong_nothing_is_lost_doubled_early_stuck_or_unexplained(seed: int):
    story = play(seed, 0.25)

    assert story.violations == []
    assert story.numbers["begun"] > 0
    assert sum(story.faults.values()) > 0


def test_the_same_seed_has_the_same_history():
    first, again = play(4, 0.1), play(4, 0.1)

    assert first.hash == again.hash
    assert (first.decisions, first.faults) == (again.decisions, again.faults)


def test_a_minutely_job_runs_each_minute_and_its_last_slot_is_exact():
    """Two hours here; `./dev simulate --days 30` for more."""
    minutes, done = year(1 / 12)

    assert (minutes, done) == (120, 120)
