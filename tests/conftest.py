"""What every test may ask for.

The process that pytest was started as also starts the PostgreSQL server; the workers of xdist inherit
its URL through the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import pg
from tests.outside.installing import install

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


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for ``PYTHONPATH`` with the plugins of ``tests/outside/`` installed in it."""
    return install(tmp_path_factory.mktemp("outside"))
