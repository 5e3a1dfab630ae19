"""DBOS on PostgreSQL: workflows wait in a queue and are checkpointed as they begin and end."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

from benchmarks.bench import Failed

__all__ = ["drain"]


def drain(url: str, folder: str, n: int, *, polling_s: float) -> dict[str, Any]:
    """From the first call of the workflow until the last one is marked as done."""
    import psycopg
    from dbos import DBOS, DBOSClient

    calls, began, called = itertools.count(1), [0.0], threading.Event()
    database = url.replace("postgresql://", "postgresql+psycopg://")
    DBOS(config={"name": "bench", "system_database_url": database, "log_level": "ERROR"})

    @DBOS.workflow(name="nothing")
    def nothing(a: int) -> None:
        i = next(calls)
        if i == 1:
            began[0] = time.perf_counter()
        if i == n:
            called.set()

    DBOS.launch()
    client = DBOSClient(system_database_url=database)
    with client._sys_db.engine.begin() as c:
        for _ in range(n):
            client.enqueue_in_transaction(c, {"queue_name": "bench", "workflow_name": "nothing"}, 1)
    with psycopg.connect(url, autocommit=True) as pg:
        pg.execute("vacuum analyze dbos.workflow_status")
        pg.execute("checkpoint")
        DBOS.register_queue("bench", polling_interval_sec=polling_s)
        if not called.wait(120):
            raise Failed(f"DBOS stalled at {next(calls) - 1} of {n}")
        query = "select count(*) from dbos.workflow_status where status='SUCCESS' and queue_name='bench'"
        while (done := pg.execute(query).fetchone()[0]) < n:  # type: ignore[index]  # the query answers a row
            time.sleep(0.002)
        end = time.perf_counter()
    made = next(calls) - 1
    if (made, done) != (n, n):
        raise Failed(f"DBOS: {n} workflows, {done} done, {made} calls")
    return {"n": n, "seconds": end - began[0]}
