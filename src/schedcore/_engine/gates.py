"""Gates: declared functions that may veto a run, asked before its claim and outside any transaction (A-17).

A veto that may pass leaves the run ``waiting`` and is asked again, at most ``gate_asks`` times, then
``blocked``; no attempt is used. A gate that raises counts as a veto with its name.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._engine import moves
from schedcore._engine.state import Engine
from schedcore._engine.toolbox import Compiled
from schedcore._ledger import gating, jobs
from schedcore.domain.clock import SECOND, from_us, text
from schedcore.domain.errors import SchedcoreError
from schedcore.domain.run import RunTrigger, run_key
from schedcore.spec.declarations import Veto

if TYPE_CHECKING:
    pass

__all__ = ["Gatekeeper"]

log = logging.getLogger("schedcore.gates")


class Gatekeeper:
    """Asks gates in a thread of its own, since one may take long; what it lets through may be claimed by id.

    ``inline`` asks in the caller's thread, for hosts on a manual clock.
    """

    def __init__(self, engine: Engine, *, inline: bool = False) -> None:
        self._engine = engine
        self._asked: set[int] = set()
        self._queue: SimpleQueue[tuple[Compiled, list[Any]] | None] = SimpleQueue()
        self._inline = inline
        self.let_through: set[int] = set()

    def start(self) -> None:
        """Start the thread, if any gate was declared."""
        if self._engine.toolbox.gates and not self._inline:
            self._engine.loops.start("gates", self._work)

    def close(self) -> None:
        """End the thread after what it asks now."""
        self._queue.put(None)

    def ask(self, job: Compiled, row: list[Any]) -> None:
        """Have a queued run asked about, once; the answer wakes the loop."""
        if row[0] in self._asked:
            return
        self._asked.add(row[0])
        if self._inline:
            self._answer(job, row)
            self._engine.inbox.put(None)
        else:
            self._queue.put((job, row))

    def claimed(self, run_id: int) -> None:
        """The run was claimed (or lost): its answer has served."""
        self._asked.discard(run_id)
        self.let_through.discard(run_id)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            run_id = item[1][0]
            try:
                self._answer(*item)
            except BaseException as error:
                self._asked.discard(run_id)  # a later turn asks again
                if not isinstance(error, Exception):
                    raise
                self._engine.loops.fault("gates", error, f"run {run_id} could not be asked about")
            else:
                self._engine.inbox.put(None)

    def _answer(self, job: Compiled, row: list[Any]) -> None:
        for plugin, gate in self._engine.toolbox.gates_of(job.kind):
            try:
                veto = gate.ask(_shown(job, row))
            except (Exception, SystemExit) as error:
                log.exception("gate %s of plugin %s raised", gate.name, plugin)
                veto = Veto(
                    f"gate {gate.name} of plugin {plugin} raised {type(error).__name__}: {error}", False
                )
            if veto is not None:
                self._veto(job, row, f"{gate.name}: {veto.reason}", passing=veto.passing)
                return
        self.let_through.add(row[0])

    def _veto(self, job: Compiled, row: list[Any], why: str, *, passing: bool) -> None:
        try:
            with self._engine.ledger.write() as c:
                now = self._engine.ledger.times.now(c)
                again_at = now + job.policies.retry_delay * SECOND
                again = again_at if passing else None
                jobs.lock_many(c, [job.job_id])
                if gating.veto(c, row[0], now, why[:1000], again, job.policies.gate_asks):
                    moves.ended_idle(self._engine, c, [(job.job_id, row[0])], now)
        except SchedcoreError as error:
            log.warning("run %d: a veto could not be written, it is asked again: %s", row[0], error)
        self._asked.discard(row[0])


def _shown(job: Compiled, row: list[Any]) -> Mapping[str, Any]:
    return {
        "job_id": job.uid,
        "job_key": job.key,
        "kind": job.kind,
        "payload": orjson.loads(job.payload),
        "run_id": row[0],
        "run_key": run_key(job.uid, row[3]),
        "scheduled_for": text(row[3]),
        "at": from_us(row[3]),
        "trigger": RunTrigger(row[4]).word,
    }
