"""The server that the suite brings."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

from tests import pg


def test_each_worker_has_a_database_of_its_own(postgres_url: str, worker_id: str):
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        row = connection.execute("SELECT current_database()").fetchone()

    assert row is not None
    assert row[0].endswith(f"_{worker_id}")


def test_a_database_is_gone_after_its_block_though_somebody_is_connected(
    postgres_server: str, worker_id: str
):
    name = f"schedcore_gone_{worker_id}"
    with pg.database(postgres_server, name) as url:
        connection = psycopg.connect(url.replace("+psycopg", ""))
    connection.close()

    with psycopg.connect(postgres_server.replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None


@pytest.mark.skipif(not pg._works([*pg.TIED, "true"]), reason="this machine cannot tie a child to its parent")
def test_the_server_ends_with_its_parent_even_when_that_is_killed(postgres_server: str):
    code = (
        "import time; from tests import pg; s = pg.server(); print(s.__enter__(), flush=True); time.sleep(99)"
    )
    env = {name: value for name, value in os.environ.items() if name != pg.ENV}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env=env,
        cwd=Path(__file__).parents[1],
    ) as parent:
        url = parent.stdout.readline().strip().replace("+psycopg", "")
        psycopg.connect(url).close()
        parent.kill()

    _wait_until_refused(url)
    pg.sweep()
    assert not list(Path(pg._memory() or tempfile.gettempdir()).glob(f"schedcore-pg-{parent.pid}-*"))


def _wait_until_refused(url: str) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            return
        time.sleep(0.02)
    pytest.fail("the server outlived its parent by 30 s")
