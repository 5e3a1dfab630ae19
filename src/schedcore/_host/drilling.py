"""The drill: a backup is worth what restoring it gives, so it is restored into a ledger of its own, and looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schedcore._engine.clock import wall
from schedcore._host.auditing import fsck
from schedcore._host.backing_up import chosen, record, shown
from schedcore._host.progress import Progress
from schedcore._host.settings import Settings
from schedcore._ledger import migrate
from schedcore._ledger.backups.files import alone, discard
from schedcore._ledger.backups.manifest import Manifest, require_known
from schedcore._ledger.backups.restoring import differences, staged, verify
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore.domain.errors import LedgerError, Refused, SchedcoreError

__all__ = ["drill"]


def drill(
    settings: Settings, actor: Actor, of: Path | None = None, *, progress: Progress | None = None
) -> dict[str, Any]:
    """Restore a backup into a scratch ledger, compare and audit it: ``{ok, backup, problems, found, findings}``.

    ``of`` is a file, or a folder whose newest is taken. ``problems`` are texts about the backup, ``findings`` those
    of the audit, as :func:`~schedcore._host.auditing.fsck` has them, and ``found`` counts them. What came of it is
    an event of the ledger, where there is one. Raises ``NotFound`` and ``Refused`` for what is no backup.
    """
    file, manifest = chosen(settings, of)
    require_known(file, manifest, manifest.database)
    problems: list[str] = []
    report: dict[str, Any] = {"found": 0, "findings": []}
    try:
        verify(file, manifest, progress)
        with alone(file.parent, "a backup or a drill"):
            problems, report = _restored(settings, file, manifest, progress)
    except Refused as error:
        problems = [error.message]
    ok = not problems and not report["found"]
    _tell(settings, actor, file, "well" if ok else (problems or [f"{report['found']} findings"])[0])
    return {
        "v": 1,
        "ok": ok,
        "backup": shown(file, manifest),
        "problems": problems,
        "found": report["found"],
        "findings": report["findings"],
    }


def _restored(
    settings: Settings, file: Path, manifest: Manifest, progress: Progress | None
) -> tuple[list[str], dict[str, Any]]:
    with staged(file, manifest, file, progress) as (part, found):
        url = f"sqlite:///{part}"
        try:
            scratch = Ledger(url, wall=wall)
            try:
                migrate.migrate(scratch)
            finally:
                scratch.close()
            return differences(manifest, found), fsck(url, settings.policies, progress=progress)
        finally:
            discard(part)


def _tell(settings: Settings, actor: Actor, file: Path, said: str) -> None:
    """The ledger may be gone, which is no reason not to look at its backup."""
    try:
        ledger = Ledger(settings.ledger, wall=wall)
    except LedgerError:
        return
    try:
        record(ledger, actor, "drill", f"{file.name}: {said}"[:1_000])
    except SchedcoreError:
        return
    finally:
        ledger.close()
