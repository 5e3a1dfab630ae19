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

from schedcore._engine import reporting
from schedcore._engine.announcing import announce, leave, refuse_other_machine
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
from schedcore._engine.zone_data import follow_zone_data
from schedcore._ledger import runs
from schedcore._ledger.ledger import Ledger
from schedcore.domain.errors import LedgerError, SchedcoreError

__all__ = ["Crew", "build_engine"]

log = logging.getLogger("schedcore.host")
_VITAL = ("loop", "work")
"""Without the loop nothing is opened, claimed, renewed or settled; without workers nothing that is claimed begins."""


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
        self.pool = Pool(engine.settings.workers, self.worker, "work", engine.loops)
        self.spool = Spool(engine.folder / "spool")
        self.gates = Gatekeeper(engine, inline=inline)
        self.teller = Teller(engine)
        self.loop = Loop(engine, self.pool, self.spool, self.gates, tell)
        self.loop.settled = self.teller.wake if engine.toolbox.listeners else lambda: None
        self._watch: Any = None
        self._watching: threading.Thread | None = None
        self._kept: list[threading.Thread] = []
        self._stopping = threading.Event()
        self._inline = inline
        engine.loops.lost = self._lost
        engine.hand_over = self.worker if inline else self.pool.put
        engine.give_up = (lambda thread: None) if inline else self.pool.give_up

    def announce(self, kinds: Sequence[Mapping[str, Any]], versions: Mapping[str, Any]) -> None:
        """Come into the ledger; nothing runs yet."""
        engine = self.engine
        engine.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (engine.folder / "spool").mkdir(mode=0o700, exist_ok=True)
        refuse_other_machine(engine)
        announce(engine, kinds, versions)
        follow_zone_data(engine)
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
            self._watching = self.engine.loops.start("watch", self._watch.run)

    def stop(self, drain_s: float, hurry: threading.Event | None = None) -> None:
        """Stop in order: no new claim, a drain of at most ``drain_s`` seconds, then work is stopped.

        ``hurry`` cuts the drain short once it is set.
        """
        engine = self.engine
        engine.draining = True
        self._stopping.set()
        self._give_back()
        self.loop.wake()
        self._wait(drain_s, hurry)
        for item in list(engine.running.values()):
            item.stop.give("shutdown")
        self._wait(engine.settings.kill_grace + 4, None)  # the loop gives up after its grace of 2 s
        engine.loops.close()
        self.gates.close()
        self.loop.close()
        if self.loop.thread is not None:
            self.loop.thread.join(10)
            if not self.loop.thread.is_alive():
                self.loop.keep_the_rest()  # one that died has kept nothing
        self.pool.close()
        self.teller.close()
        if self._watch is not None:
            self._watch.close()
        for thread in (*self._kept, *([self._watching] if self._watching is not None else [])):
            thread.join(5)
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

    def keep(self, name: str, deed: Callable[[], object], every_s: float) -> None:
        """Repeat a deed in a loop of this host's own, every so many seconds, until the host stops."""
        what = f"{name} failed; it goes on"

        def rounds() -> None:
            while not self._stopping.wait(every_s):
                with self.engine.loops.contained(name, what):
                    deed()

        self._kept.append(self.engine.loops.start(name, rounds))

    @property
    def broken(self) -> tuple[str, ...]:
        """Those of its loops that are given up and without which this host is none (T-19)."""
        return tuple(name for name in self.engine.loops.given_up if name in _VITAL)

    def _lost(self, name: str) -> None:
        """A loop is given up: whoever asks is told, and without workers nothing more is claimed."""
        if name in _VITAL:
            self.engine.draining = True
        try:
            reporting.tell(self.engine)
        except Exception:
            log.exception("the ledger could not be told that %s is given up", name)

    def _wait(self, seconds: float, hurry: threading.Event | None) -> None:
        until = time.monotonic() + seconds
        while self._busy() and time.monotonic() < until and not (hurry and hurry.is_set()):
            time.sleep(0.02)

    def _busy(self) -> bool:
        """Is there work whose end is still to come? Where the loop is given up, nobody settles it any more."""
        held = list(self.engine.running.values())
        return bool(held) and not ("loop" in self.broken and all(item.ended for item in held))

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
