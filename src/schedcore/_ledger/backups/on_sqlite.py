"""SQLite: the content leaves and enters by SQLite's own backup interface, page by page, in one transaction.

A copy holds one view of the ledger, whatever is written meanwhile: the reading transaction that it is made in was
begun before the first page. A ledger that is written over is locked from the first page to the last; all of it
becomes visible with one commit, or nothing does.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import orjson
import sqlalchemy as sa

from schedcore._ledger.backups.files import Told, full, new_file
from schedcore._ledger.backups.manifest import Shape, Table
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.migrate import VERSION_TABLE
from schedcore._ledger.schema import metadata
from schedcore.domain.errors import LedgerBusy

__all__ = ["content", "copy_out", "put_over", "shapes", "snapshot"]

_PAGES = 256
_ROWS = 500
_FULL = {"SQLITE_FULL", "SQLITE_IOERR_WRITE"}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


@contextmanager
def snapshot(ledger: Ledger) -> Iterator[sa.Connection]:
    """A reading transaction that sees one instant of the ledger, from now on."""
    with ledger.read() as c:
        c.exec_driver_sql(
            "select count(*) from sqlite_master"
        ).scalar_one()  # a view begins with its first read
        yield c


def copy_out(ledger: Ledger, c: sa.Connection, file: Path, told: Told) -> dict[str, Table]:
    """Copy the ledger as the transaction of ``c`` sees it into a new file; answers what was in it.

    Raises :class:`DiskFull`.
    """
    os.close(new_file(file))
    source: sqlite3.Connection = c.connection.driver_connection  # type: ignore[assignment]  # it is SQLite's
    with _of(file), closing(sqlite3.connect(file, isolation_level=None)) as target:
        target.execute("PRAGMA synchronous=OFF")  # the whole file is flushed once, at the end
        _copy(source, target, "copying", told, ledger.busy_limit_s)
        target.execute("PRAGMA journal_mode=DELETE")  # one file, that needs nothing beside it
    return content(source, shapes(source), told)


def put_over(staged: Path, ledger: Ledger, told: Told) -> None:
    """Write a prepared ledger over the one that is there: one transaction, of which others see all or nothing.

    Raises :class:`LedgerBusy` when another writer holds it for 30 s, and :class:`DiskFull`.
    """
    target = ledger.engine.raw_connection()
    into: sqlite3.Connection = target.driver_connection  # type: ignore[assignment]  # it is SQLite's
    try:
        with _of(staged), closing(sqlite3.connect(staged, isolation_level=None)) as source:
            _copy(source, into, "restoring", told, ledger.busy_limit_s)
    finally:
        target.close()
    ledger.checkpoint()


def _copy(
    source: sqlite3.Connection, target: sqlite3.Connection, stage: str, told: Told, limit_s: float
) -> None:
    since = time.monotonic()

    def progress(status: int, left: int, of: int) -> None:
        nonlocal since
        if status not in _BUSY:
            since = time.monotonic()
        elif time.monotonic() - since > limit_s:
            raise LedgerBusy("another writer holds the ledger", hint="try again; see `schedcore doctor`")
        if told is not None:
            told(stage, of - left, of)

    source.backup(target, pages=_PAGES, progress=progress, sleep=0.05)


def shapes(connection: sqlite3.Connection) -> list[Shape]:
    """The tables of ours that are there: name, columns, and what orders their rows."""
    found = []
    for table in sorted([*(t.name for t in metadata.sorted_tables), VERSION_TABLE]):
        columns = connection.execute("select name, pk from pragma_table_info(?)", (table,)).fetchall()
        names = tuple(name for name, _ in columns)
        key = tuple(name for name, at in sorted(columns, key=lambda one: one[1]) if at)
        if names:
            found.append((table, names, key or names))
    return found


def content(connection: sqlite3.Connection, tables: Iterable[Shape], told: Told) -> dict[str, Table]:
    """What is in the tables: how many rows, and the SHA-256 of them in order."""
    found: dict[str, Table] = {}
    tables = list(tables)
    for name, columns, key in tables:
        if told is not None:
            told("counting", len(found), len(tables))
        digest, rows = hashlib.sha256(), 0
        cursor = connection.execute(f"select {_names(columns)} from {_names([name])} order by {_names(key)}")
        while some := cursor.fetchmany(_ROWS):
            rows += len(some)
            digest.update(orjson.dumps(some, default=bytes.hex))
        found[name] = Table(columns, key, rows, digest.hexdigest())
    return found


def _names(names: Iterable[str]) -> str:
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)


@contextmanager
def _of(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "") in _FULL:
            raise full(file) from error
        raise
