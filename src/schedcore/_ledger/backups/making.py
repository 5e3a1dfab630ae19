"""Making a backup: the content, its checksum, its name, and last the manifest, which makes a backup of it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import ModuleType

from schedcore._ledger import migrate
from schedcore._ledger.backups import manifest as manifests
from schedcore._ledger.backups.files import Told, checksum, partial, settle
from schedcore._ledger.backups.manifest import Manifest
from schedcore._ledger.ledger import Ledger
from schedcore._version import __version__
from schedcore.domain.clock import text
from schedcore.domain.errors import LedgerError

__all__ = ["make", "way_of"]


def way_of(ledger: Ledger) -> ModuleType:
    """The file of the ledger's database: how content leaves it and comes into it."""
    from schedcore._ledger.backups import on_postgresql, on_sqlite

    return on_sqlite if ledger.is_sqlite else on_postgresql


def make(ledger: Ledger, file: Path, told: Told = None) -> Manifest:
    """Back the ledger up into the new file ``file``, with its manifest beside it. Hosts may go on meanwhile.

    Raises :class:`DiskFull`, :class:`Conflict` (``exists``), :class:`LedgerTooNew`, and :class:`LedgerError` for
    a ledger without tables; then nothing is left behind.
    """
    way = way_of(ledger)
    with partial(file) as part:
        with way.snapshot(ledger) as c:
            schema = migrate.known(ledger, c)
            if schema is None:
                raise LedgerError(
                    f"{ledger} has no tables yet", code="no_ledger", hint="run `schedcore db upgrade`"
                )
            ledger_id, incarnation = migrate.identity(c)
            made_at = text(ledger.times.now(c))
            tables = way.copy_out(ledger, c, part, told)
        made = Manifest(
            database="sqlite" if ledger.is_sqlite else "postgresql",
            ledger=ledger_id,
            incarnation=incarnation,
            schema=schema,
            made_at=made_at,
            made_by=__version__,
            bytes=part.stat().st_size,
            sha256=checksum(part, told),
            tables=tables,
        )
        settle(part, file)
    try:
        manifests.write(file, made)
    except BaseException:
        with suppress(OSError):
            file.unlink()
        raise
    return made
