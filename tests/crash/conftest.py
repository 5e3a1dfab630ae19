"""A fleet of host processes per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.fleet import Fleet


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
