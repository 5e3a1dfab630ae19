"""What a tick and a few reads cost beside very many jobs and runs: ledgers of several sizes asked in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from benchmarks.filling import filling
from benchmarks.ours import NoWork
from schedcore._engine import clock
from schedcore._host.host import Host
from schedcore._host.settings import load
from schedcore.domain.clock import HOUR, SECOND

__all__ = ["asked"]

_FAR = 10**18


class _Idle:
    """A host whose loop is turned by hand, on a ledger in which nothing is due."""

    def __init__(self, url: str, folder: str, jobs: int, runs: int, n: int) -> None:
        now = clock.wall() // SECOND * SECOND
        with filling(url) as fill:
            fill.jobs(1, jobs, now + HOUR // 2, apart_us=1000)
            if runs:
                fill.runs(runs, jobs, before=now - HOUR)
        work = NoWork()
        plugin = SimpleNamespace(schedcore_executors=work.schedcore_executors)
        settings = load(None, {}, {"ledger": url, "state_folder": f"{folder}/{n}", "name": "bench"})
        self.host = Host(settings=settings, plugins=[("bench", plugin)], discover=False)
        self.crew = self.host._build()
        self.crew.announce([], {})
        self.loop = self.crew.loop
        self.loop.turn_once(True)
        self.control = self.host.control()
        self.job = f"k{jobs // 2 + 1}"
        self.past = ""
        if runs:
            self.past = self.control.runs(job=self.job, limit=20)[-1]["scheduled_for"]

    def tick(self) -> None:
        """What is due, what is due next, what others ordered, what is lost: all but the heartbeat."""
        loop = self.loop
        loop._beat_due = _FAR
        loop._leases_due = loop._orders_due = 0
        loop.engine.renewed_at = clock.boot()
        loop.turn_once(True)


def asked(
    places: list[dict[str, Any]], folder: str, *, reads: bool, rounds: int, repeats: int, slow_repeats: int
) -> dict[str, Any]:
    """Under ``rounds`` the medians in microseconds by deed, one for each ledger (``url``, ``jobs``, ``runs``)."""
    idle = [_Idle(p["url"], folder, p["jobs"], p["runs"], i) for i, p in enumerate(places)]
    deeds: dict[str, tuple[int, Callable[[_Idle], object]]] = {"tick": (repeats, _Idle.tick)}
    if reads:
        deeds |= {
            "list": (slow_repeats, lambda one: one.control.jobs()),
            "runs list": (slow_repeats * 4, lambda one: one.control.runs()),
            "why": (slow_repeats * 4, lambda one: one.control.why(one.job, one.past)),
        }
    for _, deed in deeds.values():  # caches fill
        for one in idle:
            for _ in range(3):
                deed(one)
    return {"rounds": [{name: _medians(idle, *each) for name, each in deeds.items()} for _ in range(rounds)]}


def _medians(idle: list[_Idle], times: int, deed: Callable[[_Idle], object]) -> list[float]:
    took: list[list[float]] = [[] for _ in idle]
    for _ in range(times):
        for one, each in zip(idle, took, strict=True):
            began = time.perf_counter()
            deed(one)
            each.append((time.perf_counter() - began) * 1e6)
    return [round(statistics.median(each), 1) for each in took]
