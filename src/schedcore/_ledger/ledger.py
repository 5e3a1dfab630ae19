"""One open ledger: an engine, its dialect, the clocks it is judged by, and its transactions.

The two rules kept here: a writing transaction that could not begin within 30 s is ``ledger_busy`` (L-02);
a COMMIT that raises is :class:`CommitUnknown`, never a failure, and whoever meets it reads back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection

from schedcore._ledger.schema import SCHEMA
from schedcore.domain.errors import LedgerBusy, LedgerError, Refused

__all__ = ["BUSY_LIMIT_S", "CommitUnknown", "Connection", "DiskFull", "Ledger", "Times"]

BUSY_LIMIT_S = 30.0
T = TypeVar("T")


class CommitUnknown(LedgerError):
    """A COMMIT raised: it may have happened. Read back before anything else (G5, I9)."""

    default_code = "commit_unknown"


class DiskFull(LedgerError):
    """The ledger's disk is full; nothing partial was written (G11)."""

    default_code = "disk_full"


class Times(Protocol):
    """The clocks a ledger is judged by, as a port; tests and the simulator bring their own."""

    def now(self, c: sa.Connection) -> int:
        """Now, for due-ness, in microseconds since 1970."""
        ...

    def lease(self, c: sa.Connection) -> int:
        """Lease time in microseconds."""
        ...

    def both(self, c: sa.Connection) -> tuple[int, int]:
        """(now, lease time), read together."""
        ...

    def up_since(self, c: sa.Connection) -> int:
        """Lease time since when the ledger's server can be asked."""
        ...


class _DialectTimes:
    """The server's clock where there is one, else the machine's, which the host hands in."""

    def __init__(self, dialect: ModuleType, wall: Callable[[], int]) -> None:
        self._dialect, self._wall = dialect, wall
        self._one_clock = bool(dialect.ONE_CLOCK)

    def now(self, c: sa.Connection) -> int:
        return self._dialect.now(c) or self._wall()

    def lease(self, c: sa.Connection) -> int:
        return int(self._dialect.lease_now(c))

    def both(self, c: sa.Connection) -> tuple[int, int]:
        lease = self.lease(c)
        return (lease if self._one_clock else self._wall()), lease

    def up_since(self, c: sa.Connection) -> int:
        return int(self._dialect.server_up_since(c))


class Ledger:
    """A ledger that is open. It starts no thread and reads no clock of its own.

    ``url`` is an SQLAlchemy URL, ``wall`` the machine's clock in microseconds (used where the server has
    none), ``times`` replaces all of its clocks. ``create`` makes an SQLite file that is not there yet.

    Raises :class:`Refused` for a URL of another database, a network file system or a ledger in memory.
    """

    def __init__(
        self, url: str, *, wall: Callable[[], int], times: Times | None = None, create: bool = False
    ) -> None:
        try:
            parsed = sa.make_url(url)
        except sa.exc.ArgumentError:
            raise Refused(
                "not a ledger URL",
                field="ledger",
                value=url,
                hint="write sqlite:///ledger.db or postgresql://…",
            ) from None
        self.url = parsed
        self.dialect: ModuleType
        backend = parsed.get_backend_name()
        if backend == "sqlite":
            from schedcore._ledger.dialects import sqlite

            self.path: Path | None = sqlite.prepare_path(parsed, create=create)
            self.dialect = sqlite
        elif backend in {"postgresql", "postgres"}:
            from schedcore._ledger.dialects import postgresql

            self.path = None
            self.dialect = postgresql
        else:
            raise Refused(
                f"{backend} is not served",
                field="ledger",
                value=parsed.render_as_string(),
                hint="write sqlite:///ledger.db or postgresql://…",
            )
        self.is_sqlite = self.path is not None
        self.engine: sa.Engine = self.dialect.make_engine(parsed)
        if self.is_sqlite:
            self.engine = self.engine.execution_options(schema_translate_map={SCHEMA: None})
        self.hot: Any = self.dialect.hot
        self.times: Times = times or _DialectTimes(self.dialect, wall)
        self.boot_id: str = self.dialect.boot_id()
        self._anchor: sa.PoolProxiedConnection | None = None
        self._closed = False
        sa.event.listen(self.engine, "checkin", self._given_back)
        self.busy_limit_s = BUSY_LIMIT_S
        """Seconds within which a writing transaction must have begun."""

    def __str__(self) -> str:
        return self.url.render_as_string(hide_password=True)

    def connect(self) -> sa.Connection:
        """A connection of the caller's own, for a loop that keeps one. Close it."""
        with self._translated():
            self._closed = False
            if self.is_sqlite and self._anchor is None:
                self._anchor = self.engine.raw_connection()  # so that no pooled close is the last one
            return self.engine.connect()

    @contextmanager
    def read(self, c: sa.Connection | None = None) -> Iterator[sa.Connection]:
        """A reading transaction; it stops no writer.

        On SQLite it is one view throughout; on PostgreSQL each statement sees what was committed when it began.
        """
        with self._connection(c) as connection, self._translated():
            read_only = connection.execution_options(read_only=True)
            try:
                with read_only.begin():
                    yield read_only
            finally:
                connection.execution_options(read_only=False)

    @contextmanager
    def write(self, c: sa.Connection | None = None) -> Iterator[sa.Connection]:
        """A writing transaction, immediate on SQLite. What the body raises rolls it back.

        Raises :class:`LedgerBusy` when it could not begin within 30 s, :class:`CommitUnknown` when the commit
        raised, :class:`DiskFull`, or :class:`LedgerError`.
        """
        with self._connection(c) as connection:
            with self._translated():
                transaction = self._begin(connection)
            try:
                with self._translated():
                    yield connection
            except BaseException:
                self._roll_back(connection, transaction)
                raise
            try:
                transaction.commit()
            except sa.exc.DBAPIError as error:
                self._forsake(connection)  # whatever became of it, nothing of ours stays open or locked
                self._roll_back(connection, transaction)
                if self.is_sqlite and self.dialect.is_full(error):
                    raise DiskFull(
                        f"the disk of {self} is full", hint="free space; work resumes by itself"
                    ) from error
                raise CommitUnknown(f"the commit to {self} raised: {error.orig}") from error

    def run(self, deed: Callable[[sa.Connection], T]) -> T:
        """A writing transaction as a function, tried again as a whole after a deadlock or lock wait."""
        until = time.monotonic() + self.busy_limit_s
        while True:
            try:
                with self.write() as c:
                    return deed(c)
            except LedgerBusy:
                if time.monotonic() > until:
                    raise

    def checkpoint(self) -> tuple[int, int]:
        """On SQLite, copy the WAL back under the write lock; (frames, copied)."""
        with self._translated():
            result: tuple[int, int] = self.dialect.checkpoint(self.engine)
            return result

    def close(self) -> None:
        """Give back every connection. On a faulty SQLite build the last checkpoint happens under the lock."""
        if self.is_sqlite and self._anchor is not None:
            if self.dialect.wal_reset_fault():
                try:
                    self.dialect.checkpoint(self.engine)
                except sa.exc.SQLAlchemyError:
                    pass  # busy or gone: whoever opens it next checkpoints
            self._anchor.close()
            self._anchor = None
        self._closed = True
        self.engine.dispose()

    def _given_back(self, _: object, record: Any) -> None:
        """A connection that a thread still had in hand when the ledger was closed is closed when it comes back."""
        if self._closed:
            record.invalidate()

    @contextmanager
    def _connection(self, c: sa.Connection | None) -> Iterator[sa.Connection]:
        if c is not None:
            yield c
            return
        own = self.connect()
        try:
            yield own
        finally:
            own.close()

    def _begin(self, c: sa.Connection) -> sa.Transaction:
        until = time.monotonic() + self.busy_limit_s
        while True:
            try:
                return c.begin()
            except sa.exc.DBAPIError as error:
                c.rollback()
                if not self.dialect.is_busy(error) or time.monotonic() > until:
                    self._forsake(c)  # it may have begun before it raised, and would hold the lock for ever
                    raise

    @staticmethod
    def _forsake(c: sa.Connection) -> None:
        """Close a connection for good. SQLite keeps one that is closed open, with its lock, for as long as anybody
        has a statement of it in hand, so it is rolled back first."""
        with suppress(Exception):  # it may be gone
            c.connection.driver_connection.rollback()  # type: ignore[union-attr]  # it is open
        c.invalidate()

    @staticmethod
    def _roll_back(c: sa.Connection, transaction: sa.Transaction) -> None:
        try:
            transaction.rollback()
        except sa.exc.DBAPIError:
            c.invalidate()  # SQLite rolls back by itself on a full disk, PostgreSQL when it is gone

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.DBAPIError as error:
            raise self._error(error) from error
        except sa.exc.TimeoutError as error:
            raise LedgerBusy(f"no free connection to {self}: {error}") from error

    def _error(self, error: sa.exc.DBAPIError) -> Exception:
        if isinstance(error, sa.exc.IntegrityError | sa.exc.ProgrammingError | sa.exc.DataError):
            return error if not str(error.orig).startswith("no such table") else self._absent()
        if self.dialect.is_busy(error):
            return LedgerBusy(f"{self} is held by another writer", hint="try again; see `schedcore doctor`")
        if self.dialect.is_full(error):
            return DiskFull(f"the disk of {self} is full", hint="free space; work resumes by itself")
        text = str(error.orig)
        if "no such table" in text:
            return self._absent()
        if "malformed" in text or "not a database" in text:
            return LedgerError(
                f"{self} is damaged ({text}); it was left as it is",
                code="ledger_corrupt",
                hint="restore a backup; keep this file",
            )
        return LedgerError(f"{self} cannot be used: {text}".rstrip())

    def _absent(self) -> LedgerError:
        return LedgerError(f"{self} has no tables yet", code="no_ledger", hint="run `schedcore db upgrade`")
