"""Virtual time: hosts that wake when they would, work that ends when it does, and nothing in between."""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from schedcore._engine import holding
from schedcore._engine.state import Claimed
from schedcore._ledger import jobs as job_rows
from schedcore.testing import ManualClock, StandingHost, fresh_sqlite, noop, open_ledger
from tests.simulation.faults import MODES, FaultyLedger, Mode, Tally
from tests.simulation.people import People
from tests.simulation.works import Works

__all__ = ["Seat", "World", "seeded"]

SECOND, MINUTE = 1_000_000, 60_000_000
LEASE_S = 60
_FAULT = 0.0006
"""How likely a call fails, in one of the ways that it can."""


@dataclass(slots=True)
class Seat:
    """A place for a host: when one dies, another takes its name and its folder."""

    name: str
    skew: float
    host: StandingHost | None = None
    ledger: FaultyLedger | None = None
    wakes_at: int = -1
    asleep_until: int = 0


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Public ids from the seed, since jitter is made of them; and a log that nobody reads is not written."""
    ids, real = Random(f"{seed}/ids"), job_rows.new_uid
    job_rows.new_uid = lambda: f"j-{ids.randrange(16**16):016x}"
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        job_rows.new_uid = real
        logging.disable(logging.NOTSET)


class World:
    """Everything that moves. ``faulty`` says whether calls fail, hosts die and people order."""

    def __init__(
        self,
        seed: int,
        folder: Path,
        *,
        hosts: int | None = None,
        faulty: bool = True,
        choose: Callable[[str, bool, str], Mode | None] | None = None,
    ) -> None:
        self.seed, self.folder, self.faulty = seed, folder, faulty
        self._chooses = choose or self._by_chance
        self.clock = ManualClock()
        self.url = fresh_sqlite(folder)
        self.witness = open_ledger(self.url, self.clock)
        self.tally = Tally()
        self.works = Works(self._random("work"))
        self.people = People(self._random("people"))
        self._chance, self._fate = self._random("faults"), self._random("hosts")
        self._line: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self.crashes = self.pauses = self.steps = 0
        self.old: list[StandingHost] = []
        n = hosts or self._fate.choice([1, 1, 2, 2, 3, 5])
        self.seats = [Seat(f"host-{i}", round(self._fate.uniform(-3, 3), 3)) for i in range(n)]
        for seat in self.seats:
            self.start(seat)

    def _random(self, what: str) -> Random:
        return Random(f"{self.seed}/{what}")

    # -- time -------------------------------------------------------------------------------------------

    def later(self, seconds: float, deed: Callable[[], None]) -> None:
        """Have something done in so many seconds."""
        self._count += 1
        heapq.heappush(self._line, (self.clock.boot() + round(seconds * SECOND), self._count, deed))

    def run(self, seconds: float) -> None:
        """Let so much time pass, and all happen that does in it."""
        end = self.clock.boot() + round(seconds * SECOND)
        while self._line and self._line[0][0] <= end:
            at, _, deed = heapq.heappop(self._line)
            if at > self.clock.boot():
                self.clock.advance((at - self.clock.boot()) / SECOND)
            deed()
        if end > self.clock.boot():
            self.clock.advance((end - self.clock.boot()) / SECOND)

    # -- hosts ------------------------------------------------------------------------------------------

    def start(self, seat: Seat) -> None:
        """A host takes a seat."""
        seat.ledger = FaultyLedger(self.url, self.clock, self.tally, self._choose)
        seat.ledger.quiet = True  # a host that cannot even start is no host yet
        host = StandingHost(
            seat.ledger, self.clock.beside(seat.skew), self.folder / seat.name,
            [noop(), noop("again", retry_lost=True)],
            name=seat.name, hold=True, workers=4, beat=20, lease=LEASE_S, groups=(("few", 1, None, None),),
        )  # fmt: skip
        seat.ledger.quiet = False
        host.engine.instant = self.clock.wall  # as an engine reckons it, from what the ledger last told
        takes = host.engine.hand_over

        def take(item: Claimed) -> None:
            takes(item)
            self.works.begin(
                host, item, self.clock.wall(), lambda s, deed: self.later(s, lambda: self._told(seat, deed))
            )

        host.engine.hand_over = take
        seat.host, seat.wakes_at, seat.asleep_until = host, -1, 0
        self.old.append(host)
        self.wake(seat, 0)

    def _told(self, seat: Seat, deed: Callable[[], None]) -> None:
        deed()
        self.wake(seat, 0)

    def wake(self, seat: Seat, seconds: float) -> None:
        """Have a host look around in so many seconds, unless it does sooner."""
        at = self.clock.boot() + round(max(seconds, 0.0) * SECOND)
        if seat.wakes_at < 0 or at < seat.wakes_at:
            seat.wakes_at = at
            self.later(max(seconds, 0.0), lambda: self._turn(seat, at))

    def _turn(self, seat: Seat, at: int) -> None:
        host = seat.host
        if seat.wakes_at != at:
            return  # it was woken before
        seat.wakes_at = -1
        if host is None or host.dead:
            return
        if self.clock.boot() < seat.asleep_until:
            self.wake(seat, (seat.asleep_until - self.clock.boot()) / SECOND)
            return
        written = seat.ledger.commits  # type: ignore[union-attr]  # a host has one
        holding.stop_overdue(host.engine)
        host.poll()
        if host.dead:
            self.gone(seat)
            return
        self.wake(seat, max(host.wakes_in(), 1.0 if host.faults else 0.001))
        host.faults.clear()  # an error keeps the statements of its frames in hand
        if seat.ledger.commits != written:  # type: ignore[union-attr]  # a host has one
            for other in self.seats:
                if other is not seat:
                    self.wake(other, 0.2)

    def gone(self, seat: Seat) -> None:
        """A host has died; some time later another takes its seat."""
        self.crashes += 1
        if seat.host is not None and not seat.host.dead:
            seat.host.die()
        seat.ledger.forsake()  # type: ignore[union-attr]  # a host has one
        seat.host = None
        self.later(self._fate.choice([1, 5, 30, 90, 200]), lambda: self.start(seat))

    def _choose(self, what: str, after: bool, point: str) -> Mode | None:
        return self._chooses(what, after, point) if self.faulty else None

    def _by_chance(self, what: str, after: bool, point: str) -> Mode | None:
        if self._chance.random() >= _FAULT:
            return None
        able = [mode for mode in MODES if (mode.what, mode.after) == (what, after)]
        return self._chance.choice(able) if able else None

    # -- what happens to them ----------------------------------------------------------------------------

    def alive(self) -> list[StandingHost]:
        """The hosts that live."""
        return [seat.host for seat in self.seats if seat.host is not None and not seat.host.dead]

    def people_act(self) -> None:
        """An order now, and the next one some time later, for as long as there are faults."""
        if not self.faulty:
            return
        hosts = self.alive()
        if hosts:
            self.people.act(self._fate.choice(hosts))
            self._bury()
        for seat in self.seats:
            self.wake(seat, 0.2)
        self.later(self._fate.expovariate(1 / 120), self.people_act)

    def fate_acts(self) -> None:
        """A host dies or stands still, or a clock is set."""
        if not self.faulty:
            return
        seat, r = self._fate.choice(self.seats), self._fate.random()
        if seat.host is not None and r < 0.4:
            self.gone(seat)
        elif r < 0.8:
            self.pauses += 1
            seat.asleep_until = self.clock.boot() + self._fate.choice([5, 45, 80, 200]) * SECOND
        else:
            self.steps += 1
            self.clock.step(self._fate.choice([-90, -20, 20, 90]))
        self.later(self._fate.expovariate(1 / 900), self.fate_acts)

    def _bury(self) -> None:
        for seat in self.seats:
            if seat.host is not None and seat.host.dead:
                self.gone(seat)

    def calm(self) -> None:
        """Everything that goes wrong is over: faults, people, and work that hangs."""
        self.faulty, self.works.calm = False, True
        for seat in self.seats:
            seat.asleep_until = 0
            if seat.host is None or seat.host.dead:
                seat.host = None
                self.start(seat)
            self.wake(seat, 0)
        self.alive()[0].control.halt(False, "the faults are over")

    def close(self) -> None:
        """Give everything back."""
        for host in self.old:
            if not host.dead:
                host.engine.running.clear()
                host.die()
            if not host.ledger.gone:
                host.ledger.close()
        self.witness.close()
