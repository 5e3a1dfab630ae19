"""A PostgreSQL that keeps what it acknowledges, on a disk, with the launcher of the tests and the server's own
settings: ``fsync``, ``full_page_writes``, ``synchronous_commit`` and autovacuum on, 128 MB of shared buffers."""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from tests import pg

__all__ = ["server"]

_KEEPS = dict.fromkeys(("autovacuum", "fsync", "full_page_writes", "synchronous_commit"), "on")


@contextmanager
def server(root: Path) -> Iterator[str]:
    """The URL of its maintenance database, for as long as the block lasts; its data lies below ``root``."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=root))
    try:
        prefix, user = pg._as_no_root(folder)
        binaries = pg._binaries(prefix, user)
        process = pg._start(binaries, folder, prefix, user, **_KEEPS, shared_buffers="128MB")
        try:
            yield f"postgresql://schedcore@/postgres?host={quote(str(folder), safe='')}"
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
