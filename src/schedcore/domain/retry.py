"""Does trying again make sense? The classifier of failures, and the wait before the next attempt.

Error code and status decide first; for command-line work the same words decide, as whole words in the
last 8 KiB of stderr (A-07, A-08). What is never retried is so whatever the job or the executor says.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from schedcore.domain.outcome import Outcome

__all__ = ["BACKOFFS", "LONGEST_DELAY", "NEVER_RETRIED", "RETRIED", "Judged", "delay", "retryable"]

BACKOFFS = ("fixed", "doubling")
LONGEST_DELAY = 30 * 60
"""Seconds; a doubling delay grows no further (A-07)."""

RETRIED = ("exit_code", "signal", "timeout", "provider", "executor_error", "undelivered")
"""Failed reasons that another attempt may cure; reasons of plugins are among them."""
NEVER_RETRIED = ("assertion", "refusal", "not_found", "cwd")
"""Failed reasons that stay: a check that failed, a refusal, a program or folder that is not there."""

_TAIL = 8 * 1024
_MISSING_PROGRAM = (126, 127)
_TRANSIENT = (408, 409, 429)
_BAD_PAYLOAD = "bad_payload"
_NEVER_CODES = {401: "unauthorized", 402: "payment", 403: "forbidden"}
_GAP = r"[\s_-]+"
_NEVER_WORDS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?P<number>(?<![0-9][.,])40[123](?![.,][0-9]))"
    r"|(?P<word>quota|credit|billing"
    rf"|insufficient{_GAP}balance|account{_GAP}suspended|spend{_GAP}limit)"
    r")(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)


class Judged(NamedTuple):
    """Whether to try again, and the word that says why."""

    again: bool
    why: str


def retryable(outcome: Outcome, retry_on: Collection[str] | None = None, stderr_tail: str = "") -> Judged:
    """Judge the end of one attempt.

    ``retry_on`` narrows what is retried to these failed reasons; ``None`` does not narrow. Only ``failed`` is
    judged here: a lost run is ``on_lost``'s business, and everything else is final.
    """
    if outcome.kind != "failed":
        return Judged(False, outcome.kind)
    reason = outcome.reason or ""
    if reason in NEVER_RETRIED:
        return Judged(False, reason)
    if outcome.retry is False:
        return Judged(False, "executor")
    if outcome.exit_code in _MISSING_PROGRAM:
        return Judged(False, "not_found")
    judged = _by_detail(outcome)
    if judged is None and (found := _never_word(stderr_tail[-_TAIL:])):
        judged = Judged(False, found)
    if judged is not None and not judged.again:
        return judged
    if judged is None and outcome.retry is not True and reason not in RETRIED and "." not in reason:
        return Judged(False, reason or "unknown")
    if retry_on is not None and reason not in retry_on:
        return Judged(False, "retry_on")
    return judged or Judged(True, reason)


def _by_detail(outcome: Outcome) -> Judged | None:
    """The judgement of the error code and the status in ``detail``, where there are any."""
    detail = outcome.detail or {}
    code, status = detail.get("code"), detail.get("status")
    if isinstance(code, str):
        if code == _BAD_PAYLOAD:
            return Judged(False, _BAD_PAYLOAD)
        if found := _never_word(code):
            return Judged(False, found)
    if isinstance(status, str) and status.isascii() and status.isdigit():
        status = int(status[:4])
    if isinstance(status, bool) or not isinstance(status, int):
        return None
    if status in _NEVER_CODES:
        return Judged(False, _NEVER_CODES[status])
    if status in _TRANSIENT or 500 <= status <= 599:
        return Judged(True, f"status_{status}")
    return Judged(False, f"status_{status}") if 400 <= status <= 499 else None


def _never_word(text: str) -> str | None:
    """The first whole word of ``text`` after which no retry helps (``quota``, ``billing``, ``401`` …)."""
    found = _NEVER_WORDS.search(text)
    if found is None:
        return None
    if found["number"]:
        return _NEVER_CODES[int(found["number"])]
    return re.sub(_GAP, "_", found["word"].lower())


def delay(attempt: int, base_s: int, backoff: str = "fixed") -> int:
    """Seconds to wait after attempt number ``attempt`` (from 1) has failed; doubling is capped at 30 min."""
    if backoff != "doubling":
        return base_s
    return min(base_s << min(attempt - 1, 20), max(LONGEST_DELAY, base_s))
