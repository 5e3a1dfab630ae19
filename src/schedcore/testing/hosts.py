"""Hosts on a manual clock: nothing moves but by the test's word (P-15)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from schedcore._engine import orders
from schedcore._engine.state import Claimed, EngineSettings, Finish
from schedcore._engine.toolbox import Toolbox
from schedcore._host.crew import Crew, build_engine
from schedcore._ledger import jobs as job_rows
from schedcore._ledger import runs as run_rows
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore.domain.clock import from_us
from schedcore.domain.job import JobOrder
from schedcore.domain.outcome import Outcome, ok
from schedcore.domain.run import RunState, RunTrigger
from schedcore.spec.context import RunContext
from schedcore.spec.declarations import Executor
from schedcore.testing.clock import ManualClock

__all__ = ["StandingHost", "noop"]

_PERSON = Actor("tester", "person")


def noop(kind: str = "noop", execute: Callable[[RunContext], Outcome] | None = None, **more: Any) -> Executor:
    """An executor of kind ``noop`` (any payload) that does ``execute(ctx)``, or nothing."""
    return Executor(kind=kind, payload={"type": "object"}, execute=execute or (lambda ctx: ok()), **more)


class StandingHost:
    """One host whose loop is the test: ``beat()`` does all that is due at the clock's instant.

    With ``hold=True`` claimed work is not done: it stays in ``held`` until :meth:`finish`, as work that takes
    its time does. A host that :meth:`die` s says nothing.
    """

    def __init__(
        self,
        ledger: Ledger,
        clock: ManualClock,
        folder: Path,
        executors: Iterable[Executor] = (),
        *,
        name: str = "host-1",
        hold: bool = False,
        toolbox: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        declared = list(executors) or [noop()]
        tools = Toolbox(executors={e.kind: ("test", e) for e in declared}, **(toolbox or {}))
        self.ledger = ledger
        self.clock = clock
        self.engine = build_engine(ledger, tools, EngineSettings(**settings), clock, folder, name)
        self.engine.instant = clock.wall
        self.crew = Crew(self.engine, inline=True)
        self.held: dict[int, Claimed] = {}
        self.hold = hold
        self.engine.hand_over = self._take
        self.crew.announce([_kind(e) for e in declared], {"schedcore": "test"})
        self.crew.start()

    def _take(self, item: Claimed) -> None:
        if self.hold:
            item.began = self.clock.boot()
            self.held[item.run_id] = item
        else:
            self.crew.worker(item)

    def beat(self) -> None:
        """Turn until nothing is due at this instant."""
        loop = self.crew.loop
        loop._beat_due = min(loop._beat_due, self.clock.boot())
        self._turns()

    def poll(self) -> None:
        """Turn as an exact wake-up does, without a beat."""
        self._turns()

    def _turns(self) -> None:
        loop = self.crew.loop
        for _ in range(10_000):
            loop._orders_due = 0
            loop._drain()
            loop.turn_once(True)
            if self.engine.inbox.empty() and not loop._unsettled and not loop._more:
                return
            loop._more = False
        raise AssertionError("the host does not come to rest")

    def finish(self, run_id: int, outcome: Outcome | None = None, *, took_s: float = 0) -> None:
        """End held work; the next :meth:`beat` or :meth:`poll` settles it."""
        item = self.held.pop(run_id)
        now = self.clock.wall()
        self.engine.inbox.put(Finish(item, outcome or ok(), now - round(took_s * 1e6), now))

    def stop(self) -> None:
        """Stop in order."""
        self.crew.stop(0)

    def die(self) -> None:
        """Die without a word: what is held stays held, in the ledger, until its lease is judged."""
        self.crew.loop.close()

    # -- a few orders and reads, so that stories stay short ------------------------------------------

    def add(
        self, key: str, *, kind: str = "noop", payload: Mapping[str, Any] | None = None, **fields: Any
    ) -> int:
        """Create a job; answers its integer id."""
        order = JobOrder.parse(
            {"key": key, "kind": kind, "payload": dict(payload or {}), **fields},
            now_us=self.clock.wall(),
            floor_s=1,
        )
        uid = self.ledger.run(lambda c: orders.create(self.engine, c, order, _PERSON, self.clock.wall()))
        with self.ledger.read() as c:
            return int(job_rows.find(c, uid)[0]["id"])

    def job(self, job_id: int) -> dict[str, Any]:
        """A job's row."""
        with self.ledger.read() as c:
            return job_rows.by_ids(c, [job_id])[job_id]

    def runs(self, job_id: int | None = None) -> list[dict[str, Any]]:
        """Runs, oldest slot first, with words for numbers and ``at`` as ``HH:MM:SS``."""
        with self.ledger.read() as c:
            found = run_rows.listed(c, job_id=job_id, limit=100_000)
        for run in found:
            run["word"] = RunState(run["state"]).word
            run["trigger_word"] = RunTrigger(run["trigger"]).word
            run["at"] = f"{from_us(run['scheduled_for']):%H:%M:%S}"
        return sorted(found, key=lambda r: (r["scheduled_for"], r["id"]))

    def skips(self, job_id: int) -> list[tuple[str, int]]:
        """Skipped rows of a job, oldest first: (reason, slots)."""
        with self.ledger.read() as c:
            return [(r["reason"], r["slots"]) for r in run_rows.skips_of(c, job_id, limit=10_000)][::-1]


def _kind(e: Executor) -> dict[str, Any]:
    return {
        "kind": e.kind,
        "version": e.version,
        "schema": "{}",
        "limit_s": e.limit,
        "attempts": e.attempts,
        "retry_lost": int(e.retry_lost),
    }
