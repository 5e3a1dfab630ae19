"""Taking in what the spool holds: ends that a dead or cut-off host left, and notes of ended work (G8, G13)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from schedcore._engine import settling
from schedcore._engine.spool import Spool
from schedcore._engine.state import Claimed, Engine, Finish
from schedcore._ledger import runs as rows
from schedcore.domain.errors import SchedcoreError
from schedcore.domain.outcome import Outcome

__all__ = ["take_in"]

log = logging.getLogger("schedcore.spool")


def take_in(e: Engine, spool: Spool) -> bool:
    """Settle spooled finishes under their fences; late ones become ``stale_result`` events.

    Answers whether anything was taken in, so that a run that waited for it may start.
    """
    taken = False
    for path, data in spool.found():
        try:
            taken |= _take_one(e, spool, path, data)
        except SchedcoreError:
            raise
        except Exception as error:  # one bad file stops neither the others nor the beat
            spool.set_aside(path, error)
    for path, run_id in spool.ends():
        with e.ledger.write() as c:
            known = rows.end_known(c, run_id)
            run = rows.one(c, run_id)
        taken |= known
        if known or run is None or run["state"] not in (0, 1, 2):
            spool.drop(path)  # while the run is still held, the note waits for its lease to end
    return taken


def _take_one(e: Engine, spool: Spool, path: Path, data: dict[str, Any]) -> bool:
    if data["run_id"] in e.running:
        return False
    finish = _finish(e, data)
    if finish is None:
        return False
    try:
        with e.ledger.write() as c:
            settling.settle_batch(e, c, [finish], e.ledger.times.now(c))
        log.info("run %d: its end was taken in from the spool", data["run_id"])
    except settling.FenceLost:
        with e.ledger.write() as c:
            settling.stale(e, c, finish, e.ledger.times.now(c))
    spool.drop(path)
    return True


def _finish(e: Engine, data: dict[str, Any]) -> Finish | None:
    key = (data["job_id"], data["definition"])
    with e.ledger.read() as c:
        job = e.compiler.of([key], lambda keys: e.ledger.hot.definitions(c, keys)).get(key)
    if job is None or isinstance(job, Exception):
        return None
    item = Claimed(job, data["run_id"], data["slot"], data["attempt"], data["fence"], data["start_at"])
    item.probe, item.trigger = data["probe"], data["trigger"]
    finish = Finish(item, Outcome(**data["outcome"]), data["started_at"], data["finished_at"])
    for name in ("stdout_tail", "stderr_tail", "output_ref", "assert_exit", "assert_ms", "assert_output"):
        setattr(finish, name, data[name])
    return finish
