from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedcore.domain.overlap import OVERLAPS, Live, judge

CASES = [
    # overlap, running, waiting, lost, what the next one may do
    ("skip", 0, 0, 0, "open"),
    ("skip", 1, 0, 0, "skip"),
    ("skip", 0, 1, 0, "skip"),
    ("skip", 0, 0, 1, "skip"),
    ("queue_one", 0, 0, 0, "open"),
    ("queue_one", 1, 0, 0, "open_alone"),
    ("queue_one", 0, 1, 0, "open_alone"),
    ("queue_one", 0, 0, 1, "open_alone"),
    ("queue_one", 1, 1, 0, "skip"),
    ("queue_one", 0, 1, 1, "skip"),
    ("queue_one", 0, 2, 0, "skip"),
    ("replace", 0, 0, 0, "open"),
    ("replace", 1, 0, 0, "replace"),
    ("replace", 0, 1, 0, "replace"),
    ("replace", 0, 0, 1, "open_alone"),
    ("replace", 1, 0, 1, "replace"),
    ("parallel", 0, 0, 0, "open"),
    ("parallel", 2, 0, 0, "open"),
    ("parallel", 3, 0, 0, "skip"),
    ("parallel", 1, 1, 0, "open"),
    ("parallel", 1, 1, 1, "skip"),
]


@pytest.mark.parametrize(("overlap", "running", "waiting", "lost", "verdict"), CASES)
def test_a_further_run_is_judged_by_what_lives(
    overlap: str, running: int, waiting: int, lost: int, verdict: str
):
    assert judge(overlap, 3, Live(running, waiting, lost)) == verdict


@given(
    st.sampled_from(OVERLAPS), st.integers(2, 32), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40)
)
def test_a_lost_run_counts_as_a_running_one_wherever_nothing_can_be_stopped(
    overlap: str, most: int, running: int, waiting: int, lost: int
):
    known = judge(overlap, most, Live(running + lost, waiting, 0))
    unknown = judge(overlap, most, Live(running, waiting, lost))

    assert known == unknown or (overlap == "replace" and running == waiting == 0)


@given(st.sampled_from(OVERLAPS), st.integers(2, 32), st.integers(1, 60))
def test_no_sequence_of_openings_passes_the_limit(overlap: str, most: int, orders: int):
    running = waiting = 0
    for _ in range(orders):
        verdict = judge(overlap, most, Live(running, waiting))
        if verdict == "open":
            running += 1
        elif verdict == "open_alone":
            waiting += 1
        elif verdict == "replace":
            running, waiting = 0, 1

    bound = {"skip": (1, 0), "queue_one": (1, 1), "replace": (1, 1), "parallel": (most, 0)}[overlap]
    assert running <= bound[0]
    assert waiting <= bound[1]
