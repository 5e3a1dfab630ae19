"""A view of an SQLite ledger: a connection that SQLite itself refuses to write through.

The file is opened by SQLite only, never by plain ``open()``, which would drop the locks of this process; and
read-only, so that no close of ours can be the one that checkpoints (``docs/decisions/0007``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from schedcore._audit.snapshot import Row, Unreadable
from schedcore.domain.errors import LedgerError, Refused

__all__ = ["SqliteSnapshot"]

_BUSY_S = 5.0
_SHOWN = 20
_AWAY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_INTERRUPT")


class SqliteSnapshot:
    """See :class:`schedcore._audit.snapshot.Snapshot`."""

    is_sqlite = True

    def __init__(self, url: sa.URL) -> None:
        self.shown = url.render_as_string(hide_password=True)
        path = Path(url.database or "").absolute()
        if not url.database or url.database == ":memory:":
            raise Refused(
                "a ledger in memory cannot be read by another",
                code="ledger_url",
                field="ledger",
                value=str(url),
            )
        if not path.exists():
            raise LedgerError(
                f"no ledger at {path}",
                code="no_ledger",
                hint="run `schedcore db upgrade` or `schedcore serve`",
            )
        name = f"file:{quote(str(path))}?mode=ro"
        try:
            self._c = sqlite3.connect(name, uri=True, timeout=_BUSY_S, isolation_level=None)
        except sqlite3.Error as error:
            raise LedgerError(f"{self.shown} cannot be read: {error}") from error
        self._c.execute("pragma query_only=1")
        self._c.execute("begin")  # the view begins with the first row that is read

    def stream(self, statement: str, *values: Any) -> Iterator[Row]:
        """See the protocol."""
        try:
            yield from self._c.execute(statement.format(s=""), values)
        except sqlite3.DatabaseError as error:
            raise self._told(error) from error

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """See the protocol."""
        return list(self.stream(statement, *values))

    def value(self, statement: str, *values: Any) -> Any:
        """See the protocol."""
        return next((row[0] for row in self.stream(statement, *values)), None)

    def part(self) -> AbstractContextManager[None]:
        """A statement that fails leaves the view as it was."""
        return nullcontext()

    def damage(self, *, thorough: bool) -> tuple[list[str], str | None]:
        """The integrity check reads the whole file; it is left out where an answer is wanted in seconds."""
        told = [
            f"{table}: row {row} refers to no row of {parent}"
            for table, row, parent, _ in self.rows("pragma foreign_key_check")[:_SHOWN]
        ]
        if not thorough:
            return told, "the integrity check reads the whole file: leave --since out"
        said = [str(row[0]) for row in self.rows(f"pragma integrity_check({_SHOWN})")]
        return told + [line for line in said if line != "ok"], None

    def version(self) -> str | None:
        """See the protocol."""
        there = "select count(*) from sqlite_master where name = 'schedcore_version'"
        if not self.value(there):
            return None
        found = self.value("select version_num from schedcore_version")
        return None if found is None else str(found)

    def close(self) -> None:
        """See the protocol."""
        self._c.close()

    def _told(self, error: sqlite3.DatabaseError) -> Exception:
        if getattr(error, "sqlite_errorname", "").startswith(_AWAY):
            return LedgerError(f"{self.shown} cannot be read: {error}")
        return Unreadable(str(error))
