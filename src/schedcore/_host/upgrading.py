"""Bringing a ledger to this code's schema by order, not at a host's start (L-03)."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from schedcore._engine.clock import wall
from schedcore._host.progress import Progress
from schedcore._host.settings import Settings
from schedcore._ledger import migrate
from schedcore._ledger.ledger import Ledger
from schedcore.domain.errors import LedgerError

__all__ = ["upgrade"]


def upgrade(settings: Settings, *, dry_run: bool = False, progress: Progress | None = None) -> dict[str, Any]:
    """Make the ledger, or bring it up: ``{before, after, sql, dry_run}``; ``sql`` with ``dry_run`` only.

    ``progress`` is told of each migration.

    A dry run on a ledger that is not there yet asks an empty one elsewhere what it would take.
    """
    if not dry_run:
        ledger = Ledger(settings.ledger, wall=wall, create=True)
        try:
            told = None if progress is None else partial(progress, "migrating")
            before, after = migrate.migrate(ledger, told)
        finally:
            ledger.close()
        return {"before": before, "after": after, "sql": None, "dry_run": False}
    try:
        return _planned(settings.ledger)
    except LedgerError as error:
        if error.code != "no_ledger":
            raise
    with tempfile.TemporaryDirectory() as folder:
        return _planned(f"sqlite:///{Path(folder) / 'ledger.db'}", create=True)


def _planned(url: str, *, create: bool = False) -> dict[str, Any]:
    ledger = Ledger(url, wall=wall, create=create)
    try:
        sql = migrate.planned_sql(ledger)
        return {"before": migrate.current(ledger), "after": migrate.HEAD, "sql": sql, "dry_run": True}
    finally:
        ledger.close()
