"""The finish spool: ends that could not be written, and notes that the work of a lost run has ended.

Files beside the ledger, in the host's state folder; they decide nothing. A finish is taken in under its fence
or not at all; a note only makes the end of a lost run known (G8, G13).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from schedcore._engine.state import Finish

__all__ = ["Spool"]

log = logging.getLogger("schedcore.spool")


class Spool:
    """The folder ``spool`` of a host's state folder; one file per attempt, ``RUN-FENCE.finish`` or ``.end``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: set[Path] = set()

    def keep(self, finish: Finish) -> None:
        """Write a finish down, durably, until the ledger has it."""
        item, outcome = finish.claimed, finish.outcome
        path = self._folder / f"{item.run_id}-{item.fence}.finish"
        if path in self._kept:
            return
        data = {
            "run_id": item.run_id,
            "fence": item.fence,
            "attempt": item.attempt,
            "job_id": item.job.job_id,
            "definition": item.job.number,
            "slot": item.slot,
            "start_at": item.start_at,
            "probe": item.probe,
            "trigger": item.trigger,
            "started_at": finish.started_at,
            "finished_at": finish.finished_at,
            "outcome": {
                "kind": outcome.kind,
                "reason": outcome.reason,
                "text": outcome.text,
                "exit_code": outcome.exit_code,
                "retry": outcome.retry,
                "detail": dict(outcome.detail) if outcome.detail else None,
                "usage": dict(outcome.usage) if outcome.usage else None,
            },
            "stdout_tail": finish.stdout_tail,
            "stderr_tail": finish.stderr_tail,
            "output_ref": finish.output_ref,
            "assert_exit": finish.assert_exit,
            "assert_ms": finish.assert_ms,
            "assert_output": finish.assert_output,
        }
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_durably(path, orjson.dumps(data))
            self._kept.add(path)
        except (OSError, TypeError, ValueError) as error:  # no space, or what no file can hold
            log.warning("run %d: its end could not be spooled: %s", item.run_id, error)

    def settled(self, finish: Finish) -> None:
        """The ledger has this finish: its file may go."""
        if self._kept:
            self.drop(self._folder / f"{finish.claimed.run_id}-{finish.claimed.fence}.finish")

    def drop(self, path: Path) -> None:
        """Remove a file that has served."""
        self._kept.discard(path)
        path.unlink(missing_ok=True)

    def set_aside(self, path: Path, why: BaseException) -> None:
        """A file that cannot be taken in is kept under another name, where it stops nobody."""
        log.error("%s cannot be taken in and is set aside: %s: %s", path.name, type(why).__name__, why)
        try:
            path.replace(path.with_suffix(".refused"))
        except OSError as error:
            log.warning("%s could not be set aside: %s", path.name, error)

    def found(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Finishes that others left behind (this process's own are in its hands)."""
        for path in sorted(self._folder.glob("*.finish")):
            if path not in self._kept:
                try:
                    yield path, orjson.loads(path.read_bytes())
                except (OSError, ValueError) as error:
                    log.warning("%s cannot be read and is left where it is: %s", path.name, error)

    def ends(self) -> Iterator[tuple[Path, int]]:
        """Notes that the work of a run has ended: (file, run id)."""
        for path in sorted(self._folder.glob("*.end")):
            run, _, fence = path.stem.partition("-")
            if run.isascii() and run.isdigit() and fence.isascii() and fence.isdigit():
                yield path, int(run)


def write_durably(path: Path, data: bytes) -> None:
    """Replace a file atomically, its bytes on the disk before its name is."""
    temporary = path.with_suffix(path.suffix + ".part")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
    temporary.replace(path)
