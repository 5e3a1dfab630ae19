"""How an attempt ended, as a value an executor returns.

The class of an outcome is one of seven words; what exactly happened is its ``reason``, from the closed
lists of :mod:`schedcore.domain.run` or, for a plugin, ``PLUGIN.word``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["OUTCOMES", "Outcome", "OutcomeKind", "blocked", "failed", "findings", "no_op", "ok"]

OutcomeKind = Literal["ok", "no_op", "findings", "failed", "blocked", "interrupted", "cancelled"]
OUTCOMES: tuple[OutcomeKind, ...] = (
    "ok",
    "no_op",
    "findings",
    "failed",
    "blocked",
    "interrupted",
    "cancelled",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one attempt.

    ``retry`` is the executor's own word on whether trying again makes sense: ``None`` leaves it to the
    classifier (A-08), ``False`` forbids it. ``exit_code`` of a process killed by a signal is the negative
    signal number. ``detail`` is JSON kept on the run (a script's report, an agent's trace reference).
    """

    kind: OutcomeKind
    reason: str | None = None
    text: str | None = None
    exit_code: int | None = None
    retry: bool | None = None
    detail: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = field(default=None)


_OK = Outcome("ok")


def ok(text: str | None = None, *, detail: Mapping[str, Any] | None = None) -> Outcome:
    """The work was done."""
    return _OK if text is None and detail is None else Outcome("ok", text=text, detail=detail)


def no_op(text: str | None = None) -> Outcome:
    """There was nothing to do, and that is fine."""
    return Outcome("no_op", text=text)


def findings(text: str | None = None, *, exit_code: int | None = None) -> Outcome:
    """The work was done and found something worth reading (an audit)."""
    return Outcome("findings", text=text, exit_code=exit_code)


def failed(
    reason: str, text: str | None = None, *, exit_code: int | None = None, retry: bool | None = None
) -> Outcome:
    """The work failed. ``reason`` is from the closed list or carries the plugin's name."""
    return Outcome("failed", reason, text, exit_code, retry)


def blocked(reason: str, text: str | None = None) -> Outcome:
    """Something that a person must settle stands in the way; nothing was done, no streak is counted."""
    return Outcome("blocked", reason, text, retry=False)
