from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedcore.domain.outcome import Outcome, blocked, failed, findings, no_op, ok
from schedcore.domain.retry import NEVER_RETRIED, RETRIED, delay, retryable
from schedcore.domain.run import FAILED_REASONS

EXIT_1 = failed("exit_code", exit_code=1)


def provider(status: object = None, code: object = None, retry: bool | None = None) -> Outcome:
    detail = {"status": status, "code": code}
    return Outcome(
        "failed", "provider", retry=retry, detail={k: v for k, v in detail.items() if v is not None}
    )


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529, 599, "503"])
def test_a_passing_status_is_retried(status: object):
    assert retryable(provider(status)) == (True, f"status_{status}")


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "unauthorized"),
        (402, "payment"),
        (403, "forbidden"),
        ("401", "unauthorized"),
        (400, "status_400"),
        (404, "status_404"),
        (422, "status_422"),
    ],
)
def test_a_status_that_stays_is_never_retried(status: object, why: str):
    assert retryable(provider(status)) == (False, why)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("insufficient_quota", "quota"),
        ("QUOTA_EXCEEDED", "quota"),
        ("insufficient_balance", "insufficient_balance"),
        ("Insufficient Balance", "insufficient_balance"),
        ("billing_hard_limit_reached", "billing"),
        ("account-suspended", "account_suspended"),
        ("credit_balance_too_low", "credit"),
        ("spend_limit", "spend_limit"),
        ("bad_payload", "bad_payload"),
    ],
)
def test_an_error_code_decides_before_the_status(code: str, why: str):
    assert retryable(provider(429, code)) == (False, why)


def test_a_transport_error_without_a_status_is_retried():
    assert retryable(provider()).again
    assert retryable(failed("executor_error")).again


@pytest.mark.parametrize("status", [True, None, 302, "abc", "٤٠١", 4.01])
def test_a_status_that_says_nothing_is_left_to_the_reason(status: object):
    assert retryable(provider(status)) == (True, "provider")


@pytest.mark.parametrize(
    "stderr",
    [
        "HTTP 401",
        "error: (403) not yours",
        "status:402",
        "You exceeded your current quota.",
        "Your credit is used up",
        "insufficient  balance",
        "ACCOUNT SUSPENDED\n",
        "spend limit reached",
        "see billing",
        "code=insufficient_quota",
    ],
)
def test_whole_words_of_stderr_end_the_attempts(stderr: str):
    assert not retryable(EXIT_1, None, stderr).again


@pytest.mark.parametrize(
    "stderr",
    [
        "",
        "took 0.402 s",
        "wrote 14010 rows",
        "1,403 lines",
        "403.5 MB",
        "error E4010",
        "exit x403",
        "subquota of precredit",
        "accredited",
        "the creditor",
        "quotas and quotation",
        "billings",
        "insufficient memory, balance kept",
        "accounts suspended: none",
    ],
)
def test_parts_of_words_and_of_numbers_do_not(stderr: str):
    assert retryable(EXIT_1, None, stderr).again


def test_only_the_last_eight_kib_of_stderr_count():
    assert retryable(EXIT_1, None, "quota " + "x" * 8192).again
    assert not retryable(EXIT_1, None, "x" * 100_000 + " quota").again


def test_a_status_is_judged_before_stderr():
    assert retryable(provider(503), None, "quota").again


@pytest.mark.parametrize("reason", NEVER_RETRIED)
def test_what_is_never_retried_stays_so_whatever_anybody_says(reason: str):
    outcome = Outcome("failed", reason, retry=True)

    assert retryable(outcome, (reason,)) == (False, reason)


@pytest.mark.parametrize("reason", RETRIED)
def test_a_failure_that_may_pass_is_retried(reason: str):
    assert retryable(failed(reason)).again


@pytest.mark.parametrize("reason", sorted(set(FAILED_REASONS) - set(RETRIED) - set(NEVER_RETRIED)))
def test_a_bound_that_bit_is_retried_only_where_the_executor_says_so(reason: str):
    assert not retryable(failed(reason)).again
    assert retryable(failed(reason, retry=True)).again


def test_an_executor_may_forbid_any_retry():
    assert retryable(failed("exit_code", exit_code=1, retry=False)) == (False, "executor")


def test_a_plugins_own_reason_is_retried():
    assert retryable(failed("mail.greylisted")).again


def test_retry_on_narrows_and_never_widens():
    assert retryable(failed("timeout"), ("timeout",)).again
    assert retryable(EXIT_1, ("timeout",)) == (False, "retry_on")
    assert not retryable(failed("assertion"), ("assertion",)).again
    assert not retryable(EXIT_1, ()).again


@pytest.mark.parametrize("outcome", [ok(), no_op(), findings(), blocked("gate"), Outcome("cancelled")])
def test_only_failures_are_retried(outcome: Outcome):
    assert not retryable(outcome).again


@pytest.mark.parametrize("code", [126, 127])
def test_a_program_that_is_not_there_is_not_retried(code: int):
    assert retryable(failed("exit_code", exit_code=code)) == (False, "not_found")


def test_fault_X9_a_script_that_no_longer_exists_is_not_retried():
    assert retryable(failed("not_found")) == (False, "not_found")


def test_a_fixed_delay_stays():
    assert [delay(n, 60) for n in (1, 2, 9)] == [60, 60, 60]


def test_a_doubling_delay_is_capped_at_half_an_hour():
    assert [delay(n, 60, "doubling") for n in (1, 2, 3, 5, 6, 7, 10)] == [60, 120, 240, 960, 1800, 1800, 1800]


@given(st.integers(1, 10), st.integers(5, 1800), st.sampled_from(["fixed", "doubling"]))
def test_a_delay_is_never_shorter_than_its_base_nor_longer_than_the_cap(n: int, base: int, backoff: str):
    assert base <= delay(n, base, backoff) <= 1800
