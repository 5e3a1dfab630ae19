"""``/bin/true`` through the script executor and its supervisors, beside bare ``subprocess.run``, four at once."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.bench import Failed
from schedcore.spec import RunContext
from schedcore_script.execute import ScriptExecutor
from schedcore_script.payload import ScriptPayload

__all__ = ["spawned"]

THREADS = 4


class _Quiet:
    reason = None

    def is_set(self) -> bool:
        return False

    def then(self, call: object) -> None: ...

    def stdout(self, data: bytes) -> None: ...

    def stderr(self, data: bytes) -> None: ...


def _context(number: int, state: Path, payload: ScriptPayload) -> RunContext:
    ctx = RunContext()
    ctx.run_id, ctx.limit, ctx.payload = number, 300.0, payload
    ctx.job_key, ctx.trigger = "bench", "schedule"
    ctx.run_key = ctx.delivery_key = "j1|2030-01-01T00:00:00.000Z"
    ctx.scheduled_for = datetime(2030, 1, 1, tzinfo=UTC)
    ctx.variables = {
        "SCHEDCORE_JOB": "bench",
        "SCHEDCORE_RUN": str(number),
        "SCHEDCORE_RUN_KEY": ctx.run_key,
        "SCHEDCORE_DELIVERY_KEY": ctx.delivery_key,
        "SCHEDCORE_SCHEDULED_FOR": "2030-01-01T00:00:00.000Z",
        "SCHEDCORE_ATTEMPT": "1",
        "SCHEDCORE_TRIGGER": "schedule",
        "DSH_SCHED_RUN_KEY": ctx.run_key,
        "DSH_SCHED_DELIVERY_KEY": ctx.delivery_key,
    }
    ctx.options = {}
    ctx.stop = ctx.output = _Quiet()  # type: ignore[assignment]  # as much of a context as the executor asks
    ctx.folder, ctx.end_note = Path(f"{state}/runs/{number}"), Path(f"{state}/ends/{number}")
    ctx.masker = ctx.renderer = lambda text: text
    return ctx


def spawned(*, runs: int, rounds: int) -> dict[str, Any]:
    """Runs a second of both, round by round in turn, after one round that warms both."""
    executor = ScriptExecutor()
    payload = ScriptPayload(args=["/bin/true"])
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(THREADS) as pool:
        state = Path(folder)

        def ours(number: int) -> None:
            if executor.execute(_context(number, state, payload)).kind != "ok":
                raise Failed("a script that does nothing did not end well")

        def bare(_: int) -> None:
            subprocess.run(["/bin/true"], check=True)

        def rate(call: Callable[[int], None]) -> float:
            began = time.perf_counter()
            list(pool.map(call, range(runs)))
            return runs / (time.perf_counter() - began)

        rate(ours)
        rate(bare)
        pairs = [(rate(ours), rate(bare)) for _ in range(rounds)]
    executor.close()
    return {"ours": [a for a, _ in pairs], "bare": [b for _, b in pairs]}
