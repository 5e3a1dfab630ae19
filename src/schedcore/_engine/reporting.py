"""What a host says of itself: with every beat, and at once when one of its loops is given up."""

from __future__ import annotations

import logging

import orjson

from schedcore._engine.state import Engine
from schedcore._ledger import hosts
from schedcore.domain.errors import SchedcoreError

__all__ = ["status", "tell"]

log = logging.getLogger("schedcore.host")


def status(engine: Engine) -> str:
    """The host's own words for ``status``, as JSON."""
    counters = engine.counters
    return orjson.dumps(
        {
            "running": len(engine.running),
            "workers": engine.settings.workers,
            "draining": engine.draining,
            "holds": list(engine.holds),
            "clock_waits": engine.guard.waits,
            "weaker": list(engine.weaker),
            **{name: getattr(counters, name) for name in counters.__slots__},
            **engine.loops.shown(),
        }
    ).decode()


def tell(engine: Engine) -> None:
    """Put it into the ledger without a beat, if the ledger can be asked: from any thread."""
    try:
        with engine.ledger.write() as c:
            hosts.told(c, engine.host_id, status(engine))
    except SchedcoreError as error:
        log.warning("the ledger does not know yet how this host is: %s", error)
