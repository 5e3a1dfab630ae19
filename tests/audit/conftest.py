"""Ledgers to corrupt: one is told once for each database, and copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests import pg
from tests.audit.week import tell

from schedcore._audit import Report, audit
from schedcore.testing import ManualClock, fresh_sqlite, open_ledger

_numbers = count()


@dataclass
class Told:
    """A ledger with a whole week in it, of one's own."""

    url: str
    is_sqlite: bool
    engine: sa.Engine = field(init=False)

    def __post_init__(self) -> None:
        self.engine = sa.create_engine(self.url, poolclass=sa.NullPool)

    def sql(self, *statements: str) -> None:
        """Write into it, as nobody should. ``{s}`` is the schema, ``{NAME}`` a number of :meth:`numbers`."""
        numbers = self.numbers()
        with self.engine.begin() as c:
            for statement in statements:
                c.exec_driver_sql(statement.format(s="" if self.is_sqlite else "schedcore.", **numbers))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Read from it."""
        with self.engine.connect() as c:
            prefix = "" if self.is_sqlite else "schedcore."
            return [tuple(row) for row in c.exec_driver_sql(query.replace("{s}", prefix))]

    def numbers(self) -> dict[str, int]:
        """Rows by the part that they play."""
        found = {f"job_{key}": n for key, n in self.rows("select key,id from {s}jobs")}
        run = "select r.id from {s}runs r join {s}jobs j on j.id=r.job_id where "
        plays = {
            "run": run + "j.key='quarter' and r.trigger=0 order by r.id limit 1 offset 4",
            "newer": run + "j.key='quarter' and r.trigger=0 and r.definition=4 order by r.id limit 1",
            "manual": run + "j.key='quarter' and r.trigger=1",
            "other": run + "j.key='many' order by r.id limit 1",
            "tried": run + "j.key='flaky' and r.attempts=2 order by r.id limit 1",
            "lost": run + "j.key='lost' and r.reason='lease_lost'",
            "again": run + "j.key='again' and r.attempts=2",
            "open": run + "j.key='slow' and r.state=1",
            "row": "select k.id from {s}skipped k join {s}jobs j on j.id=k.job_id where j.key='quarter'"
            " and k.reason='coalesced'",
            "paused": "select k.id from {s}skipped k join {s}jobs j on j.id=k.job_id where j.key='quarter'"
            " and k.reason='paused'",
        }
        for name, query in plays.items():
            told = self.rows(query)
            found[name] = told[0][0] if told else 0
        return found

    def audit(self, **how: Any) -> Report:
        """What the auditor says of it."""
        return audit(self.url, **how)

    def broken(self, **how: Any) -> dict[str, list[Any]]:
        """The findings by rule."""
        found: dict[str, list[Any]] = {}
        for one in self.audit(**how).findings:
            found.setdefault(one.rule, []).append(one)
        return found


@pytest.fixture(scope="session")
def told_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a ledger that was told, whole in one file."""
    folder = tmp_path_factory.mktemp("week")
    clock = ManualClock()
    ledger = open_ledger(fresh_sqlite(folder), clock)
    tell(ledger, clock, folder)
    ledger.checkpoint()
    ledger.close()
    assert ledger.path is not None
    return ledger.path


@pytest.fixture(scope="session")
def told_postgres(
    postgres_server: str, testrun_uid: str, worker_id: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The name of a database with the same ledger, to make others from."""
    name = f"schedcore_told_{testrun_uid[:8]}_{worker_id}"
    with pg.database(postgres_server, name) as url:
        clock = ManualClock()
        ledger = open_ledger(url, clock)
        tell(ledger, clock, tmp_path_factory.mktemp("week-pg"))
        ledger.close()
        yield name


@pytest.fixture
def sqlite_told(told_sqlite: Path, memory_folder: Path) -> Told:
    """A copy in an SQLite file."""
    path = memory_folder / "told.db"
    shutil.copyfile(told_sqlite, path)
    return Told(f"sqlite:///{path}", True)


@pytest.fixture
def postgres_told(postgres_server: str, told_postgres: str) -> Iterator[Told]:
    """A copy in a PostgreSQL database."""
    name = f"{told_postgres}_{next(_numbers)}"
    with pg.database(postgres_server, name, told_postgres) as url:
        yield Told(url, False)


@pytest.fixture(params=["sqlite", "postgresql"])
def told(request: pytest.FixtureRequest) -> Told:
    """A copy on each database."""
    return request.getfixturevalue("sqlite_told" if request.param == "sqlite" else "postgres_told")
