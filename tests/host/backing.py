"""What the tests of backups share: settings for a ledger, and what a ledger holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from schedcore._host.backing_up import backup as back_up
from schedcore._host.restoring import restore as put_back
from schedcore._host.settings import Settings, load
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.schema import hosts, metadata
from schedcore.testing import ManualClock, StandingHost, fresh_sqlite, open_ledger

ANNA = Actor("anna", "person")


@pytest.fixture
def ledger_url(tmp_path: Path) -> str:
    return fresh_sqlite(tmp_path)


@pytest.fixture
def of(ledger_url: str, ledger: Ledger, clock: ManualClock, tmp_path: Path) -> Settings:
    """The settings of a ledger in which three runs have ended and one is running, and whose host is dead."""
    host = StandingHost(ledger, clock, tmp_path / "of", hold=True)
    host.add("each", every="60s", payload={"text": "naïve ☃ \n\t\\"})
    for _ in range(3):
        clock.advance(60)
        host.beat()
        host.finish()
        host.beat()
    clock.advance(60)
    host.beat()
    host.die()
    beaten(ledger, 1)
    return settings(ledger_url, tmp_path)


def beaten(ledger: Ledger, at: int) -> None:
    """The hosts have beaten last at an instant of the machine's clock."""
    with ledger.write() as c:
        c.execute(sa.update(hosts).values(beat_at=at))


def settings(url: str, folder: Path, **more: Any) -> Settings:
    return load(None, {}, {"ledger": url, "state_folder": str(folder / "state"), **more})


def backup(of: Settings, to: Path | None = None, **how: Any) -> Path:
    return Path(back_up(of, ANNA, to, **how)["file"])


def restore(into: Settings, of: Path | None = None, **how: Any) -> dict[str, Any]:
    return put_back(into, ANNA, of, **how)


def everything(url: str, *, but: frozenset[str] = frozenset()) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, in order."""
    ledger = open_ledger(url)
    try:
        with ledger.read() as c:
            return {
                table.name: sorted(map(tuple, c.execute(sa.select(table))), key=repr)
                for table in metadata.sorted_tables
                if table.name not in but
            }
    finally:
        ledger.close()


def left(folder: Path) -> list[str]:
    """The files in a folder that are no backup, no manifest and no ledger."""
    known = (".backup", ".backup.json", ".db", ".db-wal", ".db-shm", ".lock")
    return sorted(path.name for path in folder.iterdir() if path.is_file() and not path.name.endswith(known))
