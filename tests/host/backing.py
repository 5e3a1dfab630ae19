"""What the tests of backups share: settings for a ledger, and what a ledger holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests import pg

from schedcore._host.backing_up import backup as back_up
from schedcore._host.restoring import restore as put_back
from schedcore._host.settings import Settings, load
from schedcore._ledger import migrate
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.schema import hosts, metadata
from schedcore._ledger.schema import ledger as ledgers
from schedcore.testing import ManualClock, StandingHost, empty, fresh_sqlite, open_ledger

ANNA = Actor("anna", "person")


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A ledger that has never been restored, nor is when the next test comes to it."""
    if request.param == "sqlite":
        yield fresh_sqlite(tmp_path)
        return
    url = request.getfixturevalue("postgres_url")
    _anew(url)
    yield url
    _anew(url)


def _anew(url: str) -> None:
    ledger = open_ledger(url)
    empty(ledger)
    with ledger.write() as c:
        c.execute(sa.update(ledgers).values(incarnation=1))
        for table in metadata.sorted_tables:
            if "id" in table.c:
                c.exec_driver_sql(f"select setval(pg_get_serial_sequence('{table}', 'id'), 1, false)")
    ledger.close()


@pytest.fixture
def into(ledger_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """The settings of a ledger that is not there yet, on the same kind of database."""
    if ledger_url.startswith("sqlite"):
        yield settings(f"sqlite:///{tmp_path}/elsewhere/ledger.db", tmp_path)
        return
    name = sa.make_url(ledger_url).database
    with pg.database(request.getfixturevalue("postgres_server"), f"{name}_into") as url:
        yield settings(url, tmp_path)


def is_there(of: Settings) -> bool:
    """Is there a ledger, or any part of one?"""
    if of.ledger.startswith("sqlite"):
        folder = Path(of.ledger.removeprefix("sqlite:///")).parent
        return folder.exists() and [path for path in folder.iterdir() if path.suffix != ".lock"] != []
    ledger = Ledger(of.ledger, wall=lambda: 0)
    try:
        return migrate.current(ledger) is not None
    finally:
        ledger.close()


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
