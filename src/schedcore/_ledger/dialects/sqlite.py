"""SQLite: WAL, ``synchronous=FULL``, immediate writing transactions, lease time from the boot-time clock.

The live file is never opened with plain ``open()``: closing such a handle would drop SQLite's own locks for
the whole process. Builds with the WAL-reset fault keep WAL, but checkpoint only here, in :func:`checkpoint`,
while a sibling connection holds the write lock (``facts``: ``docs/decisions/0007``).
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import ConnectionPoolEntry

from schedcore._ledger.dialects import sqlite_hot as hot
from schedcore._ledger.dialects.driver import execute
from schedcore.domain.errors import LedgerError, Refused

__all__ = [
    "BUSY_S",
    "ONE_CLOCK",
    "boot_id",
    "checkpoint",
    "hot",
    "is_busy",
    "is_full",
    "lease_now",
    "make_engine",
    "notify",
    "now",
    "prepare_path",
    "server_up_since",
    "wal_reset_fault",
]

BUSY_S = 5.0
ONE_CLOCK = False
"""Due-ness is judged by the wall clock, leases by the boot-time clock."""
_NETWORK = {
    "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "9p", "ceph", "glusterfs", "lustre",
    "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "davfs", "fuse.davfs2", "beegfs", "gpfs",
}  # fmt: skip


def wal_reset_fault(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> bool:
    """The linked SQLite may lose a commit when a write and a checkpoint meet (3.7.0-3.51.2, two backports)."""
    return (3, 7, 0) <= version <= (3, 51, 2) and version[:3] not in {(3, 44, 6), (3, 50, 7)}


def boot_id() -> str:
    """The id of this boot of this machine: leases of another boot are dead."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:  # not Linux: the instant of boot, to the second
        return f"boot-{int(time.time() - time.monotonic())}"


def lease_now(c: sa.Connection | None = None) -> int:
    """Lease time in microseconds: the boot-time clock, which no step of the wall clock moves."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
    return time.monotonic_ns() // 1000


def server_up_since(c: sa.Connection) -> int:
    """Lease time since when the server can be asked: always, since there is none."""
    return 0


def now(c: sa.Connection) -> int | None:
    """The server's clock: there is none, so due-ness uses the machine's."""
    return None


def file_system(path: Path, mounts: str | None = None) -> str:
    """The type of the file system that holds ``path`` (Linux; empty where it cannot be known)."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    best, kind = "", ""
    real = str(path.resolve())
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        point = left.split(" ")[4].replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, right.split(" ")[0]
    return kind


def prepare_path(url: sa.URL, *, create: bool) -> Path:
    """Check where the ledger lies; make its folder (0700) and an empty file (0600) when asked.

    Raises :class:`Refused` for a ledger in memory or on a network file system, :class:`LedgerError` where
    there is none and ``create`` is false.
    """
    if not url.database or url.database == ":memory:":
        raise Refused(
            "a ledger in memory is not durable",
            field="ledger",
            value=str(url),
            hint="write sqlite:///path/to/ledger.db",
        )
    path = Path(url.database).absolute()
    folder = path.parent
    if create:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists() and not create:
        raise LedgerError(
            f"no ledger at {path}", code="no_ledger", hint="run `schedcore db upgrade` or `schedcore serve`"
        )
    kind = file_system(folder)
    if kind in _NETWORK:
        raise Refused(
            f"{path} lies on a network file system ({kind}), where SQLite cannot lock",
            code="network_file_system",
            field="ledger",
            value=str(url),
            hint="use a local disk, or PostgreSQL for several machines",
        )
    if create:
        try:  # new files only: no connection of ours can hold locks on a file that was not there
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            pass
    return path


def make_engine(url: sa.URL) -> sa.Engine:
    """An engine whose connections keep what L-02 promises. One stays open as long as the engine does."""
    engine = sa.create_engine(
        url,
        pool_size=16,
        max_overflow=240,
        pool_timeout=30,
        connect_args={"timeout": BUSY_S, "cached_statements": 512, "check_same_thread": False},
    )
    fault = wal_reset_fault()

    @event.listens_for(engine, "connect")
    def _connect(dbapi: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
        try:
            _keep(dbapi)
        except sqlite3.Error as error:  # what a listener raises is not translated for us
            raise sa.exc.DatabaseError("PRAGMA", None, error) from error

    def _keep(dbapi: sqlite3.Connection) -> None:
        dbapi.isolation_level = None  # sqlite3 emits no BEGIN of its own
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            dbapi.execute("PRAGMA " + pragma)
        if sys.platform == "darwin":
            dbapi.execute("PRAGMA fullfsync=ON")
        if fault:
            dbapi.execute("PRAGMA wal_autocheckpoint=0")
            if sys.version_info >= (3, 12):
                dbapi.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)

    @event.listens_for(engine, "begin")
    def _begin(c: sa.Connection) -> None:
        execute(c, "BEGIN" if c.get_execution_options().get("read_only") else "BEGIN IMMEDIATE")

    return engine


def checkpoint(engine: sa.Engine) -> tuple[int, int]:
    """Copy the WAL back while a sibling holds the write lock. Answers (frames in the WAL, frames copied)."""
    with engine.connect() as holder:
        pool = engine.raw_connection()
        try:
            with holder.begin():
                row = pool.driver_connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()  # type: ignore[union-attr]  # it is open
                holder.rollback()
        finally:
            pool.close()
    return int(row[1]), int(row[2])


def notify(c: sa.Connection) -> None:
    """Nothing to send: other processes see the commit through ``PRAGMA data_version``."""


def data_version(c: Any) -> int:
    """A number that changes when another connection has committed."""
    return int(c.execute("PRAGMA data_version").fetchone()[0])


def is_busy(error: sa.exc.DBAPIError) -> bool:
    """Another writer holds the file; nothing has happened, the whole transaction may be tried again."""
    return getattr(error.orig, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def is_full(error: sa.exc.DBAPIError) -> bool:
    """The disk is full."""
    return getattr(error.orig, "sqlite_errorname", "") in {"SQLITE_FULL", "SQLITE_IOERR_WRITE"}
