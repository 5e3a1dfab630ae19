"""Procrastinate on PostgreSQL: a worker takes one job after another by a function of the database."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any

from benchmarks.bench import Failed

__all__ = ["drain"]


def drain(url: str, folder: str, n: int, *, concurrency: int) -> dict[str, Any]:
    """From the first call of the function until the last job is marked as done."""
    return asyncio.run(_drain(url, n, concurrency))


async def _drain(url: str, n: int, concurrency: int) -> dict[str, Any]:
    import procrastinate

    connector = procrastinate.PsycopgConnector(conninfo=url, min_size=concurrency, max_size=concurrency + 4)
    app = procrastinate.App(connector=connector)
    calls, began = itertools.count(1), [0.0]

    @app.task(name="nothing")
    async def nothing(a: int) -> None:
        if next(calls) == 1:
            began[0] = time.perf_counter()

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await nothing.batch_defer_async(*({"a": 1} for _ in range(n)))
        async with connector.pool.connection() as c:
            await c.set_autocommit(True)
            await c.execute("vacuum analyze procrastinate_jobs")
            await c.execute("checkpoint")
            await c.set_autocommit(False)
        await app.run_worker_async(
            wait=False, concurrency=concurrency, listen_notify=False, install_signal_handlers=False
        )
        end = time.perf_counter()
        rows = await connector.execute_query_all_async(
            "select status::text, count(*) from procrastinate_jobs group by 1"
        )
    found = {row["status"]: row["count"] for row in rows}
    called = next(calls) - 1
    if found != {"succeeded": n} or called != n:
        raise Failed(f"Procrastinate: {n} jobs, {found}, {called} calls")
    return {"n": n, "seconds": end - began[0]}
