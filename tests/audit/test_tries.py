"""One run beside its attempts: what is right is let pass, and the short way finds what the long one finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schedcore._audit.tries import Run, Try, judge, set_back, went_well

WELL = Run(1, 1, 1, 10, 0, 3, 1, 1, None, 10, 11, 12, "ok", None, None)
ONE = Try(1, 1, 1, 10, 11, 12, "ok", None)


@given(
    stamps=st.lists(st.integers(0, 5), min_size=4, max_size=4).map(sorted),
    fence=st.integers(1, 9),
    trigger=st.integers(0, 5),
)
def test_a_run_that_went_well_is_one_with_which_nothing_is_wrong(
    stamps: list[int], fence: int, trigger: int
) -> None:
    opened, claimed, started, finished = stamps
    run = WELL._replace(
        opened_at=opened, started_at=started, finished_at=finished, fence=fence, trigger=trigger
    )
    tries = [ONE._replace(claimed_at=claimed, started_at=started, finished_at=finished, fence=fence)]

    assert went_well(run, tries)
    assert list(judge(run, tries, None)) == []
    assert not set_back(run, tries)


@given(change=st.sampled_from(["outcome", "reason", "lease_end", "next_attempt_at", "fence", "attempts", "state",
                               "started_at", "finished_at", "opened_at"]))  # fmt: skip
def test_whatever_else_it_is_is_judged(change: str) -> None:
    other = {"outcome": "failed", "reason": "x", "opened_at": 99}.get(change, 7)

    assert not went_well(WELL._replace(**{change: other}), [ONE])


def test_a_clock_that_was_set_back_is_no_fault_of_the_run() -> None:
    run = WELL._replace(opened_at=20)  # claimed an hour before it was opened, by the ledger's own clock

    assert set_back(run, [ONE])
    assert list(judge(run, [ONE], None)) == []


def test_a_lost_run_is_ended_by_another_under_the_next_fence() -> None:
    run = WELL._replace(state=8, outcome="interrupted", reason="lease_lost", fence=2, started_at=None)
    lost = ONE._replace(outcome="interrupted", reason="lease_lost", started_at=None)

    assert list(judge(run, [lost], None)) == []


def test_a_run_that_waits_for_an_attempt_may_be_cancelled_by_a_person() -> None:
    run = WELL._replace(state=10, outcome="cancelled", reason="operator", finished_at=30)
    failed = ONE._replace(outcome="failed", reason="exit_code")

    assert list(judge(run, [failed], None)) == []


def test_a_lost_run_is_tried_again_only_where_that_is_said() -> None:
    run = WELL._replace(attempts=2, fence=3)
    tries = [
        ONE._replace(outcome="interrupted", reason="lease_lost", started_at=None),
        ONE._replace(number=2, fence=3, claimed_at=12),
    ]

    assert [rule for rule, _ in judge(run, tries, False)] == ["I10"]
    assert list(judge(run, tries, True)) == list(judge(run, tries, None)) == []


def test_two_open_attempts_are_one_too_many() -> None:
    run = WELL._replace(state=1, attempts=2, fence=2, lease_end=99, finished_at=None, outcome=None)
    tries = [
        ONE._replace(finished_at=None, outcome=None),
        ONE._replace(number=2, fence=2, claimed_at=12, finished_at=None, outcome=None),
    ]

    assert list(judge(run, tries, None)) == [("I7", "attempts [1, 2] are open; only the last may be")]


def test_a_run_that_waits_has_no_open_attempt() -> None:
    run = WELL._replace(state=0, finished_at=None, outcome=None)

    assert list(judge(run, [ONE._replace(finished_at=None, outcome=None)], None)) == [
        ("I7", "it is queued, and attempt 1 is open")
    ]


def test_a_run_that_was_cancelled_in_the_queue_has_an_end() -> None:
    run = WELL._replace(
        state=10,
        attempts=0,
        fence=0,
        started_at=None,
        finished_at=None,
        outcome="cancelled",
        reason="operator",
    )

    assert list(judge(run, [], None)) == [("I8", "it is cancelled, and has no end")]


def test_a_run_that_was_cancelled_is_not_claimed_again() -> None:
    run = WELL._replace(state=10, finished_at=30, outcome="cancelled", reason="operator")
    later = ONE._replace(claimed_at=40, started_at=41, finished_at=50, outcome="failed", reason="exit_code")

    assert [rule for rule, _ in judge(run, [later], None)] == ["I8"]
