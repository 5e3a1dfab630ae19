"""Hosts on a manual clock: nothing moves but by the test's word (P-15)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from schedcore._engine import creating
from schedcore._engine.state import Claimed, EngineSettings, Finish
from schedcore._engine.toolbox import Toolbox
from schedcore._host.control import Control
from schedcore._host.crew import Crew, build_engine
from schedcore._ledger import jobs as job_rows
from schedcore._ledger import runs as run_rows
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore.domain.calendar import Calendar
from schedcore.domain.clock import from_us
from schedcore.domain.errors import LedgerError
from schedcore.domain.job import JobOrder
from schedcore.domain.outcome import Outcome, ok
from schedcore.domain.run import RunState, RunTrigger
from schedcore.domain.zones import tz_version
from schedcore.spec.declarations import Executor, Gate, Listener
from schedcore.testing.clock import ManualClock
from schedcore.testing.dying import HostDied
from schedcore.testing.plays import noop

__all__ = ["StandingHost"]

_PERSON = Actor("tester", "person")


class StandingHost:
    """One host whose loop is the test: ``beat()`` does all that is due at the clock's instant.

    With ``hold=True`` claimed work is not done: it stays in ``held`` until :meth:`finish`, as work that takes
    its time does. A host that :meth:`die` s says nothing; neither does one whose ledger raises
    :class:`HostDied` (``dead``). What the ledger refused is in ``faults``; the next beat tries again.

    ``control`` is the door that command line and console use, as the person ``tester``. ``triggers`` are
    further trigger kinds by name, ``calendars`` those that jobs may name, ``settings`` those of the engine
    (``beat``, ``lease``, ``workers`` …).
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
        gates: Iterable[Gate] = (),
        listeners: Iterable[Listener] = (),
        triggers: Mapping[str, Callable[[str, str], Any]] | None = None,
        calendars: Iterable[Calendar] = (),
        toolbox: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        declared = list(executors) or [noop()]
        calendars = tuple(calendars)
        tools = Toolbox(
            executors={e.kind: ("test", e) for e in declared},
            gates=tuple(("test", gate) for gate in gates),
            listeners=tuple(("test", listener) for listener in listeners),
            triggers=dict(triggers or {}),
            calendars={one.name: one for one in calendars},
            **(toolbox or {}),
        )
        self.ledger = ledger
        self.clock = clock
        self.folder = folder
        self.engine = build_engine(ledger, tools, EngineSettings(**settings), clock, folder, name)
        self.engine.instant = clock.wall
        self.crew = Crew(self.engine, inline=True)
        self.held: dict[int, Claimed] = {}
        self.hold = hold
        self.dead = False
        self.faults: list[LedgerError] = []
        self.engine.hand_over = self._take
        self._given = (declared, gates, listeners, triggers, calendars, settings)
        self.crew.announce([_kind(e) for e in declared], {"schedcore": "test", "tz": tz_version()})
        self.crew.start()
        self.control = Control(self.engine, _PERSON, every_floor=1, sleep=lambda seconds: None)

    def _take(self, item: Claimed) -> None:
        if self.hold:
            item.began = self.clock.boot()
            self.held[item.run_id] = item
        else:
            self.crew.worker(item)

    def beside(self, name: str = "host-2", *, ledger: Ledger | None = None, **changed: Any) -> StandingHost:
        """A further host on the same ledger and clock that offers the same, but for what is changed."""
        executors, gates, listeners, triggers, calendars, settings = self._given
        given: dict[str, Any] = {"executors": executors, "gates": gates, "listeners": listeners}
        given |= {"triggers": triggers, "calendars": calendars, "hold": self.hold, **settings, **changed}
        clock = given.pop("clock", self.clock)
        return StandingHost(ledger or self.ledger, clock, self.folder.parent / name, name=name, **given)

    # -- time ----------------------------------------------------------------------------------------

    def beat(self) -> None:
        """Turn until nothing is due at this instant."""
        loop = self.crew.loop
        loop._beat_due = min(loop._beat_due, self.clock.boot())
        self._turns()

    def poll(self) -> None:
        """Turn as an exact wake-up does, without a beat."""
        self._turns()

    def wakes_in(self) -> float:
        """How many seconds the loop would sleep now, if nobody woke it."""
        return self.crew.loop._timeout()

    def _turns(self) -> None:
        loop = self.crew.loop
        for _ in range(10_000):
            loop._orders_due = 0
            loop._drain()
            try:
                loop.turn_once(True)
            except LedgerError as error:
                loop.ledger_fault(error)
                self.faults.append(error)
                return
            except HostDied:
                self.die()
                return
            if self.engine.inbox.empty() and not loop._unsettled and not loop._more:
                return
            loop._more = False
        raise AssertionError("the host does not come to rest")

    def finish(self, run_id: int | None = None, outcome: Outcome | None = None, *, took_s: float = 0) -> None:
        """End held work (the only one, unless named); the next :meth:`beat` or :meth:`poll` settles it."""
        if run_id is None:
            (run_id,) = self.held
        item = self.held.pop(run_id)
        item.ended = True
        now = self.clock.wall()
        self.engine.inbox.put(Finish(item, outcome or ok(), now - round(took_s * 1e6), now))

    def tell(self) -> None:
        """Tell the listeners what there is to tell."""
        while self.crew.teller.tell_all():
            pass

    def stop(self) -> None:
        """Stop in order: nothing more is claimed, and held work ends ``interrupted: shutdown``."""
        if self.dead:  # or stopped already
            return
        self.engine.draining = True
        for run_id, item in list(self.held.items()):
            item.stop.give("shutdown")
            self.finish(run_id, Outcome("interrupted", "shutdown"))
        if not self.engine.inbox.empty():
            self.poll()
        self.engine.running.clear()  # whatever the ledger did not take is not waited for
        self.crew.stop(0)
        self.dead = True

    def die(self) -> None:
        """Die without a word: what is held stays held, in the ledger, until its lease is judged."""
        self.dead = True
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
            trigger_kinds=self.engine.toolbox.triggers,
            calendars=self.control.calendars(),
        )
        uid = self.ledger.run(lambda c: creating.create(self.engine, c, order, _PERSON, self.clock.wall()))
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

    def words(self, job_id: int | None = None) -> list[tuple[str, str]]:
        """Runs, oldest slot first: (``HH:MM:SS`` of the slot, state)."""
        return [(run["at"], run["word"]) for run in self.runs(job_id)]

    def attempts(self, run_id: int) -> list[dict[str, Any]]:
        """Attempts of a run, in order."""
        with self.ledger.read() as c:
            return run_rows.attempts_of(c, run_id)

    def skips(self, job_id: int) -> list[tuple[str, int]]:
        """Skipped rows of a job, oldest first: (reason, slots)."""
        return [(row["reason"], row["slots"]) for row in self.skip_rows(job_id)]

    def skip_rows(self, job_id: int) -> list[dict[str, Any]]:
        """Skipped rows of a job, oldest first."""
        with self.ledger.read() as c:
            return run_rows.skips_of(c, job_id, limit=10_000)[::-1]

    def definitions(self, job_id: int) -> list[dict[str, Any]]:
        """Definitions of a job, in order."""
        with self.ledger.read() as c:
            return job_rows.definitions_since(c, job_id, 0)


def _kind(e: Executor) -> dict[str, Any]:
    return {
        "kind": e.kind,
        "version": e.version,
        "schema": "{}",
        "limit_s": e.limit,
        "attempts": e.attempts,
        "retry_lost": int(e.retry_lost),
    }
