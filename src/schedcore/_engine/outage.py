"""The ledger is away, busy or its disk is full: what a loop does until it is back (G11, G13).

Nothing is claimed, ends are spooled, limits are kept, and it is tried again with growing waits.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Sequence
from queue import Empty
from typing import TYPE_CHECKING

from schedcore._engine import holding
from schedcore._engine.spool import Spool
from schedcore._engine.state import Engine, Finish
from schedcore._ledger import holds
from schedcore._ledger.ledger import CommitUnknown, DiskFull
from schedcore.domain.clock import SECOND
from schedcore.domain.errors import LedgerBusy, SchedcoreError

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["Outage"]

log = logging.getLogger("schedcore.loop")
_WAIT_MAX_S = 30.0


class Outage:
    """What one loop remembers of a ledger that does not answer."""

    def __init__(self, engine: Engine, spool: Spool, closing: threading.Event) -> None:
        self._engine = engine
        self._spool = spool
        self._closing = closing
        self._waits = 0
        self._disk_full_since: int | None = None

    def over(self) -> None:
        """A whole turn went through: the next outage begins with short waits."""
        self._waits = 0

    def begun(self, error: SchedcoreError, unsettled: Sequence[Finish]) -> float:
        """Count and name the fault, spool what has ended; answers how many seconds to wait before the next try."""
        engine = self._engine
        engine.counters.ledger_faults += 1
        engine.counters.note(str(error)[:500])
        if isinstance(error, DiskFull):
            if self._disk_full_since is None:
                self._disk_full_since = engine.instant()
                log.error("hold disk_full: %s", error)
        elif not isinstance(error, LedgerBusy):
            engine.contact_since = None
            log.warning("%s", error)
        for finish in unsettled:
            self._spool.keep(finish)
        holding.stop_overdue(engine)
        self._waits = min(self._waits + 1, 16)
        longest = min(_WAIT_MAX_S, engine.settings.beat)
        wait: float = min(longest, 0.1 * 2**self._waits) * random.uniform(0.5, 1.0)
        if isinstance(error, CommitUnknown | LedgerBusy):
            wait = 0.05
        return wait

    def wait_out(self, seconds: float, unsettled: list[Finish]) -> None:
        """Wait without the ledger: limits are kept, and what ends meanwhile is spooled at once (G13)."""
        engine = self._engine
        until = engine.clocks.boot() + int(seconds * SECOND)
        while not self._closing.is_set() and (left := until - engine.clocks.boot()) > 0:
            try:
                item = engine.inbox.get(timeout=min(left / SECOND, 1.0))
            except Empty:
                item = None
            if item is not None:
                unsettled.append(item)
                self._spool.keep(item)
            unsettled += holding.keep_limits(engine)

    def space_again(self, c: Connection) -> None:
        """A write went through after a full disk: the hold's row is written now, opened and lifted (G11)."""
        if self._disk_full_since is None:
            return
        engine = self._engine
        since, self._disk_full_since = self._disk_full_since, None
        with engine.ledger.write(c):
            now = engine.ledger.times.now(c)
            holds.open_hold(c, "disk_full", engine.name, since or now, "the ledger's disk was full")
            holds.lift(c, "disk_full", engine.name, now)
        log.warning("there is space again; work resumes")
