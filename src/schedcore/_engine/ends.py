"""Writing ends: all that have come in one transaction, or one by one when one of them cannot be written.

A lost fence, or an end that no ledger can hold, loses only itself.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedcore._engine import beat, settling
from schedcore._engine.state import Engine, Finish
from schedcore.domain.errors import LedgerError
from schedcore.domain.outcome import Outcome

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["stale", "write"]

log = logging.getLogger("schedcore.loop")


def write(engine: Engine, c: Connection, known: Sequence[Finish], *, claims: bool) -> beat.Turn | None:
    """One turn with these ends; ``None`` when they had to be written one by one, and nothing was opened.

    Raises what the ledger raises.
    """
    try:
        return beat.turn(engine, c, known, claims=claims)
    except settling.FenceLost:
        pass
    except Exception as error:
        engine.to_ask.clear()  # what was to be asked about was rolled back, and its id may come again
        if isinstance(error, LedgerError) or not known:
            raise
        log.exception("an end cannot be written; they are written one by one")
    engine.to_ask.clear()
    for finish in known:
        _write_one(engine, c, finish)
    return None


def _write_one(engine: Engine, c: Connection, finish: Finish) -> None:
    try:
        beat.turn(engine, c, [finish], claims=False)
    except settling.FenceLost:
        stale(engine, c, finish)
    except LedgerError:
        raise
    except Exception as error:  # whatever an executor returned that no ledger can hold
        text = f"what it ended with cannot be stored: {type(error).__name__}"
        engine.loops.fault("loop", error, f"run {finish.claimed.run_id}: {text}")
        instead = Outcome("failed", "executor_error", text, retry=False)
        bare = Finish(finish.claimed, instead, finish.started_at, finish.finished_at)
        try:
            beat.turn(engine, c, [bare], claims=False)
        except settling.FenceLost:
            stale(engine, c, bare)


def stale(engine: Engine, c: Connection, finish: Finish) -> None:
    """Record the end of work that was given up: its fence is no longer there, and it changes nothing."""
    try:
        with engine.ledger.write(c):
            settling.stale(engine, c, finish, engine.ledger.times.now(c))
    except LedgerError:
        raise
    except Exception as error:  # of a run that a restored ledger has never seen, perhaps
        what = f"run {finish.claimed.run_id}: its late answer cannot be recorded and is dropped"
        engine.loops.fault("loop", error, what)
