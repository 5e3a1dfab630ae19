"""The closed lists of the ledger, written down a second time.

They are a copy on purpose: an auditor that took them from the core would agree with whatever the core does. A
test holds the two equal.
"""

from __future__ import annotations

__all__ = [
    "FINAL",
    "HOLDS",
    "JOB_MOVES",
    "LIVE",
    "OF_OUTCOME",
    "REASONS",
    "SKIPPED",
    "STATES",
    "TRIGGERS",
    "is_reason",
]

STATES = (
    "queued", "running", "waiting", "succeeded", "no_op", "findings",
    "failed", "blocked", "interrupted", "skipped", "cancelled",
)  # fmt: skip
"""The states of a run; the number in the table is the place here."""
LIVE = (0, 1, 2)
FINAL = tuple(range(3, len(STATES)))

TRIGGERS = ("schedule", "manual", "backfill", "keep_alive", "event", "wrapped")
"""Why a run exists; the number in the table is the place here."""

OF_OUTCOME = {
    "ok": "succeeded",
    "no_op": "no_op",
    "findings": "findings",
    "failed": "failed",
    "blocked": "blocked",
    "interrupted": "interrupted",
    "cancelled": "cancelled",
}
"""The final state of a run whose last attempt ended so."""

SKIPPED = frozenset(
    {
        "late", "overlap", "paused", "pending", "breaker", "budget",
        "calendar", "no_executor", "full", "coalesced", "restored",
    }
)  # fmt: skip
HOLDS = frozenset({"clock", "disk_full", "restored", "foreign", "halt"})
REASONS = {
    "failed": frozenset(
        {
            "exit_code", "signal", "timeout", "not_found", "cwd", "output_limit", "memory_limit", "pid_limit",
            "assertion", "undelivered", "silent", "refusal", "provider", "max_rounds", "max_turns",
            "executor_error",
        }
    ),
    "blocked": frozenset(
        {
            "approval", "sensitive", "secret", "empty_key", "no_server", "unknown_server", "no_credential",
            "egress", "no_answer", "gate",
        }
    ),
    "interrupted": frozenset({"lease_lost", "stopped_itself", "shutdown", "released"}),
    "cancelled": frozenset({"operator", "replaced"}),
}  # fmt: skip
"""The reasons of an attempt, by its outcome. Those of a plugin carry its name and a dot."""

JOB_MOVES = frozenset(
    {
        ("pending", "active"),
        ("active", "paused"),
        ("paused", "active"),
        ("active", "done"),
        ("paused", "done"),
        ("done", "active"),
        ("active", "pending"),
        ("paused", "pending"),
    }
)
"""How a job may move; besides, everything may be retired, and what is retired may come back."""


def is_reason(outcome: str, reason: str | None) -> bool:
    """Is this a reason for such an end? What ended well needs none."""
    if outcome in {"ok", "no_op", "findings"}:
        return True
    if not reason:
        return False
    plugin, dot, word = reason.partition(".")
    return reason in REASONS.get(outcome, ()) or bool(dot and plugin and word)
