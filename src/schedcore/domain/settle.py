"""What follows from the end of one attempt: retry or final, streak, breaker (A-03, A-07 to A-12, T-20).

Only the last attempt touches streak and breaker. This module decides; the ledger writes under the fence.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from schedcore.domain.clock import SECOND
from schedcore.domain.outcome import Outcome, OutcomeKind
from schedcore.domain.retry import delay, retryable
from schedcore.domain.run import RunState, state_of

__all__ = ["BREAKER_REASON", "SettlePolicies", "Settled", "classify_exit", "settle"]

BREAKER_REASON = "max_consecutive_failures"
_MISSING_PROGRAM = (126, 127)
_MAY_BE_LOST = ("lease_lost", "stopped_itself", "shutdown")


class SettlePolicies(Protocol):
    """The policies settling looks at; :class:`schedcore.domain.policy.Resolved` has them."""

    @property
    def retry_delay(self) -> int: ...
    @property
    def retry_backoff(self) -> str: ...
    @property
    def retry_on(self) -> tuple[str, ...] | None: ...
    @property
    def soft_fail(self) -> bool: ...
    @property
    def findings_exit(self) -> tuple[int, ...]: ...
    @property
    def breaker(self) -> int: ...
    @property
    def on_lost(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Settled:
    """The decision after one attempt.

    ``state`` is final, or ``QUEUED`` with ``next_attempt_at`` (microseconds). ``outcome`` is the attempt's
    own class, after ``soft_fail``. ``streak`` is the job's new count of failed runs in a row.
    ``opens_breaker`` is the reason the job is paused with, ``closes_breaker`` says that a probe succeeded;
    a probe that ended neither way leaves the breaker open for the next one. ``why`` says what judged a retry.
    """

    state: RunState
    outcome: OutcomeKind
    reason: str | None
    next_attempt_at: int | None
    gave_up: bool
    streak: int
    opens_breaker: str | None
    closes_breaker: bool
    why: str | None = None


def settle(
    outcome: Outcome,
    *,
    attempt: int,
    attempts_allowed: int,
    policies: SettlePolicies,
    streak: int,
    now: int,
    was_probe: bool = False,
    stderr_tail: str = "",
) -> Settled:
    """Decide what becomes of a run whose attempt number ``attempt`` (from 1) ended at ``now``.

    ``attempts_allowed`` counts all attempts. ``was_probe`` marks the one run after a breaker's cool-down.
    ``interrupted: shutdown`` counts in no breaker; a run that was ``released`` by a person is final.
    """
    kind = outcome.kind
    if kind == "failed" and outcome.reason == "exit_code" and outcome.exit_code is not None:
        kind = classify_exit(outcome.exit_code, policies.soft_fail, policies.findings_exit)
    if kind in {"ok", "no_op", "findings"}:
        return Settled(state_of(kind), kind, outcome.reason, None, False, 0, None, was_probe)
    if kind in {"blocked", "cancelled"}:
        return Settled(state_of(kind), kind, outcome.reason, None, False, streak, None, False)
    if kind == "interrupted":
        again, why = policies.on_lost == "retry" and outcome.reason in _MAY_BE_LOST, "on_lost"
    else:
        again, why = retryable(outcome, policies.retry_on, stderr_tail)
    if again and attempt < attempts_allowed:
        wait = delay(attempt, policies.retry_delay, policies.retry_backoff) * SECOND
        return Settled(RunState.QUEUED, kind, outcome.reason, now + wait, False, streak, None, False, why)
    if kind == "interrupted" and outcome.reason == "shutdown":
        return Settled(RunState.INTERRUPTED, kind, "shutdown", None, False, streak, None, False, why)
    streak += 1
    opens = policies.breaker > 0 and (was_probe or streak >= policies.breaker)
    return Settled(
        state_of(kind),
        kind,
        outcome.reason,
        None,
        True,
        streak,
        BREAKER_REASON if opens else None,
        False,
        why,
    )


def classify_exit(
    exit_code: int, soft_fail: bool = False, findings_exit: Collection[int] = ()
) -> OutcomeKind:
    """The class of an exit code: 0 is ``ok``, anything else ``failed``.

    With ``soft_fail`` a non-zero exit is ``findings``, or only the codes in ``findings_exit`` where it is not
    empty. Signals (negative codes), 126 and 127 stay ``failed``: a script that is not there found nothing.
    """
    if exit_code == 0:
        return "ok"
    if not soft_fail or exit_code < 0 or exit_code in _MISSING_PROGRAM:
        return "failed"
    return "findings" if not findings_exit or exit_code in findings_exit else "failed"
