"""Who gives an order from a command line: the person logged in, or the run inside which it was called."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping

from schedcore._ledger.events import Actor

__all__ = ["Actor", "caller", "source"]


def caller(env: Mapping[str, str]) -> Actor:
    """The actor of this process; who became root by ``sudo`` keeps his name."""
    if run := env.get("SCHEDCORE_RUN"):
        return Actor(f"run {run}", "run")
    try:
        name = env.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):  # a container may have no name for its user
        name = f"uid {os.getuid()}"
    return Actor(name[:100], "person")


def source(name: str) -> Actor:
    """A source of jobs as the actor of its orders."""
    return Actor(name, "source")
