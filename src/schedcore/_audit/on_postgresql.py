"""A view of a PostgreSQL ledger: one transaction, REPEATABLE READ and READ ONLY, read by server-side cursors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import count
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from schedcore._audit.snapshot import Row, Unreadable
from schedcore.domain.errors import LedgerError

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresSnapshot"]

_SCHEMA = "schedcore"
_AT_ONCE = 2_000
_SHOWN = 20
_OPTIONS = (
    "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=5000"
    " -c timezone=UTC -c application_name=schedcore-fsck"
)
_INDEXES = (
    "select quote_ident(n.nspname)||'.'||quote_ident(c.relname) from pg_index i"
    " join pg_class c on c.oid=i.indexrelid join pg_namespace n on n.oid=c.relnamespace"
    " join pg_am a on a.oid=c.relam where n.nspname=? and a.amname='btree' order by 1"
)
_AMCHECK = (
    "select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid=e.extnamespace"
    " where e.extname='amcheck'"
)


class PostgresSnapshot:
    """See :class:`schedcore._audit.snapshot.Snapshot`."""

    is_sqlite = False

    def __init__(self, url: sa.URL) -> None:
        self.shown = url.render_as_string(hide_password=True)
        try:
            import psycopg
        except ModuleNotFoundError as missing:
            raise LedgerError(
                "PostgreSQL needs the driver psycopg",
                code="no_driver",
                value=str(missing),
                hint="pip install 'schedcore-host[postgresql]'",
            ) from None
        self._errors = psycopg.errors
        dialect = url.set(drivername="postgresql+psycopg").get_dialect()()
        words, how = dialect.create_connect_args(url)
        try:
            self._c = psycopg.connect(*words, **{"connect_timeout": 10, **how}, options=_OPTIONS)
        except psycopg.OperationalError as error:
            raise LedgerError(f"{self.shown} cannot be reached: {error}".rstrip()) from error
        self._c.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._c.read_only = True
        self._numbers = count()

    def stream(self, statement: str, *values: Any) -> Iterator[Row]:
        """See the protocol."""
        try:
            with self._c.cursor(f"fsck{next(self._numbers)}") as cursor:
                cursor.itersize = _AT_ONCE
                cursor.execute(_own(statement), values)
                yield from cursor
        except self._errors.Error as error:
            raise self._told(error) from error

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """See the protocol."""
        try:
            return self._c.execute(_own(statement), values).fetchall()
        except self._errors.Error as error:
            raise self._told(error) from error

    def value(self, statement: str, *values: Any) -> Any:
        """See the protocol."""
        found = self.rows(statement, *values)
        return found[0][0] if found else None

    def part(self) -> AbstractContextManager[Any]:
        """A savepoint: a statement that fails would end the transaction, and the view with it."""
        return self._c.transaction()

    def damage(self, *, thorough: bool) -> tuple[list[str], str | None]:
        """What the extension ``amcheck`` says of the indexes, where it is installed and may be used."""
        if not thorough:
            return [], "amcheck reads all indexes: leave --since out"
        where = self.value(_AMCHECK)
        if where is None:
            return [], "the extension amcheck is not installed in the database"
        told: list[str] = []
        for (index,) in self.rows(_INDEXES, _SCHEMA):
            try:
                with self._c.transaction():  # a savepoint: one bad index does not end the view
                    self._c.execute(f"select {where}.bt_index_check(%s::regclass)", (index,))
            except self._errors.InsufficientPrivilege:
                return told, "the extension amcheck may not be used by this user"
            except self._errors.Error as error:
                told.append(f"{index}: {error.diag.message_primary or error}")
        return told[:_SHOWN], None

    def version(self) -> str | None:
        """See the protocol."""
        there = "select count(*) from pg_tables where schemaname = ? and tablename = 'schedcore_version'"
        if not self.value(there, _SCHEMA):
            return None
        found = self.value("select version_num from {s}schedcore_version")
        return None if found is None else str(found)

    def close(self) -> None:
        """See the protocol."""
        self._c.close()

    def _told(self, error: psycopg.Error) -> Exception:
        if isinstance(error, self._errors.OperationalError) or self._c.closed:
            return LedgerError(f"{self.shown} cannot be read: {error}".rstrip())
        return Unreadable(str(error).strip())


def _own(statement: str) -> str:
    return statement.format(s=f"{_SCHEMA}.").replace("?", "%s")
