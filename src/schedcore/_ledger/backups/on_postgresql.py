"""PostgreSQL: the content leaves and enters table by table through COPY, in one transaction of one view.

The file is ours: a first line, then for each table a line of JSON that names it, pieces of what COPY gave, each
behind its length, and an empty piece. No tool of the server has to be installed here.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa

from schedcore._ledger.backups.files import Told, chunks, new_file
from schedcore._ledger.backups.manifest import Shape, Table
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.migrate import VERSION_TABLE
from schedcore._ledger.schema import SCHEMA, metadata
from schedcore.domain.errors import Refused

__all__ = ["clear", "content", "copy_out", "load", "patient", "shapes", "snapshot"]

_FIRST = b"schedcore backup of postgresql\n"
_LENGTH = struct.Struct(">I")
_MOST = 1 << 26
"""No piece is longer, so that a broken length asks for no more memory."""
_SHAPE = (
    "select a.attname, array_position(i.indkey::int2[], a.attnum) from pg_attribute a left join pg_index i"
    " on i.indrelid = a.attrelid and i.indisprimary where a.attrelid = to_regclass(%s) and a.attnum > 0"
    " and not a.attisdropped order by a.attnum"
)
_ABOUT = (
    "select coalesce(sum(greatest(reltuples, 0)), 0)::bigint from pg_class c join pg_namespace n"
    " on n.oid = c.relnamespace where n.nspname = %s and c.relkind = 'r'"
)


@contextmanager
def snapshot(ledger: Ledger) -> Iterator[sa.Connection]:
    """A reading transaction that sees one instant of the ledger."""
    c = ledger.connect()
    try:
        own = c.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with own.begin():
            patient(own)
            yield own
    finally:
        c.close()


def patient(c: sa.Connection) -> None:
    """Within this transaction statements may take long, and the planner may read whole tables."""
    for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
        c.exec_driver_sql(f"set local {name} = 0")
    for name in ("seqscan", "hashjoin", "mergejoin", "bitmapscan"):
        c.exec_driver_sql(f"set local enable_{name} = on")


def shapes(c: sa.Connection) -> list[Shape]:
    """The tables of ours that are there, those that are referred to first: name, columns, and their key."""
    found = []
    for table in [*(t.name for t in metadata.sorted_tables), VERSION_TABLE]:
        columns = c.exec_driver_sql(_SHAPE, (f"{SCHEMA}.{table}",)).all()
        names = tuple(name for name, _ in columns)
        keyed = sorted((at, name) for name, at in columns if at is not None)
        if names:
            found.append((table, names, tuple(name for _, name in keyed) or names))
    return found


def copy_out(ledger: Ledger, c: sa.Connection, file: Path, told: Told) -> dict[str, Table]:
    """Copy the ledger as the transaction of ``c`` sees it into a new file; answers what was in it."""
    with open(new_file(file), "wb") as stream:
        stream.write(_FIRST)
        tables = shapes(c)
        about = int(c.exec_driver_sql(_ABOUT, (SCHEMA,)).scalar_one())
        return _read(c, tables, told, "copying", about, stream)


def content(c: sa.Connection, tables: Iterable[Shape], told: Told) -> dict[str, Table]:
    """What is in the tables: how many rows, and the SHA-256 of them in order."""
    tables = list(tables)
    return _read(c, tables, told, "counting", 0, None)


def _read(
    c: sa.Connection, tables: list[Shape], told: Told, stage: str, about: int, into: IO[bytes] | None
) -> dict[str, Table]:
    found: dict[str, Table] = {}
    done = 0
    for name, columns, key in tables:
        if into is not None:
            into.write(json.dumps({"table": name, "columns": columns}).encode() + b"\n")
        digest, rows = hashlib.sha256(), 0
        text = (
            f"copy (select {_names(columns)} from {SCHEMA}.{_names([name])} order by {_names(key)}) to stdout"
        )
        with _of(c, text), _cursor(c) as cursor, cursor.copy(text) as copy:
            for piece in copy:
                digest.update(piece)
                rows += bytes(piece).count(b"\n")  # within a value it is written as two other characters
                if into is not None:
                    into.write(_LENGTH.pack(len(piece)))
                    into.write(piece)
                if told is not None:
                    told(stage, done + rows, max(about, done + rows))
        if into is not None:
            into.write(_LENGTH.pack(0))
        done += rows
        found[name] = Table(columns, key, rows, digest.hexdigest())
    return found


def clear(c: sa.Connection) -> None:
    """Take away every table in the schema, whoever made it, with the views on them; make the schema if need be."""
    c.exec_driver_sql(f"create schema if not exists {SCHEMA}")
    there = c.exec_driver_sql("select tablename from pg_tables where schemaname = %s", (SCHEMA,)).scalars()
    for name in list(there):
        c.exec_driver_sql(f"drop table {SCHEMA}.{_names([name])} cascade")


def load(c: sa.Connection, file: Path, told: Told) -> str:
    """Put what is in a file into tables that are there and empty; answers the SHA-256 of the file.

    The table of the revision is passed over: whoever made the tables has written it. Raises :class:`Refused`
    for a file of another form.
    """
    source = _Pieces(file, told)
    if source.take(len(_FIRST)) != _FIRST:
        raise _no_backup(file, "it does not begin as one of PostgreSQL does")
    while line := source.line():
        try:
            head = json.loads(line)
            table, columns = str(head["table"]), [str(one) for one in head["columns"]]
        except (ValueError, KeyError, TypeError) as error:
            raise _no_backup(file, f"what names a table cannot be read: {error}") from None
        text = f"copy {SCHEMA}.{_names([table])} ({_names(columns)}) from stdin"
        if table == VERSION_TABLE:
            for _ in source.pieces():
                pass
            continue
        with _of(c, text), _cursor(c) as cursor, cursor.copy(text) as copy:
            for piece in source.pieces():
                copy.write(piece)
    return source.digest.hexdigest()


class _Pieces:
    """A file read from its beginning to its end, and its checksum beside."""

    def __init__(self, file: Path, told: Told) -> None:
        self.file = file
        self.digest = hashlib.sha256()
        self._chunks = chunks(file, "restoring", told)
        self._rest = b""

    def take(self, n: int) -> bytes:
        """The next ``n`` bytes."""
        while len(self._rest) < n and self._more():
            pass
        if len(self._rest) < n:
            raise _no_backup(self.file, "it ends in the middle")
        taken, self._rest = self._rest[:n], self._rest[n:]
        return taken

    def line(self) -> bytes:
        """The next line; empty at the end."""
        while b"\n" not in self._rest and self._more():
            pass
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def pieces(self) -> Iterator[bytes]:
        """The pieces of one table."""
        while n := int(_LENGTH.unpack(self.take(_LENGTH.size))[0]):
            if n > _MOST:
                raise _no_backup(self.file, f"a piece of {n} bytes")
            yield self.take(n)

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        self.digest.update(chunk)
        self._rest += chunk
        return bool(chunk)


def _no_backup(file: Path, why: str) -> Refused:
    return Refused(
        f"{file} is no backup: {why}",
        code="not_a_backup",
        field="backup",
        value=str(file),
        hint="take another backup; nothing was written",
    )


def _cursor(c: sa.Connection) -> Any:
    return c.connection.driver_connection.cursor()  # type: ignore[union-attr]  # it is open


def _names(names: Iterable[str]) -> str:
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)


@contextmanager
def _of(c: sa.Connection, text: str) -> Iterator[None]:
    """What the driver raises, as SQLAlchemy would have raised it."""
    dbapi = c.dialect.loaded_dbapi
    try:
        yield
    except dbapi.Error as error:
        raise sa.exc.DBAPIError.instance(text, (), error, dbapi.Error, dialect=c.dialect) from error
