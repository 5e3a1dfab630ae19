"""A fleet of host processes per test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import pg
from tests.crash.fleet import Fleet, Fleets


@pytest.fixture
def fleet(ledger_url: str, memory_folder: Path) -> Iterator[Fleet]:
    """Hosts on a fresh ledger, once on each database."""
    made = Fleet(ledger_url, memory_folder)
    yield made
    made.close()


@pytest.fixture
def sqlite_fleet(memory_folder: Path) -> Iterator[Fleet]:
    """Hosts on a fresh SQLite file."""
    from schedcore.testing import fresh_sqlite

    made = Fleet(fresh_sqlite(memory_folder), memory_folder)
    yield made
    made.close()


@pytest.fixture
def postgres_fleet(postgres_url: str, memory_folder: Path) -> Iterator[Fleet]:
    """Hosts on an empty PostgreSQL ledger."""
    from schedcore.testing import empty, open_ledger

    ledger = open_ledger(postgres_url)
    empty(ledger)
    ledger.close()
    made = Fleet(postgres_url, memory_folder)
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def fleets(request: pytest.FixtureRequest, memory_folder: Path) -> Iterator[Fleets]:
    """Makes fleets by name, each on a fresh ledger of its own: they may go through the same at the same time."""
    from schedcore.testing import fresh_sqlite

    with ExitStack() as stack:

        def make(name: str) -> Fleet:
            folder = memory_folder / name
            folder.mkdir()
            if request.param == "sqlite":
                url = fresh_sqlite(folder)
            else:
                server = request.getfixturevalue("postgres_server")
                own = f"schedcore_{memory_folder.name[-8:]}_{name.replace('.', '_')}".lower()
                url = stack.enter_context(pg.database(server, own))
            made = Fleet(url, folder)
            stack.callback(made.close)
            return made

        yield Fleets(request.param, make)
