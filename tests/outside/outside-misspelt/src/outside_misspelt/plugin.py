"""Its hook is called ``schedcore_executers``: it would do nothing, and nobody would know."""

from __future__ import annotations

from schedcore.spec import Executor, hookimpl, ok

api_version = 1


@hookimpl
def schedcore_executers() -> list[Executor]:
    """Never asked for."""
    return [Executor("misspelt", {"type": "object"}, lambda ctx: ok())]
