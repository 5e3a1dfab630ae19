"""Ledgers that fail: at the n-th statement or commit, before or after it, for a while, or until told (P-15).

The faults are put below the ledger, at the driver's door, so that everything above it is the real thing.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import event

from schedcore._ledger.ledger import Ledger
from schedcore.testing.clock import ManualClock

__all__ = ["DyingLedger", "HostDied"]

_WRITES = re.compile(
    r"(insert|update|delete)\b|with\b.*(\binsert into\b|(?<!for )\bupdate\b|\bdelete from\b)", re.S
)


class HostDied(BaseException):
    """The process is gone at this very point; nothing of it runs any more, and the store rolls back."""


@dataclass
class _Fault:
    what: str
    left: int
    error: BaseException
    after: bool


class DyingLedger(Ledger):
    """A ledger whose faults a test orders. It must be migrated already.

    A commit counts where something was written.
    :meth:`fail` plans one fault; ``fired`` says whether it has come, ``statements`` and ``commits`` count what
    went through. :meth:`away` and :meth:`full` make a stretch of time in which everything, or every write, fails.
    """

    def __init__(self, url: str, clock: ManualClock) -> None:
        super().__init__(url, wall=clock.wall, times=clock)
        self.fired = False
        self.statements = 0
        self.commits = 0
        self._fault: _Fault | None = None
        self._away = False
        self._full = False
        self._wrote: set[int] = set()
        event.listen(self.engine, "before_cursor_execute", self._before)
        event.listen(self.engine, "after_cursor_execute", self._after)
        self._do_commit = self.engine.dialect.do_commit
        vars(self.engine.dialect)["do_commit"] = self._commit

    def fail(
        self,
        what: Literal["statement", "commit"],
        nth: int = 1,
        error: BaseException | None = None,
        *,
        after: bool = False,
    ) -> None:
        """Let the ``nth`` statement or commit from now on fail once, before it happens or ``after`` it has.

        Without ``error`` the connection is lost; :class:`HostDied` is the death of the host that speaks.
        """
        self.fired = False
        self._fault = _Fault(what, nth, error or _lost(), after)

    @contextmanager
    def away(self) -> Iterator[None]:
        """A stretch of time in which the ledger cannot be reached."""
        self._away = True
        try:
            yield
        finally:
            self._away = False

    @contextmanager
    def full(self) -> Iterator[None]:
        """A stretch of time in which the ledger's disk is full."""
        self._full = True
        try:
            yield
        finally:
            self._full = False

    def _before(
        self, c: sa.Connection, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        if self._away:
            raise _lost()
        writes = _WRITES.match(statement.lstrip().lower())
        if self._full and writes:
            raise _no_space(sqlite=self.is_sqlite)
        if writes:
            self._wrote.add(id(c.connection.dbapi_connection))
        self.statements += 1
        self._meet("statement", after=False)

    def _after(
        self, c: sa.Connection, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        self._meet("statement", after=True)

    def _commit(self, connection: Any) -> None:
        if self._away:
            raise _lost()
        one = id(connection.dbapi_connection)
        if one not in self._wrote:
            self._do_commit(connection)
            return
        self._wrote.discard(one)
        self.commits += 1
        self._meet("commit", after=False)
        self._do_commit(connection)
        self._meet("commit", after=True)

    def _meet(self, what: str, *, after: bool) -> None:
        fault = self._fault
        if fault is None or fault.what != what or fault.after != after:
            return
        fault.left -= 1
        if fault.left == 0:
            self._fault = None
            self.fired = True
            raise fault.error


def _lost() -> sa.exc.OperationalError:
    return sa.exc.OperationalError("", None, ConnectionError("the connection was lost"))


def _no_space(*, sqlite: bool) -> sa.exc.OperationalError:
    if sqlite:
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorname = "SQLITE_FULL"
        return sa.exc.OperationalError("", None, full)
    from psycopg.errors import DiskFull

    return sa.exc.OperationalError("", None, DiskFull("could not extend file: no space left on device"))
