"""Restoring: checked whole before anything is written, prepared beside the ledger, and put there in one step."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from schedcore._ledger import events, migrate, restored
from schedcore._ledger.backups import on_postgresql, on_sqlite, target
from schedcore._ledger.backups.files import Told, alone, checksum, chunks, discard, new_file, partial, settle
from schedcore._ledger.backups.manifest import Manifest, Table, shapes
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import CommitUnknown, Ledger
from schedcore._ledger.schema import SCHEMA
from schedcore.domain.errors import Refused

__all__ = ["Marking", "differences", "filled", "into_postgresql", "into_sqlite", "staged", "verify"]


@dataclass(frozen=True, slots=True)
class Marking:
    """What makes a restored ledger known as one: its incarnation, who restored it, and in which words."""

    incarnation: int
    actor: Actor
    text: str


def verify(file: Path, manifest: Manifest, told: Told = None) -> None:
    """Is the file what its manifest says? Raises :class:`Refused` for one that was cut or changed."""
    size = file.stat().st_size
    if size != manifest.bytes:
        raise Refused(
            f"{file} has {size} bytes, and its manifest says {manifest.bytes}: it was cut, or another was put there",
            code="backup_cut",
            field="backup",
            value=str(file),
            hint="take another backup; nothing was written",
        )
    if checksum(file, told) != manifest.sha256:
        raise _changed(file)


def _changed(file: Path) -> Refused:
    return Refused(
        f"the checksum of {file} is not the one of its manifest: it was changed, or its disk is bad",
        code="bad_checksum",
        field="backup",
        value=str(file),
        hint="take another backup; nothing was written",
    )


def differences(wanted: Manifest, found: dict[str, Table]) -> list[str]:
    """In what the content of a restored ledger is not what the manifest says, in words."""
    said = []
    for name, table in wanted.tables.items():
        there = found.get(name)
        if there is None:
            said.append(f"the table {name} is missing")
        elif there.rows != table.rows:
            said.append(f"{name} has {there.rows} rows, and the manifest says {table.rows}")
        elif there.sha256 != table.sha256:
            said.append(f"the rows of {name} are not those that were backed up")
    return said


def require_same(file: Path, wanted: Manifest, found: dict[str, Table]) -> None:
    """Refuse content that is not what the manifest says."""
    if said := differences(wanted, found):
        raise Refused(
            f"{file} does not hold what its manifest says: {said[0]}",
            code="backup_differs",
            field="backup",
            value=str(file),
            hint="take another backup; nothing was written",
        )


@contextmanager
def staged(
    file: Path, manifest: Manifest, near: Path, told: Told = None
) -> Iterator[tuple[Path, dict[str, Table]]]:
    """A copy of an SQLite backup beside ``near``, and what is in it; removed when the block raises.

    Raises :class:`Refused` for one that was changed since it was verified, and :class:`DiskFull`.
    """
    with partial(near) as part:
        digest = hashlib.sha256()
        with open(new_file(part), "wb") as stream:
            for chunk in chunks(file, "copying", told):
                digest.update(chunk)
                stream.write(chunk)
        if digest.hexdigest() != manifest.sha256:
            raise _changed(file)
        with closing(sqlite3.connect(part, isolation_level=None)) as connection:
            found = on_sqlite.content(connection, shapes(manifest), told)
        yield part, found


def into_sqlite(
    file: Path, manifest: Manifest, path: Path, marking: Marking, wall: Callable[[], int], told: Told = None
) -> None:
    """Restore into the SQLite ledger at ``path``, over what is there; the backup is verified already."""
    with alone(path.parent, "a restore", path.name), staged(file, manifest, path, told) as (part, found):
        require_same(file, manifest, found)
        prepared = Ledger(f"sqlite:///{part}", wall=wall)
        try:
            migrate.migrate(prepared)
            with prepared.write() as c:
                mark(prepared, c, marking)
        finally:
            prepared.close()
        with closing(sqlite3.connect(part, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")  # all of it in one file
        if not path.exists():
            settle(part, path)
            return
        ledger = Ledger(f"sqlite:///{path}", wall=wall)
        try:
            target.require_free(target.look(ledger).live)  # one may have come meanwhile
            on_sqlite.put_over(part, ledger, told)
        finally:
            ledger.close()
        discard(part)


def into_postgresql(
    file: Path, manifest: Manifest, ledger: Ledger, marking: Marking, told: Told = None
) -> None:
    """Restore into a ledger on PostgreSQL, over what is there: one transaction, of which others see all or nothing.

    Raises what :func:`filled` raises, :class:`LedgerBusy` when others hold its tables for 5 s, and
    :class:`CommitUnknown` when it could not be read back.
    """
    try:
        with ledger.write() as c:
            on_postgresql.patient(c)
            c.exec_driver_sql(f"select pg_advisory_xact_lock({migrate.LOCK})")
            if migrate.revision(ledger, c) is not None:
                c.exec_driver_sql(f"lock table {SCHEMA}.hosts")
                target.require_free(target.living(ledger, c))  # one may have come meanwhile
            require_same(file, manifest, filled(c, file, manifest, told))
            migrate.build(c)
            mark(ledger, c, marking)
    except CommitUnknown:
        with ledger.write() as c:
            if not events.found(c, str(marking.actor.token)):
                raise


def filled(c: sa.Connection, file: Path, manifest: Manifest, told: Told = None) -> dict[str, Table]:
    """Put a backup in the place of all tables on PostgreSQL, of the backup's own schema; answers what is there.

    Raises :class:`Refused` for one that was changed since it was verified.
    """
    on_postgresql.clear(c)
    migrate.build(c, manifest.schema)
    if on_postgresql.load(c, file, told) != manifest.sha256:
        raise _changed(file)
    return on_postgresql.content(c, shapes(manifest), told)


def mark(ledger: Ledger, c: sa.Connection, marking: Marking) -> None:
    """Make it a restored ledger."""
    restored.mark(c, marking.incarnation, ledger.times.now(c), marking.actor, marking.text)
