"""The crew of one host: engine, pool, loop, gates, teller, watch, put together, started and stopped in order.

Start (T-20): check the machine, announce, follow zone data and calendars, executors, then the loops. Stop: no
new claim, what was claimed ahead is given back, running work drains, then it is stopped and ends ``interrupted:
shutdown``.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from schedcore._engine.announcing import announce, follow_tz_data, leave, refuse_other_machine
from schedcore._engine.calendars import follow_calendars
from schedcore._engine.gates import Gatekeeper
from schedcore._engine.loop import Loop
from schedcore._engine.pool import Pool
from schedcore._engine.secrets import Vault
from schedcore._engine.spool import Spool
from schedcore._engine.state import Clocks, Engine, EngineSettings
from schedcore._engine.telling import Teller
from schedcore._engine.toolbox import Toolbox
from schedcore._engine.work import Worker
from schedcore._ledger import runs
from schedcore._ledger.ledger import Ledger
from schedcore.domain.errors import LedgerError, SchedcoreError

__all__ = ["Crew", "build_engine"]

log = logging.getLogger("schedcore.host")


def build_engine(
    ledger: Ledger, toolbox: Toolbox, settings: EngineSettings, clocks: Clocks, folder: Path, name: str
) -> Engine:
    """An engine that is not started: for a crew, or for reading and deciding only."""
    offset: list[int] = []

    def instant() -> int:
        if not offset:  # the ledger's clock, carried on by the boot-time clock, which never steps
            with ledger.read() as c:
                offset.append(ledger.times.now(c) - clocks.boot())
        return clocks.boot() + offset[0]

    engine = Engine(ledger, toolbox, settings, clocks, folder, name, instant)
    engine.sample = lambda now: offset.__setitem__(slice(None), [now - clocks.boot()])
    return engine


class Crew:
    """Everything that moves in one host.

    ``inline`` makes nothing move by itself: claimed work is done in the caller's thread, for manual clocks.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        secrets: dict[str, str] | None = None,
        tell: Callable[[str, dict[str, Any]], None] | None = None,
        inline: bool = False,
    ) -> None:
        self.engine = engine
        self.vault = Vault(engine.toolbox, secrets)
        self.worker = Worker(engine, self.vault)
        self.pool = Pool(engine.settings.workers, self.worker, "schedcore-work")
        self.spool = Spool(engine.folder / "spool")
        self.gates = Gatekeeper(engine, inline=inline)
        self.teller = Teller(engine)
        self.loop = Loop(engine, self.pool, self.spool, self.gates, tell)
        self.loop.settled = self.teller.wake if engine.toolbox.listeners else lambda: None
        self._watch: Any = None
        self._inline = inline
        engine.hand_over = self.worker if inline else self.pool.put
        engine.give_up = (lambda thread: None) if inline else self.pool.give_up

    def announce(self, kinds: Sequence[Mapping[str, Any]], versions: Mapping[str, Any]) -> None:
        """Come into the ledger; nothing runs yet."""
        engine = self.engine
        engine.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (engine.folder / "spool").mkdir(mode=0o700, exist_ok=True)
        refuse_other_machine(engine)
        announce(engine, kinds, versions)
        follow_tz_data(engine)
        follow_calendars(engine)

    def start(self) -> None:
        """Start the loops; the executors first."""
        for _, executor in self.engine.toolbox.executors.values():
            if executor.start is not None:
                executor.start()
        if self._inline:
            return
        self.pool.start()
        self.gates.start()
        self.loop.start()
        self.teller.start()
        if not self.engine.ledger.is_sqlite:
            from schedcore._ledger.watch import Watch

            self._watch = Watch(self.engine.ledger, self.loop.wake)
            self._watch.start()

    def stop(self, drain_s: float, hurry: threading.Event | None = None) -> None:
        """Stop in order: no new claim, a drain of at most ``drain_s`` seconds, then work is stopped.

        ``hurry`` cuts the drain short once it is set.
        """
        engine = self.engine
        engine.draining = True
        self._give_back()
        self.loop.wake()
        self._wait(drain_s, hurry)
        for item in list(engine.running.values()):
            item.stop.give("shutdown")
        self._wait(engine.settings.kill_grace + 4, None)  # the loop gives up after its grace of 2 s
        self.gates.close()
        self.loop.close()
        if self.loop.thread is not None:
            self.loop.thread.join(10)
        self.pool.close()
        self.teller.close()
        if self._watch is not None:
            self._watch.close()
        for _, executor in engine.toolbox.executors.values():
            if executor.close is not None:
                try:
                    executor.close()
                except Exception:
                    log.exception("an executor of kind %s did not close", executor.kind)
        try:
            leave(engine)
        except SchedcoreError as error:
            log.warning("the ledger does not know yet that this host has stopped: %s", error)

    def _wait(self, seconds: float, hurry: threading.Event | None) -> None:
        until = time.monotonic() + seconds
        while self.engine.running and time.monotonic() < until and not (hurry and hurry.is_set()):
            time.sleep(0.02)

    def _give_back(self) -> None:
        """What was claimed ahead and not begun goes back to the queue (L-10)."""
        engine = self.engine
        waiting = self.pool.take_back()
        if not waiting:
            return
        for item in waiting:  # first, or the loop would miss them in the ledger and call them lost
            engine.running.pop(item.run_id, None)
        try:
            with engine.ledger.write() as c:
                runs.give_back(c, [(i.run_id, i.fence) for i in waiting])
                engine.ledger.dialect.notify(c)
        except LedgerError as error:
            log.warning("what was claimed ahead could not be given back; its lease runs out: %s", error)
