"""From a supervisor's word to an outcome: nothing that a script prints decides it."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from schedcore.spec import Outcome, RunContext, blocked, failed
from schedcore_script.attending import Ended, Refusal
from schedcore_script.brief import Brief

__all__ = ["Tail", "class_of", "masked", "refused", "stopped", "veto", "with_classes"]

Kind = Literal["ok", "findings", "failed", "interrupted", "cancelled"]
Class = tuple[Kind, str | None, str | None, bool | None]
"""Kind, reason, text and the word on retries of an outcome."""

_TAIL = 4096
_SAID = 600
_NOT_THERE = frozenset({126, 127})
_BEYOND = {
    "memory_limit": "killed beyond the memory that a run may take",
    "pid_limit": "it asked for more processes than a run may have",
}


def class_of(ctx: RunContext, end: Ended, code: int | None, said: str) -> Class:
    """E-11, A-12: the class of an end, by exit status and the supervisor's word alone."""
    if end.why == "timeout":
        limit = ctx.payload.timeout or ctx.limit
        return "failed", "timeout", _join(f"still running after its limit of {limit:g} s", said), None
    if end.why != "end":
        return stopped(ctx.stop.reason, said)
    if code == 0:
        return "ok", None, None, None
    if end.limit is not None:
        return "failed", end.limit, _join(_BEYOND[end.limit], said), None
    if code is None or code < 0:
        name = "a signal" if code is None else _signal_name(-code)
        return "failed", "signal", _join(f"killed by {name}", said), None
    text = _join(f"exit code {code}", said)
    listed = ctx.options.get("findings_exit")
    if code not in _NOT_THERE and (code in listed if listed else ctx.options.get("soft_fail")):
        return "findings", None, text, None
    return "failed", "exit_code", text, False if code == 127 else None


class Tail:
    """The last bytes of stderr, for the words of an outcome."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept = b""

    def add(self, data: bytes) -> None:
        self._kept = data[-_TAIL:] if len(data) >= _TAIL else (self._kept + data)[-_TAIL:]

    def said(self, ctx: RunContext) -> str:
        """The last lines, masked, short; a line that was cut at its beginning is left out."""
        if not self._kept:
            return ""
        lines = [line.strip() for line in ctx.mask(self._kept.decode("utf-8", "replace")).splitlines()]
        return " | ".join(line for line in lines if line)[-_SAID:]


def _join(what: str, said: str) -> str:
    return f"{what}: {said}" if said else what


def stopped(reason: str | None, said: str) -> Class:
    """The class of an end by order."""
    if reason == "timeout":
        return "failed", "timeout", _join("stopped at its time limit", said), None
    if reason in ("operator", "replaced"):
        return "cancelled", reason, said or None, None
    return "interrupted", reason or "shutdown", said or None, None


def refused(end: Refusal, brief: Brief) -> Outcome:
    """What a program that was not started ends with."""
    why = os.strerror(end.errno) if end.errno else "it was refused"
    if end.step == "cwd":
        where = brief.cwd
        return failed("cwd", f"cannot start in {where}: {why}", retry=False)
    program = brief.argv[0]
    if end.step == "exec" and end.errno in (
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EACCES,
        errno.ENOEXEC,
        errno.ELOOP,
    ):
        hint = {
            errno.ENOEXEC: "; does its first line begin with #! ?",
            errno.EACCES: "; is it executable for the user that scripts run as?",
            errno.ENOENT: "; neither it nor the interpreter of its #! line may be missing",
        }.get(end.errno, "")
        return failed("not_found", f"cannot run {program}: {why}{hint}", retry=False)
    return failed("executor_error", f"cannot run {program}: {end.step}: {why}", retry=False)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def masked(value: Any, ctx: RunContext) -> Any:
    """A value of JSON without secrets, its keys too."""
    if isinstance(value, str):
        return ctx.mask(value)
    if isinstance(value, dict):
        return {ctx.mask(key): masked(item, ctx) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item, ctx) for item in value]
    return value


def veto(ctx: RunContext, found: Mapping[str, tuple[str, ...]]) -> Outcome | None:
    """E-14: whether sensitive work may be begun."""
    rule = ctx.options.get("block_sensitive", "no")
    if not found or rule == "no" or (rule == "unapproved" and ctx.options.get("approved")):
        return None
    said = "; ".join(f"{name} ({', '.join(words)})" for name, words in found.items())
    then = "" if rule == "always" else ", and no approval covers it"
    return replace(blocked("sensitive", f"{said}{then}"), detail={"classes": dict(found)})


def with_classes(outcome: Outcome, found: Mapping[str, tuple[str, ...]]) -> Outcome:
    """The outcome, with the classes found stored beside it (E-14)."""
    return replace(outcome, detail={**(outcome.detail or {}), "classes": dict(found)}) if found else outcome
