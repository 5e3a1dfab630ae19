"""APScheduler 3 with its SQLAlchemy store on SQLite (WAL): every job is due once, then again an hour later."""

from __future__ import annotations

import itertools
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.bench import Failed

__all__ = ["drain"]

_calls = itertools.count(1)
_times = [0.0, 0.0]
_wanted = [0]
_done = threading.Event()


def nothing() -> None:
    """The job."""
    i = next(_calls)
    if i == 1:
        _times[0] = time.perf_counter()
    if i == _wanted[0]:
        _times[1] = time.perf_counter()
        _done.set()


def drain(url: str, folder: str, n: int) -> dict[str, Any]:
    """From the first call of the function until every job was advanced in the store."""
    import sqlalchemy as sa
    from apscheduler.executors.pool import ThreadPoolExecutor
    from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
    from apscheduler.schedulers.background import BackgroundScheduler

    engine = sa.create_engine(url)
    durable = ["off"]

    @sa.event.listens_for(engine, "connect")
    def _connect(dbapi: Any, _: Any) -> None:
        dbapi.execute("pragma journal_mode=wal")
        dbapi.execute(f"pragma synchronous={durable[0]}")

    _wanted[0] = n
    store = SQLAlchemyJobStore(engine=engine)
    scheduler = BackgroundScheduler(
        jobstores={"default": store}, executors={"default": ThreadPoolExecutor(4)}, timezone=UTC,
        job_defaults={"misfire_grace_time": None, "coalesce": True},
    )  # fmt: skip
    due = datetime.now(UTC)
    scheduler.start(paused=True)
    for i in range(n):
        scheduler.add_job(nothing, "interval", hours=1, id=str(i), next_run_time=due)
    engine.dispose()  # written without a sync; drained with WAL's usual one
    durable[0] = "normal"
    scheduler.resume()
    if not _done.wait(120):
        raise Failed(f"APScheduler stalled at {next(_calls) - 1} of {n}")
    later = due + timedelta(minutes=30)
    while store.get_due_jobs(later):
        time.sleep(0.001)
    end = time.perf_counter()
    time.sleep(0.2)
    called, kept = next(_calls) - 1, len(store.get_all_jobs())
    if (called, kept) != (n, n):
        raise Failed(f"APScheduler: {n} jobs, {called} calls, {kept} jobs left")
    scheduler.shutdown(wait=False)
    return {"n": n, "seconds": max(end, _times[1]) - _times[0]}
