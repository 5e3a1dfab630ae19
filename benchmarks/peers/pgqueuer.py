"""PgQueuer on PostgreSQL: jobs wait in a table, are picked in batches, and moved into a log when they end."""

from __future__ import annotations

import asyncio
import itertools
import time
from datetime import timedelta
from typing import Any

from benchmarks.bench import Failed

__all__ = ["drain"]


def drain(url: str, folder: str, n: int, *, batch: int, durability: str = "balanced") -> dict[str, Any]:
    """From the first call of the function to the last."""
    import uvloop

    return uvloop.run(_drain(url, n, batch, durability))


async def _drain(url: str, n: int, batch: int, durability: str) -> dict[str, Any]:
    import asyncpg
    from pgqueuer import PgQueuer
    from pgqueuer.adapters.persistence.qb import DBSettings, Durability, QueryBuilderEnvironment
    from pgqueuer.types import QueueExecutionMode

    connection = await asyncpg.connect(url)
    settings = DBSettings(durability=Durability(durability))
    await connection.execute(QueryBuilderEnvironment(settings).build_install_query())
    queuer = PgQueuer.from_asyncpg_connection(connection)
    calls, times = itertools.count(1), [0.0, 0.0]

    @queuer.entrypoint("nothing")
    async def nothing(_: Any) -> None:
        i = next(calls)
        if i == 1:
            times[0] = time.perf_counter()
        if i == n:
            times[1] = time.perf_counter()

    queries = queuer.qm.queries
    for first in range(0, n, 1000):
        k = min(1000, n - first)
        await queries.enqueue(["nothing"] * k, [b'{"a":1}'] * k, [0] * k)
    await connection.execute("vacuum analyze pgqueuer")
    await connection.execute("checkpoint")
    run = queuer.qm.run(batch_size=batch, mode=QueueExecutionMode.drain, dequeue_timeout=timedelta(seconds=1))
    await asyncio.wait_for(run, 120)
    connection = await asyncpg.connect(url)
    done = await connection.fetchval(
        "select count(distinct job_id) from pgqueuer_log where status='successful'"
    )
    left = await connection.fetchval("select count(*) from pgqueuer")
    called = next(calls) - 1
    if (done, left, called) != (n, 0, n):
        raise Failed(f"PgQueuer: {n} jobs, {done} logged, {left} left, {called} calls")
    return {"n": n, "seconds": times[1] - times[0]}
