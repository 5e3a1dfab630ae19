"""Fresh ledgers of both kinds: a migrated SQLite file copied per test, a PostgreSQL database emptied by DELETE."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from schedcore._ledger.ledger import Ledger
from schedcore._ledger.migrate import migrate
from schedcore._ledger.schema import metadata
from schedcore.testing.clock import ManualClock

__all__ = ["empty", "fresh_sqlite", "open_ledger"]

_KEPT = {"ledger"}


@lru_cache(1)
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="schedcore-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    clock = ManualClock()
    ledger = Ledger(f"sqlite:///{folder}/ledger.db", wall=clock.wall, times=clock, create=True)
    migrate(ledger)
    ledger.checkpoint()
    ledger.close()
    return folder / "ledger.db"


def fresh_sqlite(folder: Path) -> str:
    """The URL of a migrated, empty SQLite ledger in a folder."""
    target = folder / "ledger.db"
    shutil.copyfile(_template(), target)
    target.chmod(0o600)
    return f"sqlite:///{target}"


def open_ledger(url: str, clock: ManualClock | None = None) -> Ledger:
    """A migrated ledger on the clock given; without one, on the machine's (or the server's) clocks."""
    from schedcore._engine import clock as machine

    ledger = Ledger(url, wall=clock.wall if clock else machine.wall, times=clock, create=True)
    migrate(ledger)
    return ledger


def empty(ledger: Ledger) -> None:
    """Delete every row but the ledger's own identity: cheaper than a new database."""
    with ledger.write() as c:
        for table in reversed(metadata.sorted_tables):
            if table.name not in _KEPT:
                c.execute(table.delete())
