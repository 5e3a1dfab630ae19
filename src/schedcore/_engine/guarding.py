"""Looking at the clock, once a beat, and saying so in the ledger when it stepped."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from schedcore._engine import guard
from schedcore._engine.state import Engine
from schedcore._ledger import events, holds
from schedcore._ledger.events import LEDGER, Actor
from schedcore.domain.clock import text

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["look_at_clock"]

log = logging.getLogger("schedcore.clock")


def look_at_clock(e: Engine, c: Connection) -> None:
    """Judge the clock of the ledger by the boot-time clock, once a beat (G9)."""
    with e.ledger.read(c) as view:
        now = e.ledger.times.now(view)
    e.guard, said = guard.look(e.guard, now, e.clocks.boot(), beat=True)
    if said == "quiet":
        return
    actor = Actor(e.name, "machine")
    with e.ledger.write(c):
        if said == "absurd":
            holds.open_hold(c, "clock", e.name, now, "the clock stepped ahead by over 366 days")
        words = {
            "absurd": "the clock stepped ahead by over 366 days; nothing is claimed until an operator says",
            "stepped": "the clock stepped ahead; claims wait for 3 agreeing beats",
            "trusted": "three beats agree; claims go on",
        }
        events.record(c, LEDGER, now, actor, "clock_" + said, reason=words[said])
    log.warning("%s (now %s)", words[said], text(now))
    with e.ledger.read(c) as view:
        e.holds = tuple(h["reason"] for h in holds.opened(view))
