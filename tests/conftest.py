"""What every test may ask for.

The process that pytest was started as also starts the PostgreSQL server; the workers of xdist inherit
its URL through the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests import pg
from tests.outside.installing import install

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Ledger
    from schedcore.testing import ManualClock, StandingHost

# the same examples on every machine, and none judged by how busy it is: a test fails for what it found
settings.register_profile(
    "house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=int(os.environ.get("SCHEDCORE_FUZZ") or 1),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    print_blob=True,
)
settings.load_profile("fuzz" if os.environ.get("SCHEDCORE_FUZZ") else "house")

_MISSING = "SCHEDCORE_TEST_PG_MISSING"


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    stack = ExitStack()
    config.add_cleanup(stack.close)
    given = dict(os.environ)
    try:
        os.environ[pg.ENV] = stack.enter_context(pg.server())
    except pg.NoServer as why:
        os.environ[_MISSING] = str(why)
    stack.callback(_restore, given)


def _restore(given: dict[str, str]) -> None:
    for name in (pg.ENV, _MISSING):
        os.environ.pop(name, None)
        if name in given:
            os.environ[name] = given[name]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if why := os.environ.get(_MISSING):
        terminalreporter.write_line(f"POSTGRESQL WAS NOT TESTED: {why}", red=True, bold=True)


@pytest.fixture(scope="session")
def postgres_server() -> str:
    """The URL of the server's maintenance database; for tests that make databases of their own."""
    if url := os.environ.get(pg.ENV):
        return url
    why = os.environ.get(_MISSING, "the process that started the tests did not start one")
    if os.environ.get("CI"):
        pytest.fail(f"no PostgreSQL: {why}", pytrace=False)
    pytest.skip(f"no PostgreSQL: {why}")


@pytest.fixture(scope="session")
def postgres_url(postgres_server: str, worker_id: str, testrun_uid: str) -> Iterator[str]:
    """The URL of an empty database of this worker's own, for the whole session."""
    with pg.database(postgres_server, f"schedcore_{testrun_uid[:8]}_{worker_id}") as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a migrated, empty ledger: every test that asks for it runs on both databases."""
    from schedcore.testing import empty as emptied
    from schedcore.testing import fresh_sqlite, open_ledger

    if request.param == "sqlite":
        return fresh_sqlite(request.getfixturevalue("memory_folder"))
    url: str = request.getfixturevalue("postgres_url")
    ledger = open_ledger(url)
    emptied(ledger)
    ledger.close()
    return url


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on the memory-backed file system where there is one: no test waits for a disk."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    from schedcore.testing import until

    folder = Path(mkdtemp(dir="/dev/shm", prefix="schedcore-test-"))
    yield folder
    assert until(lambda: _removed(folder)), f"{folder} is written to after its test"


def _removed(folder: Path) -> bool:
    """What outlives a killed host may still write its last word meanwhile."""
    rmtree(folder, ignore_errors=True)
    return not folder.exists()


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands at 2026-06-01T08:00Z, a Monday."""
    from schedcore.testing import ManualClock

    return ManualClock()


@pytest.fixture
def ledger(ledger_url: str, clock: ManualClock) -> Iterator[Ledger]:
    """An open ledger on the manual clock."""
    from schedcore.testing import open_ledger

    opened = open_ledger(ledger_url, clock)
    yield opened
    opened.close()


@pytest.fixture
def host(ledger: Ledger, clock: ManualClock, tmp_path: Path) -> Iterator[StandingHost]:
    """One host on the manual clock, with the executor ``noop``."""
    from schedcore.testing import StandingHost

    standing = StandingHost(ledger, clock, tmp_path / "state")
    yield standing
    standing.stop()


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for ``PYTHONPATH`` with the plugins of ``tests/outside/`` installed in it."""
    return install(tmp_path_factory.mktemp("outside"))
