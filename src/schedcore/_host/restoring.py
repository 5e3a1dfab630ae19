"""Restoring a ledger by order, and the preview of it (R-12, G12)."""

from __future__ import annotations

import secrets
from dataclasses import replace as replace_
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from schedcore._engine.clock import wall
from schedcore._host.backing_up import chosen, shown
from schedcore._host.progress import Progress
from schedcore._host.settings import Settings
from schedcore._ledger.backups import target as targets
from schedcore._ledger.backups.manifest import Manifest, require_known
from schedcore._ledger.backups.restoring import Marking, into_postgresql, into_sqlite, verify
from schedcore._ledger.backups.target import ABSENT, Target
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore.domain.clock import text
from schedcore.domain.errors import Conflict, LedgerError

__all__ = ["restore"]


def restore(
    settings: Settings,
    actor: Actor,
    of: Path | None = None,
    *,
    replace: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Restore a backup into the ledger of these settings: ``{backup, target, incarnation, dry_run}``.

    ``of`` is a file, or a folder whose newest is taken. Checksum, schema and target are looked at before anything
    is written. A ledger with jobs or runs in it is written over with ``replace`` only, and never one on which a
    host lives. What is restored has a new incarnation, and the hold ``restored``, which an operator lifts.

    Raises ``Refused`` (``not_a_backup``, ``backup_cut``, ``bad_checksum``, ``backup_differs``,
    ``other_database``), ``NotFound`` (``no_backup``), ``Conflict`` (``ledger_not_empty``, ``ledger_in_use``,
    ``log_left``), ``LedgerTooNew``, ``LedgerBusy`` and ``DiskFull``.
    """
    file, manifest = chosen(settings, of)
    database, path = _place(settings)
    require_known(file, manifest, database)
    verify(file, manifest, progress)
    there = _look(settings, path)
    _allow(settings, there, replace=replace or dry_run)
    incarnation = max(manifest.incarnation, there.incarnation) + 1
    if not dry_run:
        said = f"restored from {file.name}, made at {manifest.made_at}"
        marking = Marking(incarnation, replace_(actor, token=secrets.token_hex(8)), said)
        if path is None:
            _into_server(settings, file, manifest, marking, progress)
        else:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            into_sqlite(file, manifest, path, marking, wall, progress)
    return {
        "v": 1,
        "backup": shown(file, manifest),
        "target": _target(settings, there),
        "incarnation": incarnation,
        "dry_run": dry_run,
    }


def _place(settings: Settings) -> tuple[str, Path | None]:
    """On which database the ledger is; on SQLite, in which file."""
    url = sa.make_url(settings.ledger)
    if url.get_backend_name() != "sqlite":
        return "postgresql", None
    return "sqlite", Path(str(url.database)).absolute()


def _into_server(
    settings: Settings, file: Path, manifest: Manifest, marking: Marking, progress: Progress | None
) -> None:
    ledger = Ledger(settings.ledger, wall=wall)
    try:
        into_postgresql(file, manifest, ledger, marking, progress)
    finally:
        ledger.close()


def _look(settings: Settings, path: Path | None) -> Target:
    if path is not None and not path.exists():
        left = path.with_name(path.name + "-wal")
        if left.exists():
            raise Conflict(
                f"{left} is the log of a ledger that is gone, and would be taken for the restored one's",
                code="log_left",
                field="ledger",
                value=str(left),
                hint="move it away, with the ledger that it belongs to",
            )
        return ABSENT
    ledger = Ledger(settings.ledger, wall=wall)
    try:
        return targets.look(ledger)
    except LedgerError as error:
        if error.code == "ledger_corrupt":
            error.hint = "move it away together with its -wal and -shm, keep them, and restore again"
        raise
    finally:
        ledger.close()


def _allow(settings: Settings, there: Target, *, replace: bool) -> None:
    targets.require_free(there.live)
    if not there.empty and not replace:
        raise Conflict(
            f"there are {there.jobs} jobs and {there.runs} runs in the ledger",
            code="ledger_not_empty",
            field="ledger",
            value=there.ledger,
            hint="add --replace to write over it; back it up before",
        )


def _target(settings: Settings, there: Target) -> dict[str, Any]:
    url = sa.make_url(settings.ledger)
    return {
        "ledger": url.render_as_string(hide_password=True),
        "there": there.there,
        "empty": there.empty,
        "id": there.ledger,
        "incarnation": there.incarnation or None,
        "jobs": there.jobs,
        "runs": there.runs,
        "newest_event_at": None if there.newest is None else text(there.newest),
    }
