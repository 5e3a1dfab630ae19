"""huey on SQLite: tasks wait in a table, a worker takes one, deletes its row and calls the function."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

from benchmarks.bench import Failed

__all__ = ["drain"]


def drain(url: str, folder: str, n: int, *, fsync: bool, workers: int = 1) -> dict[str, Any]:
    """From the first call of the function to the last."""
    from huey import SqliteHuey

    queue = SqliteHuey("bench", filename=f"{folder}/huey.db", results=False, fsync=fsync)
    calls, done, times = itertools.count(1), threading.Event(), [0.0, 0.0]

    @queue.task()
    def nothing(a: int) -> None:
        i = next(calls)
        if i == 1:
            times[0] = time.perf_counter()
        if i == n:
            times[1] = time.perf_counter()
            done.set()

    storage = queue.storage
    one = nothing.s(a=1)
    rows = []
    for i in range(n):
        one.id = f"task-{i}"
        rows.append(("bench", storage.to_blob(queue.serialize_task(one)), 0.0))
    with storage.db(commit=True) as cursor:
        cursor.executemany("insert into task (queue, data, priority) values (?, ?, ?)", rows)
    consumer = queue.create_consumer(workers=workers, periodic=False, check_worker_health=False)
    consumer.start()
    if not done.wait(120):
        raise Failed(f"huey stalled at {next(calls) - 1} of {n}")
    time.sleep(0.2)
    left, called = storage.queue_size(), next(calls) - 1
    if (left, called) != (0, n):
        raise Failed(f"huey: {n} tasks, {left} left, {called} calls")
    consumer.stop(graceful=True)
    return {"n": n, "seconds": times[1] - times[0]}
