"""Keep doing it: the one thread that writes, woken exactly when something is due (T-07, T-08).

It sleeps on its inbox, which finished work, orders and other processes' commits wake; one sleep is never longer
than the beat. An error is contained, named and counted; a lost ledger is tried again with growing waits, and
the loop never ends by itself (G13, T-19).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from queue import Empty
from typing import TYPE_CHECKING, Any

from schedcore._engine import beat, ends, holding, recovery, reporting
from schedcore._engine.gates import Gatekeeper
from schedcore._engine.guarding import look_at_clock
from schedcore._engine.outage import Outage
from schedcore._engine.pool import Pool
from schedcore._engine.spool import Spool
from schedcore._engine.state import Engine, Finish
from schedcore._engine.taking_in import take_in
from schedcore._ledger import hosts
from schedcore.domain.clock import SECOND, text
from schedcore.domain.errors import LedgerError, SchedcoreError

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["Loop"]

log = logging.getLogger("schedcore.loop")
_POLL_S = 0.2
_ORDERS_US = 100_000
_MARGIN_US = 1_000


class Loop:
    """The outermost ring of one engine. ``turn_once`` is what its thread repeats; tests call it themselves."""

    def __init__(
        self,
        engine: Engine,
        pool: Pool,
        spool: Spool,
        gates: Gatekeeper,
        tell: Callable[[str, dict[str, Any]], None] | None = None,
    ) -> None:
        self.engine = engine
        self.pool = pool
        self.spool = spool
        self.gates = gates
        self.tell = tell
        self.beaten: Callable[[], None] = lambda: None
        self.settled: Callable[[], None] = lambda: None
        engine.gates = gates
        self._connection: Connection | None = None
        self._unsettled: list[Finish] = []
        self._next_at: int | None = None
        self._more = True
        self._seen_version: int | None = None
        self._beat_due = 0
        self._leases_due = 0
        self._orders_due = 0
        self._closing = threading.Event()
        self._outage = Outage(engine, spool, self._closing)
        self.thread: threading.Thread | None = None

    # -- the thread ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread, and the one beside it that keeps the limits when a call to the ledger hangs."""
        self.thread = self.engine.loops.start("loop", self.run)
        self.engine.loops.start("ward", self._ward)

    def wake(self) -> None:
        """Something may be due; from any thread."""
        self.engine.inbox.put(None)

    def close(self) -> None:
        """End the thread after its turn."""
        self._closing.set()
        self.wake()
        if self.thread is None:
            self._drop_connection()

    def run(self) -> None:
        """Repeat turns until closed."""
        try:
            while not self._closing.is_set():
                try:
                    self._turn_or_wait()
                except Exception as error:  # the loop lives; the fault is named and counted
                    self.engine.loops.fault("loop", error, "a turn failed; the next one follows")
                    self._drop_connection()
                    self._outage.wait_out(1.0, self._unsettled)
        finally:
            self._drop_connection()
        self.keep_the_rest()

    def _turn_or_wait(self) -> None:
        try:
            self.turn_once(self._sleep())
            self._outage.over()
        except LedgerError as error:
            self._outage.wait_out(self.ledger_fault(error), self._unsettled)

    def keep_the_rest(self) -> None:
        """What ended and is not in the ledger is spooled: nobody will turn again."""
        before = -1
        while len(self._unsettled) != before:
            before = len(self._unsettled)
            self._drain(before + self.engine.settings.batch)
        for finish in self._unsettled:
            self.spool.keep(finish)

    def _ward(self) -> None:
        """Give the orders that must not wait for the ledger: limits, and what is cut off."""
        every = min(1.0, self.engine.settings.lease / 15)
        while not self._closing.wait(every):
            with self.engine.loops.contained("ward", "limits could not be kept; it tries again"):
                holding.stop_overdue(self.engine)

    def _sleep(self) -> bool:
        """Wait for work, an order, a commit of another process or the next due instant; True when woken."""
        engine = self.engine
        if self._more:
            self._more = False
            self._drain()
            return True
        timeout = self._timeout()
        while timeout > 0:
            step = min(timeout, _POLL_S) if engine.ledger.is_sqlite else timeout
            try:
                item = engine.inbox.get(timeout=step)
            except Empty:
                timeout -= step
                if engine.ledger.is_sqlite and self._others_wrote():
                    return True
                continue
            if item is not None:
                self._unsettled.append(item)
            self._drain()
            return True
        self._drain()
        return True

    def _timeout(self) -> float:
        engine = self.engine
        boot = engine.clocks.boot()
        waits = [
            self._beat_due - boot,
            engine.renewed_at + engine.lease_us // 5 - boot,
            self._leases_due - boot,
        ]
        if engine.running:
            waits.append(SECOND)
        if self._next_at is not None:
            waits.append(self._next_at - engine.instant())
        return max(0.0, min(waits) / SECOND)

    def _drain(self, limit: int = 0) -> None:
        get, limit = self.engine.inbox.get_nowait, limit or self.engine.settings.batch
        try:
            while len(self._unsettled) < limit:
                item = get()
                if item is not None:
                    self._unsettled.append(item)
        except Empty:
            pass

    def _others_wrote(self) -> bool:
        if self._connection is None:
            return False
        version = self.engine.ledger.dialect.data_version(self._connection.connection.driver_connection)
        changed = bool(version != self._seen_version)
        self._seen_version = version
        return changed

    # -- one turn -----------------------------------------------------------------------------------

    def turn_once(self, woken: bool = True) -> None:
        """Everything that is due now, each in its own short transaction."""
        engine = self.engine
        c = self._open()
        if engine.unknown is not None:
            self._recall()
        boot = engine.clocks.boot()
        is_beat = boot >= self._beat_due
        if is_beat or boot - engine.renewed_at >= engine.lease_us // 5:
            holding.renew(engine, c)
            self._leases_due = min(self._leases_due, holding.next_judgement(engine, c))
        if is_beat or (woken and boot >= self._orders_due):
            holding.take_orders(engine, c)
            self._unsettled += holding.keep_limits(engine)
            self._orders_due = boot + _ORDERS_US
        if is_beat:
            look_at_clock(engine, c)
        claims = not engine.draining and not engine.holds and not engine.guard.waits
        work = bool(self._unsettled) or (claims and self._is_due())
        if not work:
            work, self._next_at = beat.peek(engine, c) if claims else (False, None)
        if work:
            self._turn(c, claims=claims)
        if is_beat or boot >= self._leases_due:
            if recovery.recover(engine):
                self._more = True
            self._leases_due = holding.next_judgement(engine, c)
        if is_beat:
            self._beat(c)

    def _is_due(self) -> bool:
        """Has the instant come that was known to be next? Then nothing need be asked before the turn itself."""
        return self._next_at is not None and self._next_at <= self.engine.instant()

    def _turn(self, c: Connection, *, claims: bool) -> None:
        engine = self.engine
        finishes, self._unsettled = self._unsettled, []
        known = [f for f in finishes if engine.running.get(f.claimed.run_id) is f.claimed]
        late = [f for f in finishes if engine.running.get(f.claimed.run_id) is not f.claimed]
        try:
            while late:
                ends.stale(engine, c, late[-1])  # work that was given up has ended after all
                late.pop()
            done = ends.write(engine, c, known, claims=claims)
        except BaseException:
            self._unsettled = known + late + self._unsettled
            raise
        try:
            self._all_settled(known)
        finally:  # what is claimed begins, whatever went wrong in the telling
            if done is not None:
                self._hand_over(done)
        if done is None:
            self._more = True
            return
        for job, row in engine.to_ask:
            self.gates.ask(job, row)
        engine.to_ask.clear()
        self._next_at = done.next_at
        self._more = done.more and bool(done.claimed or known or done.opened)
        if done.leapt:
            look_at_clock(engine, c)
        self._outage.space_again(c)

    def _hand_over(self, done: beat.Turn) -> None:
        hand_over = self.engine.hand_over
        for item in done.claimed:
            hand_over(item)
        limit = int(self.engine.settings.late_warning * SECOND)
        for item in done.claimed:
            if limit and done.now - item.start_at > limit and item.attempt == 1 and item.trigger == 0:
                minutes = (done.now - item.start_at) / (60 * SECOND)
                log.warning(
                    "job %s: slot %s starts %.1f minutes late", item.job.key, text(item.slot), minutes
                )
            if self.tell is not None:
                self.tell("started", {"claimed": item})

    def _recall(self) -> None:
        """Read back a turn whose commit raised: what it claimed is done, what it settled is settled."""
        found = beat.recall(self.engine)
        if found is not None:
            self._unsettled = [f for f in self._unsettled if f not in found.finishes]
            self._all_settled(found.finishes)
            self._hand_over(found.turn)
        self._more = True

    def _all_settled(self, finishes: Sequence[Finish]) -> None:
        engine = self.engine
        gated = bool(engine.toolbox.gates)
        for finish in finishes:
            item = finish.claimed
            engine.running.pop(item.run_id, None)
            self.spool.settled(finish)
            if gated:
                self.gates.claimed(item.run_id)
            if item.began is not None:
                engine.measured(item.job.kind, (finish.finished_at - finish.started_at) / SECOND)
            if self.tell is not None:
                self.tell("finished", {"finish": finish})
        if finishes:
            self.settled()

    # -- the beat -------------------------------------------------------------------------------------

    def _beat(self, c: Connection) -> None:
        engine = self.engine
        if take_in(engine, self.spool):
            self._more = True
        with engine.ledger.write(c):
            now = engine.ledger.times.now(c)
            order = hosts.beat(c, engine.host_id, now, reporting.status(engine))
        if order == "drain":
            engine.draining = True
        engine.counters.beats += 1
        if engine.ledger.is_sqlite and engine.ledger.dialect.wal_reset_fault():
            engine.ledger.checkpoint()
        self._beat_due = engine.clocks.boot() + int(engine.settings.beat * SECOND)
        self._outage.space_again(c)
        engine.started.set()
        self.beaten()

    # -- faults ---------------------------------------------------------------------------------------

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self.engine.ledger.connect()
        return self._connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            try:
                self._connection.close()
            except Exception:  # a dead connection may refuse even that
                log.debug("closing a connection raised", exc_info=True)
            self._connection = None

    def ledger_fault(self, error: SchedcoreError) -> float:
        """The ledger is away: nothing is claimed, ends are spooled, and it is tried again until it is back.

        Answers how many seconds to wait before that.
        """
        wait = self._outage.begun(error, self._unsettled)
        self._drop_connection()
        self._more = True
        return wait
