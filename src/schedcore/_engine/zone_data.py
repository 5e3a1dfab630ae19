"""New zone data: jobs on a wall clock get a new definition, and what they have not opened is recomputed (P-28).

The data of a process never change while it lives (:func:`schedcore.domain.zones.hold`), so a host looks once, when
it comes in. Hosts with different data meet only while they are upgraded one after another: the newest of those
that live decides, and one that has older data moves nothing back.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from schedcore._engine import moves
from schedcore._engine.opening import open_job
from schedcore._engine.state import Engine
from schedcore._ledger import events, jobs, zone_data
from schedcore._ledger.events import Actor
from schedcore.domain.zones import hold, tz_version

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["BATCH", "follow_zone_data"]

log = logging.getLogger("schedcore.host")
BATCH = 500
"""So many jobs are followed in one transaction."""


def follow_zone_data(e: Engine) -> int:
    """Follow the zone data of this process; answers how many jobs got a new definition."""
    hold()
    version = tz_version()
    with e.ledger.read() as c:
        newest = zone_data.newest_of_others(c, e.host_id, e.ledger.times.now(c))
    if newest is not None and newest[0] > version:
        said = "host %s has zone data %s, this one %s: nothing is moved back; install the newer tzdata here"
        log.warning(said, newest[1], newest[0], version)
        return 0
    followed, after_id = 0, 0
    while True:
        with e.ledger.read() as c:
            ids = zone_data.jobs_of_other(c, version, after_id, BATCH)
        if not ids:
            return followed
        after_id = ids[-1]
        followed += e.ledger.run(lambda c, ids=ids: _batch(e, c, ids, version))  # type: ignore[misc]  # mypy takes a default as an argument


def _batch(e: Engine, c: Connection, ids: list[int], version: str) -> int:
    """Some jobs, in one transaction; those that somebody else has changed meanwhile are left."""
    jobs.lock_many(c, ids)
    now = e.ledger.times.now(c)
    rows = _readable(e, zone_data.made_with_other(c, version, ids), now)
    owing = [row for row in rows if row["owes"]]
    for row in owing:  # first what is owed, by the definition that owes it
        open_job(e, c, row["job_id"], row["lane"], now)
    if owing:
        rows = _readable(e, zone_data.made_with_other(c, version, [row["job_id"] for row in rows]), now)
    zone_data.open_anew(c, rows, version, now)
    if rows:
        actor, reason = Actor(e.name, "machine"), f"zone data is now {version}"
        events.record_many(c, [events.line(r["job_id"], now, actor, "tz_data", reason=reason) for r in rows])
    return len(rows)


def _readable(e: Engine, rows: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    """Those whose trigger can be read and asked, each with ``owes``, ``since`` and ``next_run_at``.

    What is owed is asked of the data at hand; what the old ones said of it can no longer be known.
    """
    found = []
    for row in rows:
        last = row["last_slot"]
        start = last if last is not None else row["anchor"]
        try:
            trigger = e.compiler.trigger(row["trigger"])
            first = trigger.next(start) if trigger is not None and row["slots_left"] != 0 else None
            row["next_run_at"] = moves.next_due(row, trigger, start, row["slots_left"])
        except (Exception, SystemExit) as error:  # it is paused where it is met next (G16, T-17)
            log.warning("job %s: its trigger cannot be asked: %s", row["key"], error)
            continue
        row["owes"] = first is not None and first <= now
        row["since"] = max(now, row["valid_from"], last + 1 if last is not None else 0)
        found.append(row)
    return found
