from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedcore.domain.clock import SECOND
from schedcore.domain.outcome import Outcome, blocked, failed, findings, no_op, ok
from schedcore.domain.policy import Policies, Resolved, resolve
from schedcore.domain.run import FINAL, MOVES, RunState
from schedcore.domain.settle import BREAKER_REASON, Settled, classify_exit, settle

NOW = 1_800_000_000_000_000
EXIT_1 = failed("exit_code", exit_code=1)
LOST = Outcome("interrupted", "lease_lost")
SHUTDOWN = Outcome("interrupted", "shutdown")


def settled(
    outcome: Outcome,
    *,
    attempt: int = 1,
    of: int = 1,
    streak: int = 0,
    was_probe: bool = False,
    **policies: Any,
) -> Settled:
    return settle(
        outcome,
        attempt=attempt,
        attempts_allowed=of,
        policies=resolve(Policies(**policies)),
        streak=streak,
        now=NOW,
        was_probe=was_probe,
    )


def test_a_failure_with_attempts_left_is_queued_for_another_after_the_delay():
    done = settled(EXIT_1, attempt=1, of=3, streak=2)

    assert (done.state, done.next_attempt_at) == (RunState.QUEUED, NOW + 60 * SECOND)
    assert (done.streak, done.gave_up, done.opens_breaker) == (2, False, None)


def test_the_last_attempt_gives_up_and_counts_once():
    done = settled(EXIT_1, attempt=3, of=3, streak=2)

    assert (done.state, done.reason, done.next_attempt_at) == (RunState.FAILED, "exit_code", None)
    assert (done.streak, done.gave_up) == (3, True)


def test_the_delay_doubles_where_the_job_says_so():
    waits = [settled(EXIT_1, attempt=n, of=10, retry_backoff="doubling").next_attempt_at for n in (1, 2, 3)]

    assert waits == [NOW + 60 * SECOND, NOW + 120 * SECOND, NOW + 240 * SECOND]


def test_a_failed_assertion_is_not_retried_but_counts():
    done = settled(failed("assertion"), attempt=1, of=3, streak=1)

    assert (done.state, done.reason, done.streak) == (RunState.FAILED, "assertion", 2)


@pytest.mark.parametrize(
    ("outcome", "state"),
    [(ok(), RunState.SUCCEEDED), (no_op(), RunState.NO_OP), (findings(), RunState.FINDINGS)],
)
def test_what_ended_well_sets_the_streak_to_nothing(outcome: Outcome, state: RunState):
    done = settled(outcome, streak=4)

    assert (done.state, done.streak, done.gave_up, done.opens_breaker) == (state, 0, False, None)


@pytest.mark.parametrize("outcome", [blocked("gate"), Outcome("cancelled", "operator"), SHUTDOWN])
def test_what_is_nobodys_failure_leaves_the_streak(outcome: Outcome):
    done = settled(outcome, of=3, streak=4)

    assert (done.state in FINAL, done.reason, done.streak) == (True, outcome.reason, 4)
    assert (done.opens_breaker, done.gave_up) == (None, False)


def test_a_lost_lease_ends_the_run_and_counts():
    done = settled(LOST, attempt=1, of=3, streak=1)

    assert (done.state, done.reason, done.streak) == (RunState.INTERRUPTED, "lease_lost", 2)
    assert done.gave_up


@pytest.mark.parametrize("reason", ["lease_lost", "stopped_itself", "shutdown"])
def test_a_job_that_asks_for_it_tries_a_lost_run_again_within_its_attempts(reason: str):
    lost = Outcome("interrupted", reason)

    again = settled(lost, attempt=2, of=3, on_lost="retry")
    last = settled(lost, attempt=3, of=3, on_lost="retry")

    assert (again.state, again.next_attempt_at, again.why) == (RunState.QUEUED, NOW + 60 * SECOND, "on_lost")
    assert last.state is RunState.INTERRUPTED


def test_a_shutdown_counts_in_no_breaker_not_even_at_the_last_attempt():
    done = settled(SHUTDOWN, attempt=3, of=3, streak=4, on_lost="retry")

    assert (done.state, done.streak, done.opens_breaker) == (RunState.INTERRUPTED, 4, None)


def test_a_released_run_is_final_even_under_retry():
    done = settled(Outcome("interrupted", "released"), attempt=1, of=3, on_lost="retry")

    assert done.state is RunState.INTERRUPTED


def test_retry_on_does_not_narrow_what_is_lost():
    done = settled(LOST, attempt=1, of=2, on_lost="retry", retry_on=("timeout",))

    assert done.state is RunState.QUEUED


def test_five_failures_in_a_row_open_the_breaker_at_the_fifth():
    streak, opened = 0, []
    for _ in range(5):
        done = settled(EXIT_1, streak=streak)
        streak = done.streak
        opened.append(done.opens_breaker)

    assert opened == [None, None, None, None, BREAKER_REASON]


def test_four_failures_a_finding_and_four_failures_leave_it_closed():
    streak, opened = 0, []
    for outcome in [EXIT_1] * 4 + [findings()] + [EXIT_1] * 4:
        done = settled(outcome, streak=streak)
        streak = done.streak
        opened.append(done.opens_breaker)

    assert opened == [None] * 9


def test_a_breaker_of_zero_is_off():
    assert settled(EXIT_1, streak=99, breaker=0).opens_breaker is None
    assert settled(EXIT_1, streak=99, breaker=0, was_probe=True).opens_breaker is None


def test_a_probe_that_ends_well_closes_the_breaker():
    done = settled(ok(), streak=5, was_probe=True)

    assert (done.closes_breaker, done.streak) == (True, 0)
    assert not settled(ok(), streak=5).closes_breaker


def test_a_probe_that_fails_opens_it_again_whatever_the_streak():
    done = settled(EXIT_1, streak=0, was_probe=True)

    assert (done.opens_breaker, done.closes_breaker) == (BREAKER_REASON, False)


@pytest.mark.parametrize("outcome", [blocked("gate"), SHUTDOWN, Outcome("cancelled", "operator")])
def test_a_probe_that_ends_neither_way_decides_nothing(outcome: Outcome):
    done = settled(outcome, streak=5, was_probe=True)

    assert (done.opens_breaker, done.closes_breaker) == (None, False)


def test_a_probe_with_attempts_left_is_not_judged_yet():
    done = settled(EXIT_1, attempt=1, of=2, streak=5, was_probe=True)

    assert (done.state, done.opens_breaker) == (RunState.QUEUED, None)


EXITS = [
    # code, soft_fail, findings_exit, class
    (0, False, (), "ok"),
    (0, True, (3,), "ok"),
    (3, False, (), "failed"),
    (3, False, (3,), "failed"),
    (3, True, (), "findings"),
    (3, True, (3,), "findings"),
    (4, True, (3,), "failed"),
    (126, True, (), "failed"),
    (127, True, (), "failed"),
    (127, True, (127,), "failed"),
    (-11, True, (), "failed"),
    (255, True, (), "findings"),
]


@pytest.mark.parametrize(("code", "soft", "listed", "kind"), EXITS)
def test_the_class_of_an_exit_code(code: int, soft: bool, listed: tuple[int, ...], kind: str):
    assert classify_exit(code, soft, listed) == kind


def test_an_audit_that_found_something_is_findings_at_once_and_clears_the_streak():
    done = settled(failed("exit_code", exit_code=3), attempt=1, of=3, streak=4, soft_fail=True)

    assert (done.state, done.outcome, done.streak) == (RunState.FINDINGS, "findings", 0)


@pytest.mark.parametrize(
    "outcome",
    [failed("timeout", exit_code=3), failed("signal", exit_code=-9), failed("exit_code", exit_code=127)],
)
def test_soft_fail_leaves_limits_signals_and_missing_programs_failed(outcome: Outcome):
    assert settled(outcome, soft_fail=True).state is RunState.FAILED


def test_fault_X9_a_missing_script_fails_at_once_and_opens_the_breaker_at_the_fifth():
    streak, states, opened = 0, [], []
    for _ in range(5):
        done = settled(failed("not_found"), attempt=1, of=3, streak=streak)
        streak = done.streak
        states.append(done.state)
        opened.append(done.opens_breaker)

    assert states == [RunState.FAILED] * 5
    assert opened == [None] * 4 + [BREAKER_REASON]


outcomes = st.builds(
    Outcome,
    st.sampled_from(["ok", "no_op", "findings", "failed", "blocked", "interrupted", "cancelled"]),
    st.sampled_from(["exit_code", "timeout", "assertion", "lease_lost", "shutdown", "gate", None]),
    exit_code=st.none() | st.integers(-15, 255),
    retry=st.none() | st.booleans(),
)


@given(
    outcomes,
    st.integers(1, 10),
    st.integers(1, 10),
    st.integers(0, 100),
    st.booleans(),
    st.sampled_from(["stop", "retry"]),
    st.booleans(),
)
def test_every_end_is_a_legal_move_and_attempts_never_pass_their_number(
    outcome: Outcome, attempt: int, of: int, streak: int, probe: bool, on_lost: str, soft: bool
):
    done = settle(
        outcome,
        attempt=attempt,
        attempts_allowed=of,
        policies=Resolved(on_lost=on_lost, soft_fail=soft),
        streak=streak,
        now=NOW,
        was_probe=probe,
    )

    assert (RunState.RUNNING, done.state) in MOVES
    assert (done.state is RunState.QUEUED) == (done.next_attempt_at is not None)
    assert done.state is not RunState.QUEUED or attempt < of
    assert done.streak in {0, streak, streak + 1}
    assert not (done.opens_breaker and done.closes_breaker)
    assert done.gave_up == (done.streak > streak)
