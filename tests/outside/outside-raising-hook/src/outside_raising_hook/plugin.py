"""Declares an executor, and then raises in another hook: it is left out whole."""

from __future__ import annotations

from schedcore.spec import Executor, Gate, hookimpl, ok

api_version = 1


@hookimpl
def schedcore_executors() -> list[Executor]:
    """A kind that would work."""
    return [Executor("raising", {"type": "object"}, lambda ctx: ok())]


@hookimpl
def schedcore_gates() -> list[Gate]:
    """The hook that raises."""
    raise RuntimeError("no gates today")
