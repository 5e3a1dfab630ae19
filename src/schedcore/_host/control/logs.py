"""The output of a run: the file where this host has it, else the tail and the name of the host that has (L-16)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedcore._host.control import find
from schedcore.domain.run import FINAL, RunState

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker

__all__ = ["follow", "logs"]

_FINAL = {s.value for s in FINAL}
_AT_ONCE = 1024 * 1024
_REF = re.compile(r"output/[0-9]+\.log", re.ASCII)


def logs(control: Asker, run: int | str, *, offset: int) -> dict[str, Any]:
    """See :meth:`Control.logs`."""
    with control.ledger.read() as c:
        row = find.run_of(c, run)
    path = _path(control, row)
    data = _read(path, max(offset, 0)) if path is not None else None
    answer = {
        "v": 1,
        "run": row["id"],
        "key": row["key"],
        "state": RunState(row["state"]).word,
        "final": row["state"] in _FINAL,
        "host": row["host"],
        "machine": row["machine"],
        "stdout_tail": row["stdout_tail"],
        "stderr_tail": row["stderr_tail"],
    }
    if data is not None:
        kept, end = _whole_characters(data, final=bool(answer["final"]))
        return answer | {
            "where": "file",
            "text": kept,
            "path": str(path),
            "offset": max(offset, 0) + end,
            "note": None,
        }
    tail = "".join(part for part in (row["stdout_tail"], row["stderr_tail"]) if part)
    note = None
    if row["output_ref"] is not None or (row["state"] == RunState.RUNNING.value and row["host"]):
        note = (
            f"the whole output is on host {row['host']} ({row['machine']}): {row['output_ref'] or 'running'}"
        )
    where = "tail" if tail else "none"
    return answer | {"where": where, "text": tail, "path": None, "offset": 0, "note": note}


def _path(control: Asker, row: dict[str, Any]) -> Path | None:
    """The file below this host's state folder, if it is there; nothing outside it is ever read."""
    ref = row["output_ref"] or f"output/{row['id']}.log"
    if not _REF.fullmatch(ref):
        return None
    path = control.engine.folder / ref
    return path if path.is_file() and not path.is_symlink() else None


def _read(path: Path, offset: int) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        file.seek(offset)
        return file.read(_AT_ONCE)


def _whole_characters(data: bytes, *, final: bool) -> tuple[str, int]:
    """The text, and how many bytes of it; a character that is cut by the end waits for its rest."""
    end = len(data)
    if not final or end == _AT_ONCE:
        for back in range(1, min(4, end) + 1):
            byte = data[-back]
            if byte < 0x80:
                break
            if byte >= 0xC0:
                length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
                if length > back:
                    end -= back
                break
    return data[:end].decode("utf-8", "replace"), end


def follow(control: Asker, run: int | str, *, every: float) -> Iterator[dict[str, Any]]:
    """See :meth:`Control.follow_logs`."""
    offset, told = 0, False
    while True:
        answer = logs(control, run, offset=offset)
        if answer["where"] == "file":
            offset = answer["offset"]
        if answer["text"] and (answer["where"] == "file" or (answer["final"] and not told)):
            told = True
            yield answer
            if answer["where"] == "file":
                continue  # there may be more at once
        if answer["final"]:
            if not told:
                yield answer
            return
        control.sleep(every)
