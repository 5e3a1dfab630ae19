"""The outside record: what a host says and what its work does, in a file that no ledger knows of.

Each line is one write to a file opened for appending, so that what was written before a ``kill -9`` is there,
whole, whatever became of the ledger. Tests count effects here, not in the ledger's own words.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schedcore.domain.outcome import Outcome, failed, ok
from schedcore.spec.context import RunContext
from schedcore.spec.declarations import Executor
from schedcore.spec.markers import hookimpl

__all__ = ["Recorder", "Recording", "read_record"]

_SCHEMA = {"type": "object"}


class Recorder:
    """Appends lines to a record."""

    def __init__(self, path: Path | str, **always: Any) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(path, flags, 0o600)
        self._always = {**always, "pid": os.getpid()}

    def __call__(self, what: str, **more: Any) -> None:
        """One line, with the wall clock in seconds as ``t``."""
        line = json.dumps({"what": what, "t": time.time(), **self._always, **more})
        os.write(self._fd, line.encode() + b"\n")


class Recording:
    """A plugin with one executor, of kind ``record``, whose work writes ``began`` and ``ended`` to a record.

    Payload, all optional: ``seconds`` it takes; ``deaf`` work does not look at its stop; ``dies`` kills its own
    process; ``fails`` ends ``failed``.
    """

    api_version = 1

    def __init__(self, record: Recorder | None = None) -> None:
        self._record = record or (lambda what, **more: None)

    @hookimpl
    def schedcore_executors(self) -> list[Executor]:
        """The kind ``record``."""
        return [Executor(kind="record", payload=_SCHEMA, execute=self.execute, attempts=1)]

    def execute(self, ctx: RunContext) -> Outcome:
        """Do what the payload says."""
        about = {"job": ctx.job_key, "run": ctx.run_id, "attempt": ctx.attempt, "fence": ctx.fence}
        about["slot"] = ctx.run_key.partition("|")[2]
        payload: Mapping[str, Any] = ctx.payload
        self._record("began", **about)
        if payload.get("dies"):
            os.kill(os.getpid(), signal.SIGKILL)
        if payload.get("deaf"):
            time.sleep(payload["seconds"])
        elif payload.get("seconds"):
            ctx.stop.wait(payload["seconds"])
        self._record("ended", **about, stop=ctx.stop.reason)
        if payload.get("fails"):
            return failed("executor_error", "as ordered", retry=True)
        stopped = ctx.stop.is_set() and not payload.get("deaf")
        return failed("executor_error", "stopped") if stopped else ok()


def read_record(path: Path | str) -> list[dict[str, Any]]:
    """The lines of a record, oldest first; none where nothing was written yet."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    whole, _, _ = text.rpartition("\n")  # the last line may be on its way
    return [json.loads(line) for line in whole.splitlines()]
