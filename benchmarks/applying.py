"""``apply`` of very many declared jobs: all new, then all unchanged; each is validated whole both times."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.bench import Failed
from benchmarks.ours import host, reading

__all__ = ["applied"]

_TABLES = ("jobs", "definitions", "due", "events", "outbox")


def applied(url: str, folder: str, *, n: int) -> dict[str, Any]:
    """Jobs a second of both, and how many rows of any table the second one wrote."""
    one, _ = host(url, folder)
    one.start()  # so that the kind is known
    one.stop()
    control = one.control()
    declared = {
        f"job-{i}": {"kind": "noop", "payload": {"a": i}, "cron": f"{i % 60} {i // 60 % 24} * * *"}
        for i in range(n)
    }
    answer = {}
    for name in ("new", "unchanged"):
        before = _state(url)
        began = time.perf_counter()
        done = control.apply(declared, source="bench")
        answer[name] = n / (time.perf_counter() - began)
        count = len(done["creates"]) if name == "new" else done["unchanged"]
        if count != n or done["rejects"]:
            raise Failed(f"apply of {n} jobs: {count} {name}, {len(done['rejects'])} rejected")
    after = _state(url)
    one.stop()
    return {**answer, "wrote": sum(a != b for a, b in zip(before, after, strict=True))}


def _state(url: str) -> list[Any]:
    """Everything that tells whether a table was written, cheaply: its count, its last id or instant."""
    with reading(url) as (ask, prefix):
        counts = [ask(f"select count(*) from {prefix}{table}") for table in _TABLES]
        marks = [ask(f"select max(updated_at) from {prefix}jobs"), ask(f"select max(id) from {prefix}events")]
        if url.startswith("sqlite"):
            import os

            marks.append(os.stat(url.removeprefix("sqlite:///") + "-wal").st_size)
        return counts + marks
