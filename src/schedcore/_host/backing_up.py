"""Backups by order: where they go, which is the newest, and how many are kept (R-12)."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from schedcore._engine.clock import wall
from schedcore._host.folders import make_state_folder
from schedcore._host.progress import Progress
from schedcore._host.settings import Settings
from schedcore._ledger import events, migrate
from schedcore._ledger.backups import manifest as manifests
from schedcore._ledger.backups.files import alone
from schedcore._ledger.backups.making import make
from schedcore._ledger.backups.manifest import SUFFIX, Manifest
from schedcore._ledger.events import LEDGER, Actor
from schedcore._ledger.ledger import Ledger
from schedcore.domain.clock import text
from schedcore.domain.errors import Conflict, LedgerError, NotFound

__all__ = ["backup", "backups", "chosen", "record", "shown"]


def backup(
    settings: Settings,
    actor: Actor,
    to: Path | None = None,
    *,
    keep: int | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Back the ledger up while hosts go on: ``{file, removed, …, dry_run}``, the rest as :func:`shown`.

    ``to`` is a file ending in ``.backup`` or a folder (the setting ``backup_folder`` unless given); in a folder
    the newest ``keep`` of this ledger stay (the setting ``backup_keep``), and older ones are removed. Raises
    ``Conflict`` (``exists``, ``backup_running``), ``DiskFull``, and ``LedgerError``.
    """
    into = to or settings.backup_folder
    ledger = Ledger(settings.ledger, wall=wall)
    try:
        file = into if into.suffix == SUFFIX else into / _name(ledger)
        if file.exists():
            raise Conflict(
                f"{file} is there already", code="exists", field="file", value=str(file), hint="name another"
            )
        if dry_run:
            return {"v": 1, "file": str(file), "removed": [], "dry_run": True}
        make_state_folder(file.parent)
        with alone(file.parent, "a backup or a drill"):
            made = make(ledger, file, progress)
            kept = settings.backup_keep if keep is None else keep
            removed = [] if file == into else _thin_out(file.parent, made.ledger, kept)
        record(ledger, actor, "backup", f"{file.name}, {made.bytes} bytes")
    finally:
        ledger.close()
    return {"v": 1, **shown(file, made), "removed": [str(one) for one in removed], "dry_run": False}


def _name(ledger: Ledger) -> str:
    """By time, so that names sort as the backups do; the end keeps two of one instant apart."""
    with ledger.read() as c:
        if migrate.known(ledger, c) is None:
            raise LedgerError(
                f"{ledger} has no tables yet", code="no_ledger", hint="run `schedcore db upgrade`"
            )
        at = text(ledger.times.now(c)).replace("-", "").replace(":", "").replace(".", "")
    return f"schedcore-{at}-{secrets.token_hex(2)}{SUFFIX}"


def _thin_out(folder: Path, ledger: str, keep: int) -> list[Path]:
    old = [file for file, _ in manifests.found(folder, ledger)[keep:]]
    for file in old:
        with suppress(FileNotFoundError):
            manifests.beside(file).unlink()  # first, so that what is left is no backup
        with suppress(FileNotFoundError):
            file.unlink()
    return old


def record(ledger: Ledger, actor: Actor, action: str, said: str) -> None:
    """An event of the ledger itself; one that is behind is left as it is."""
    with ledger.read() as c:
        if migrate.revision(ledger, c) != migrate.HEAD:
            return
    ledger.run(lambda c: events.record(c, LEDGER, ledger.times.now(c), actor, action, reason=said))


def backups(settings: Settings, folder: Path | None = None) -> list[tuple[Path, Manifest]]:
    """The backups in a folder (the setting's, unless given), newest first."""
    return manifests.found(folder or settings.backup_folder)


def chosen(settings: Settings, of: Path | None) -> tuple[Path, Manifest]:
    """The backup that is meant: a file, or the newest in a folder (the setting's, unless given).

    Raises ``NotFound`` where there is none, and what reading its manifest raises.
    """
    if of is not None and not of.is_dir():
        return of, manifests.read(of)
    folder = of or settings.backup_folder
    there = backups(settings, folder)
    if not there:
        raise NotFound(
            f"no backup in {folder}",
            code="no_backup",
            field="backup",
            value=str(folder),
            hint="make one with `schedcore db backup`, or name a file",
        )
    return there[0]


def shown(file: Path, manifest: Manifest) -> dict[str, Any]:
    """A backup as people see it."""
    return {
        "file": str(file),
        "made_at": manifest.made_at,
        "database": manifest.database,
        "ledger": manifest.ledger,
        "incarnation": manifest.incarnation,
        "schema": manifest.schema,
        "bytes": manifest.bytes,
        "sha256": manifest.sha256,
        "tables": {name: table.rows for name, table in manifest.tables.items()},
    }
