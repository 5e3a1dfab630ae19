"""Migrations: Alembic driven from code, one version table of its own, no ``alembic.ini`` (L-03).

Alembic is imported only when the schema is behind, which one SELECT says.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Callable
from importlib import resources
from itertools import count

import sqlalchemy as sa

from schedcore._ledger.ledger import Ledger
from schedcore._ledger.schema import SCHEMA
from schedcore._ledger.schema import ledger as ledger_table
from schedcore.domain.errors import LedgerError, LedgerTooNew

__all__ = [
    "HEAD",
    "KNOWN",
    "LOCK",
    "VERSION_TABLE",
    "build",
    "current",
    "identity",
    "known",
    "migrate",
    "planned_sql",
    "require",
    "revision",
]

KNOWN = ("0001",)
HEAD = KNOWN[-1]
VERSION_TABLE = "schedcore_version"
LOCK = 727_001


def current(ledger: Ledger) -> str | None:
    """The revision of this ledger, or ``None`` when it has no tables yet."""
    with ledger.read() as c:
        return revision(ledger, c)


def revision(ledger: Ledger, c: sa.Connection) -> str | None:
    """As :func:`current`, within a transaction."""
    if ledger.is_sqlite:
        there = "select count(*) from sqlite_master where name = 'schedcore_version'"
        read = "select version_num from schedcore_version"
    else:
        there = "select count(*) from pg_tables where schemaname = 'schedcore' and tablename = 'schedcore_version'"
        read = "select version_num from schedcore.schedcore_version"
    if not c.exec_driver_sql(there).scalar_one():
        return None
    return c.exec_driver_sql(read).scalar()


def require(ledger: Ledger) -> None:
    """Refuse a ledger that this code does not fit.

    Raises :class:`LedgerTooNew` for a newer schema (both versions named), :class:`LedgerError` for an older
    one or none.
    """
    found = current(ledger)
    if found == HEAD:
        return
    _refuse_newer(ledger, found)
    what = f"has schema {found}" if found else "has no tables yet"
    raise LedgerError(
        f"{ledger} {what}; this schedcore needs {HEAD}",
        code="ledger_behind" if found else "no_ledger",
        hint="run `schedcore db upgrade` (a host does it at its start)",
    )


def known(ledger: Ledger, c: sa.Connection) -> str | None:
    """As :func:`revision`. Raises :class:`LedgerTooNew` for a revision of a newer code."""
    found = revision(ledger, c)
    _refuse_newer(ledger, found)
    return found


def _refuse_newer(ledger: Ledger, found: str | None) -> None:
    if found is not None and found not in KNOWN:
        raise LedgerTooNew(
            f"{ledger} has schema {found}; this schedcore knows up to {HEAD}",
            hint="upgrade schedcore; the ledger was not touched",
        )


def migrate(ledger: Ledger, progress: Callable[[int, int], None] | None = None) -> tuple[str | None, str]:
    """Bring the ledger to this code's schema, in one transaction. Hosts that start together apply it once.

    Answers (before, after); ``progress(done, of)`` is told of each revision. Raises :class:`LedgerTooNew`.
    """
    before = current(ledger)
    if before == HEAD:
        return before, HEAD
    _refuse_newer(ledger, before)
    with ledger.write() as c:
        if not ledger.is_sqlite:
            c.exec_driver_sql(f"select pg_advisory_xact_lock({LOCK})")
            c.exec_driver_sql(f"create schema if not exists {SCHEMA}")
        found = revision(ledger, c)
        if found != HEAD:
            _upgrade(c, ledger.is_sqlite, step=_steps(found, progress))
            if found is None:
                c.execute(
                    sa.insert(ledger_table).values(
                        one=1, ledger_id=secrets.token_hex(8), incarnation=1, created_at=ledger.times.now(c)
                    )
                )
    return before, HEAD


def build(c: sa.Connection, revision: str = HEAD) -> None:
    """On PostgreSQL, bring the tables to a revision within the caller's transaction; the ledger's row is not made."""
    _upgrade(c, is_sqlite=False, target=revision)


def planned_sql(ledger: Ledger) -> str:
    """The SQL that :func:`migrate` would run; nothing is changed."""
    before = current(ledger)
    _refuse_newer(ledger, before)
    if before == HEAD:
        return ""
    text = io.StringIO()
    with ledger.read() as c:
        _upgrade(c, ledger.is_sqlite, sql=text, start=before)
    return text.getvalue()


def identity(c: sa.Connection) -> tuple[str, int]:
    """(ledger id, incarnation)."""
    row = c.execute(sa.select(ledger_table.c.ledger_id, ledger_table.c.incarnation)).one()
    return row[0], row[1]


def _steps(found: str | None, progress: Callable[[int, int], None] | None) -> Callable[[], None] | None:
    """What is called after each revision."""
    if progress is None:
        return None
    of = len(KNOWN) - (0 if found is None else KNOWN.index(found) + 1)
    done = count(1)
    progress(0, of)
    return lambda: progress(next(done), of)


def _upgrade(
    c: sa.Connection,
    is_sqlite: bool,
    sql: io.StringIO | None = None,
    start: str | None = None,
    step: Callable[[], None] | None = None,
    target: str = HEAD,
) -> None:
    from alembic import command
    from alembic.config import Config

    folder = str(resources.files("schedcore._ledger") / "migrations")
    config = Config(stdout=io.StringIO(), output_buffer=sql)
    config.set_main_option("script_location", folder.replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes.update(
        connection=c,
        version_table=VERSION_TABLE,
        version_schema=None if is_sqlite else SCHEMA,
        step=step,
    )
    wanted = target if sql is None or start is None else f"{start}:{target}"
    command.upgrade(config, wanted, sql=sql is not None)
