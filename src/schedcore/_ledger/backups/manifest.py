"""The manifest of a backup: whose it is, what is in it, and the checksum of the file that it stands beside.

A backup exists once its manifest does, which is written last; a file without one is the rest of a backup that was
cut short.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from schedcore._ledger.backups.files import put_in_place
from schedcore._ledger.migrate import HEAD, KNOWN
from schedcore.domain.errors import LedgerTooNew, NotFound, Refused

__all__ = [
    "FORMAT",
    "SUFFIX",
    "Manifest",
    "Shape",
    "Table",
    "beside",
    "found",
    "read",
    "require_known",
    "shapes",
    "write",
]

Shape = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A table: its name, its columns, and those that order its rows."""

FORMAT = 1
SUFFIX = ".backup"
_WHAT = "a backup of a schedcore ledger"


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its columns, those that order its rows, how many rows, and the SHA-256 of all of them in order."""

    columns: tuple[str, ...]
    key: tuple[str, ...]
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. ``made_at`` is an instant of the ledger's clock, ``bytes`` the file's size."""

    database: str
    ledger: str
    incarnation: int
    schema: str
    made_at: str
    made_by: str
    bytes: int
    sha256: str
    tables: Mapping[str, Table]


def shapes(manifest: Manifest) -> list[Shape]:
    """The tables that a manifest names."""
    return [(name, table.columns, table.key) for name, table in manifest.tables.items()]


def beside(file: Path) -> Path:
    """Where the manifest of a backup stands."""
    return file.with_name(file.name + ".json")


def write(file: Path, manifest: Manifest) -> None:
    """Write the manifest, whole or not at all."""
    said = {"what": _WHAT, "v": FORMAT, **asdict(manifest)}
    put_in_place(beside(file), json.dumps(said, indent=1).encode() + b"\n")


def read(file: Path) -> Manifest:
    """The manifest of the backup ``file``.

    Raises :class:`NotFound` where there is none, :class:`Refused` for what is no backup, :class:`LedgerTooNew`
    for one that a newer schedcore made.
    """
    try:
        said = json.loads(beside(file).read_bytes())
    except FileNotFoundError:
        raise _absent(file) from None
    except (OSError, ValueError) as error:
        raise _no_backup(file, str(error)) from None
    if not isinstance(said, dict) or said.get("what") != _WHAT or not isinstance(said.get("v"), int):
        raise _no_backup(file, "its manifest is none of ours")
    if said["v"] > FORMAT:
        raise LedgerTooNew(
            f"{file} is a backup of form {said['v']}; this schedcore reads up to {FORMAT}",
            hint="upgrade schedcore; nothing was written",
        )
    try:
        tables = {
            name: Table(tuple(one["columns"]), tuple(one["key"]), int(one["rows"]), str(one["sha256"]))
            for name, one in said["tables"].items()
        }
        rest = {name: said[name] for name in Manifest.__slots__ if name != "tables"}
        return Manifest(tables=tables, **rest)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _no_backup(file, f"its manifest lacks {error}") from None


def require_known(file: Path, manifest: Manifest, database: str) -> None:
    """Refuse a backup of another database, or of a schema that this code does not know."""
    if manifest.database != database:
        raise Refused(
            f"{file} is a backup of a ledger on {manifest.database}, and this one is on {database}",
            code="other_database",
            field="backup",
            value=str(file),
            hint="restore it into a ledger on the same kind of database",
        )
    if manifest.schema not in KNOWN:
        raise LedgerTooNew(
            f"{file} has schema {manifest.schema}; this schedcore knows up to {HEAD}",
            hint="upgrade schedcore; nothing was written",
        )


def found(folder: Path, ledger: str | None = None) -> list[tuple[Path, Manifest]]:
    """The backups in a folder, newest first; only those of one ledger where its id is given.

    What cannot be read is passed over: it is none.
    """
    backups = []
    for path in folder.glob("*" + SUFFIX + ".json"):
        file = path.with_name(path.name.removesuffix(".json"))
        try:
            manifest = read(file)
        except (NotFound, Refused, LedgerTooNew):
            continue
        if file.is_file() and ledger in (None, manifest.ledger):
            backups.append((file, manifest))
    return sorted(backups, key=lambda one: (one[1].made_at, one[0].name), reverse=True)


def _absent(file: Path) -> NotFound | Refused:
    if not file.exists():
        return NotFound(f"no backup at {file}", code="no_backup", field="backup", value=str(file))
    return _no_backup(file, "there is no manifest beside it")


def _no_backup(file: Path, why: str) -> Refused:
    return Refused(
        f"{file} is no backup: {why}",
        code="not_a_backup",
        field="backup",
        value=str(file),
        hint=f"name a file that `schedcore db backup` wrote, with {beside(file).name} beside it",
    )
