"""A scratch ledger on PostgreSQL, for a drill: a database of its own, or one that somebody named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from schedcore._ledger.backups import on_postgresql, target
from schedcore._ledger.ledger import Ledger
from schedcore.domain.errors import Conflict, LedgerError, Refused

__all__ = ["scratch"]


@contextmanager
def scratch(
    url: str, ledger_id: str, given: str | None, wall: Callable[[], int]
) -> Iterator[tuple[Ledger, str]]:
    """An empty ledger on the server of ``url``, or the one ``given``, and its URL; emptied when the block ends.

    What a drill that was killed has left is removed first. Raises :class:`Conflict` when another drill is in it,
    :class:`Refused` for a given one that is not empty, :class:`LedgerError` where no database can be made.
    """
    if given is not None:
        with _opened(given, wall) as ledger:
            if target.look(ledger).there:
                raise Refused(
                    "the scratch ledger has tables",
                    code="scratch_taken",
                    field="--scratch",
                    value=str(ledger),
                    hint="name an empty database; all of it is taken away afterwards",
                )
            try:
                yield ledger, given
            finally:
                with ledger.write() as c:
                    on_postgresql.clear(c)
        return
    name = f"schedcore_drill_{ledger_id}"
    with _opened(url, wall) as home:
        _order(home, f'drop database if exists "{name}"')
        _order(home, f'create database "{name}" template template0')
        own = home.url.set(database=name).render_as_string(hide_password=False)
        try:
            with _opened(own, wall) as ledger:
                yield ledger, own
        finally:
            _order(home, f'drop database if exists "{name}"')


@contextmanager
def _opened(url: str, wall: Callable[[], int]) -> Iterator[Ledger]:
    ledger = Ledger(url, wall=wall)
    try:
        yield ledger
    finally:
        ledger.close()


def _order(ledger: Ledger, text: str) -> None:
    """A statement that no transaction may hold."""
    try:
        with ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
            c.exec_driver_sql("set statement_timeout = 0")
            c.exec_driver_sql(text)
            c.invalidate()  # its settings are not for others
    except sa.exc.DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == "55006":
            raise Conflict(
                "a drill is under way on this server already", code="backup_running", hint="wait for it"
            ) from error
        raise LedgerError(
            f"no scratch database can be made: {error.orig}".rstrip(),
            code="no_scratch",
            hint="let the role make databases, or name an empty one with --scratch",
        ) from error
