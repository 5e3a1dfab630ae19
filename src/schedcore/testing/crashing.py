"""Dying at a named point of the engine, as ``kill -9`` would have it (T-16).

The points are put in from outside, around functions of the engine: where nobody asks for one, nothing is there
and nothing is paid. A host process of :mod:`schedcore.testing.processes` reads ``SCHEDCORE_CRASH_AT`` from its
environment: ``POINT``, or ``POINT:3`` for the third time that the engine comes by.
"""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["CRASH_POINTS", "CRASH_VARIABLE", "Place", "crash_at"]

CRASH_VARIABLE = "SCHEDCORE_CRASH_AT"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a point is: before or after a function of a module, if ``counts`` says so of its arguments."""

    module: str
    function: str
    when: str
    counts: Callable[..., bool] = lambda *given, **named: True


def _around(name: str, module: str, function: str, **more: Any) -> dict[str, Place]:
    return {f"{name}.{when}": Place(module, function, when, **more) for when in ("before", "after")}


CRASH_POINTS: Mapping[str, Place] = {
    **_around("migrate", "schedcore._ledger.migrate", "_upgrade"),
    **_around("announce", "schedcore._ledger.hosts", "announce"),
    **_around("renew", "schedcore._ledger.hosts", "renew"),
    **_around("beat", "schedcore._ledger.hosts", "beat"),
    **_around("open", "schedcore._engine.opening", "open_lane"),
    **_around("claim", "schedcore._engine.claiming", "take", counts=lambda e, c, found, *rest: bool(found)),
    **_around("settle", "schedcore._engine.settling", "settle_batch"),
    "commit.before": Place("schedcore._ledger.hosts", "wrote", "after"),
    "commit.after": Place("schedcore._engine.beat", "turn", "after"),
    **_around("work", "schedcore._engine.work", "Worker._perform"),
    **_around("recover", "schedcore._engine.recovery", "close_lost"),
    **_around("spool", "schedcore._engine.spool", "Spool.keep"),
}
"""All points by name, in the order in which a run comes by them.

``open``, ``claim``, ``settle``, ``recover``, ``renew`` and ``beat`` lie inside their transactions; ``commit.before``
is the last step of a turn's transaction, ``commit.after`` the first after its commit is known.
"""


def crash_at(text: str) -> None:
    """Make this process kill itself at a point. Raises ``ValueError`` for one that is not known."""
    name, _, count = text.partition(":")
    if name not in CRASH_POINTS:
        raise ValueError(f"{name!r} is no crash point; there are {', '.join(CRASH_POINTS)}")
    place = CRASH_POINTS[name]
    owner: Any = import_module(place.module)
    *path, last = place.function.split(".")
    for part in path:
        owner = getattr(owner, part)
    setattr(owner, last, _deadly(getattr(owner, last), place, int(count or 1)))


def _deadly(function: Callable[..., Any], place: Place, left: int) -> Callable[..., Any]:
    @functools.wraps(function)
    def deadly(*given: Any, **named: Any) -> Any:
        nonlocal left
        left -= place.counts(*given, **named)
        if left <= 0 and place.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = function(*given, **named)
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    return deadly
