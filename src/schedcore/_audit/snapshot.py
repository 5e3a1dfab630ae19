"""One consistent view of a ledger, opened for reading only: what the audit reads, and the only thing it touches.

Statements are our own texts: ``{s}`` stands for the schema in front of a table, ``?`` for a value. They are
read in streams, so that memory does not grow with the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import sqlalchemy as sa

from schedcore.domain.errors import LedgerError, LedgerTooNew, Refused

__all__ = ["READS", "Snapshot", "Unreadable", "open_snapshot"]

READS = ("0001",)
"""The schemas that the audit knows, the newest last."""

Row = tuple[Any, ...]


class Unreadable(Exception):
    """The database found itself damaged while it was read."""


class Snapshot(Protocol):
    """A reading transaction that sees one instant of the ledger from its first statement to its last."""

    shown: str
    """The ledger as people may see it, without a password."""
    is_sqlite: bool

    def stream(self, statement: str, *values: Any) -> Iterator[Row]:
        """Rows as they come. Raises :class:`Unreadable`."""
        ...

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """A few rows. Raises :class:`Unreadable`."""
        ...

    def value(self, statement: str, *values: Any) -> Any:
        """The first column of the first row, or ``None``. Raises :class:`Unreadable`."""
        ...

    def part(self) -> AbstractContextManager[Any]:
        """One part of the audit: a statement that fails in it spoils nothing behind it."""
        ...

    def damage(self, *, thorough: bool) -> tuple[list[str], str | None]:
        """What the database says of its own files; and, where it could not be asked, why."""
        ...

    def version(self) -> str | None:
        """The schema's revision, or ``None`` where there are no tables."""
        ...

    def close(self) -> None:
        """End the transaction and the connection."""
        ...


@contextmanager
def open_snapshot(url: str) -> Iterator[Snapshot]:
    """A view of the ledger at ``url``, an SQLAlchemy URL; nothing can be written through it.

    Raises :class:`Refused` for another database, :class:`LedgerError` for a ledger that is not there, cannot
    be opened or is behind, and :class:`LedgerTooNew`.
    """
    snapshot = _opened(sa.make_url(url))
    try:
        _require(snapshot)
        yield snapshot
    finally:
        snapshot.close()


def _opened(url: sa.URL) -> Snapshot:
    backend = url.get_backend_name()
    if backend == "sqlite":
        from schedcore._audit.on_sqlite import SqliteSnapshot

        return SqliteSnapshot(url)
    if backend in {"postgresql", "postgres"}:
        from schedcore._audit.on_postgresql import PostgresSnapshot

        return PostgresSnapshot(url)
    raise Refused(
        f"{backend} is not served",
        code="ledger_url",
        field="ledger",
        value=url.render_as_string(),
        hint="write sqlite:///ledger.db or postgresql://…",
    )


def _require(snapshot: Snapshot) -> None:
    try:
        found = snapshot.version()
    except Unreadable as error:
        raise LedgerError(
            f"{snapshot.shown} is damaged ({error}); it was left as it is",
            code="ledger_corrupt",
            hint="restore a backup; keep this file",
        ) from error
    if found == READS[-1]:
        return
    if found is None:
        raise LedgerError(
            f"{snapshot.shown} has no tables yet", code="no_ledger", hint="run `schedcore db upgrade`"
        )
    if found not in READS:
        raise LedgerTooNew(
            f"{snapshot.shown} has schema {found}; this schedcore knows up to {READS[-1]}",
            hint="upgrade schedcore; the ledger was not touched",
        )
    raise LedgerError(
        f"{snapshot.shown} has schema {found}; this schedcore needs {READS[-1]}",
        code="ledger_behind",
        hint="run `schedcore db upgrade` (a host does it at its start)",
    )
