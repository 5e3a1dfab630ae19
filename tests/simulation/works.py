"""Work that takes virtual time: it ends well or badly, late, twice, or not at all; what it did is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from schedcore._engine.state import Claimed
from schedcore._engine.work import stopped
from schedcore.domain.outcome import Outcome, ok
from schedcore.spec import failed

if TYPE_CHECKING:
    from schedcore.testing import StandingHost

__all__ = ["Begun", "Works"]

_TOOK = (0.01, 0.2, 1, 5, 20, 70, 200)


@dataclass(slots=True)
class Begun:
    """One effect in the world, as whoever did it remembers it."""

    run: int
    attempt: int
    fence: int
    host: str
    slot: int
    at: int
    ended: str | None = None
    deaf: bool = False


@dataclass(slots=True)
class Works:
    """All that was begun, and how each goes on. ``later(seconds, deed)`` has something done in virtual time."""

    random: Random
    begun: list[Begun] = field(default_factory=list)
    calm: bool = False
    twice: int = 0

    def begin(self, host: StandingHost, item: Claimed, now: int, later: object) -> None:
        """A host begins what it has claimed."""
        one = Begun(item.run_id, item.attempt, item.fence, host.engine.name, item.slot, now)
        self.begun.append(one)
        r = self.random
        took = 0.1 if self.calm else r.choice(_TOOK)
        hangs = not self.calm and r.random() < 0.03
        one.deaf = hangs and r.random() < 0.3
        if not hangs:
            later(took, lambda: self.end(host, item, one, self._outcome()))  # type: ignore[operator]  # a function of the world
        if not one.deaf:
            item.stop.then(
                lambda reason: later(0.5, lambda: self.end(host, item, one, stopped(reason)))  # type: ignore[operator]  # as above
            )

    def _outcome(self) -> Outcome:
        if self.calm or self.random.random() < 0.8:
            return ok()
        return self.random.choice(
            [
                failed("exit_code", exit_code=1),
                failed("exit_code", exit_code=127),
                Outcome("no_op"),
                Outcome("findings"),
            ]
        )

    def end(self, host: StandingHost, item: Claimed, one: Begun, outcome: Outcome) -> None:
        """Hand the end to the host, if it is there and was not told before; sometimes a second time."""
        if host.dead or one.ended is not None or host.held.get(item.run_id) is not item:
            return
        one.ended = outcome.kind
        host.finish(item.run_id, outcome)
        if not self.calm and self.random.random() < 0.03:
            self.twice += 1
            host.held[item.run_id] = item
            host.finish(item.run_id, outcome)
