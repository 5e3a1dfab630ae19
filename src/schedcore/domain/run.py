"""What a run may be: states, triggers, allowed moves, and the closed lists of reasons.

States and triggers are small integers in the tables, words everywhere else.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "BLOCKED_REASONS",
    "CANCELLED_REASONS",
    "FAILED_REASONS",
    "FINAL",
    "HOLD_REASONS",
    "INTERRUPTED_REASONS",
    "LIVE",
    "MOVES",
    "SKIP_REASONS",
    "RunState",
    "RunTrigger",
    "run_key",
    "state_of",
]

from schedcore.domain.clock import text


class RunState(IntEnum):
    """The state of a run; the last eight are final and never change (L-15)."""

    QUEUED = 0
    RUNNING = 1
    WAITING = 2
    SUCCEEDED = 3
    NO_OP = 4
    FINDINGS = 5
    FAILED = 6
    BLOCKED = 7
    INTERRUPTED = 8
    SKIPPED = 9
    CANCELLED = 10

    @property
    def word(self) -> str:
        """The word shown to people and written in JSON."""
        return self.name.lower()


class RunTrigger(IntEnum):
    """Why a run exists (L-14)."""

    SCHEDULE = 0
    MANUAL = 1
    BACKFILL = 2
    KEEP_ALIVE = 3
    EVENT = 4
    WRAPPED = 5

    @property
    def word(self) -> str:
        """The word shown to people and written in JSON."""
        return self.name.lower()


LIVE = (RunState.QUEUED, RunState.RUNNING, RunState.WAITING)
FINAL = tuple(s for s in RunState if s not in LIVE)

_Q, _R, _W = LIVE
MOVES: frozenset[tuple[RunState, RunState]] = frozenset(
    {(_Q, s) for s in (_R, _W, RunState.SKIPPED, RunState.BLOCKED, RunState.CANCELLED)}
    | {(_R, s) for s in (*FINAL, _Q, _W) if s is not RunState.SKIPPED}
    | {(_W, s) for s in (*FINAL, _Q, _R)}
)
"""The closed table of moves (``reliability.md`` 2.8); everything else is illegal."""

SKIP_REASONS = (
    "late", "overlap", "paused", "pending", "breaker", "budget",
    "calendar", "no_executor", "full", "coalesced", "restored",
)  # fmt: skip
HOLD_REASONS = ("clock", "disk_full", "restored", "foreign", "halt")
FAILED_REASONS = (
    "exit_code", "signal", "timeout", "not_found", "cwd", "output_limit", "memory_limit", "pid_limit",
    "assertion", "undelivered", "silent", "refusal", "provider", "max_rounds", "max_turns", "executor_error",
)  # fmt: skip
BLOCKED_REASONS = (
    "approval", "sensitive", "secret", "empty_key", "no_server", "unknown_server",
    "no_credential", "egress", "no_answer", "gate",
)  # fmt: skip
INTERRUPTED_REASONS = ("lease_lost", "stopped_itself", "shutdown", "released")
CANCELLED_REASONS = ("operator", "replaced")

_STATE_OF_OUTCOME = {
    "ok": RunState.SUCCEEDED,
    "no_op": RunState.NO_OP,
    "findings": RunState.FINDINGS,
    "failed": RunState.FAILED,
    "blocked": RunState.BLOCKED,
    "interrupted": RunState.INTERRUPTED,
    "cancelled": RunState.CANCELLED,
}


def state_of(outcome: str) -> RunState:
    """The final state of a run whose last attempt ended with this outcome."""
    return _STATE_OF_OUTCOME[outcome]


def run_key(job_id: str, scheduled_for: int) -> str:
    """``JOBID|SCHEDULED_FOR``; the attempt is not in it (D-02)."""
    return f"{job_id}|{text(scheduled_for)}"
