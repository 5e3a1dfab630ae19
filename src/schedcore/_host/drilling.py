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
from schedcore._ledger.backups import on_postgresql
from schedcore._ledger.backups.files import alone, discard
from schedcore._ledger.backups.manifest import Manifest, require_known
from schedcore._ledger.backups.restoring import differences, filled, staged, verify
from schedcore._ledger.backups.scratch import scratch as scratch_ledger
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore.domain.errors import LedgerError, Refused, SchedcoreError

__all__ = ["drill"]

_SPOILT = {"backup_cut", "bad_checksum", "not_a_backup"}


def drill(
    settings: Settings,
    actor: Actor,
    of: Path | None = None,
    *,
    scratch: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Restore a backup into a scratch ledger, compare and audit it: ``{ok, backup, problems, found, findings}``.

    ``of`` is a file, or a folder whose newest is taken. A backup of PostgreSQL is restored into a database that is
    made for it on the ledger's server, or into the empty one at the URL ``scratch``. ``problems`` are texts about
    the backup, ``findings`` those of the audit, as :func:`~schedcore._host.auditing.fsck` has them, and ``found``
    counts them. What came of it is an event of the ledger, where there is one. Raises ``NotFound`` and ``Refused``
    for what is no backup, ``Conflict`` for a second drill, ``LedgerError`` (``no_scratch``).
    """
    file, manifest = chosen(settings, of)
    on_server = (scratch or settings.ledger).startswith("postgres")
    require_known(file, manifest, "postgresql" if on_server and manifest.database != "sqlite" else "sqlite")
    problems: list[str] = []
    report: dict[str, Any] = {"found": 0, "findings": []}
    try:
        verify(file, manifest, progress)
        with alone(file.parent, "a backup or a drill"):
            if manifest.database == "sqlite":
                problems, report = _in_a_file(settings, file, manifest, progress)
            else:
                problems, report = _on_the_server(settings, file, manifest, scratch, progress)
    except Refused as error:
        if error.code not in _SPOILT:
            raise
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


def _in_a_file(
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


def _on_the_server(
    settings: Settings, file: Path, manifest: Manifest, given: str | None, progress: Progress | None
) -> tuple[list[str], dict[str, Any]]:
    with scratch_ledger(settings.ledger, manifest.ledger, given, wall) as (ledger, url):
        with ledger.write() as c:
            on_postgresql.patient(c)
            found = filled(c, file, manifest, progress)
            migrate.build(c)
        return differences(manifest, found), fsck(url, settings.policies, progress=progress)


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
