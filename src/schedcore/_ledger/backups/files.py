"""Files that are whole or not there: written under another name, flushed to the disk, and then renamed.

Nothing here opens a live ledger: closing such a handle would drop SQLite's own locks.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from schedcore._ledger.ledger import DiskFull
from schedcore.domain.errors import Conflict, Refused

__all__ = [
    "PART",
    "Told",
    "alone",
    "checksum",
    "chunks",
    "discard",
    "full",
    "new_file",
    "partial",
    "put_in_place",
    "settle",
]

PART = ".part"
_CHUNK = 1 << 20
_FULL = {errno.ENOSPC, errno.EDQUOT}

Told = Callable[[str, int, int], None] | None
"""``told(stage, done, of)``: how far long work has come."""


@contextmanager
def partial(file: Path) -> Iterator[Path]:
    """A name beside ``file`` to write under; whatever is there is removed when the block raises.

    Raises :class:`DiskFull` for a disk that is full, :class:`Refused` for a folder that cannot be written.
    """
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}{PART}")
    try:
        yield part
    except OSError as error:
        discard(part)
        raise _translated(error, file) from error
    except BaseException:
        discard(part)
        raise


def discard(part: Path) -> None:
    """Remove a file and what SQLite may have put beside it."""
    for path in (part, *(part.with_name(part.name + end) for end in ("-journal", "-wal", "-shm"))):
        with suppress(OSError):
            path.unlink()


def _translated(error: OSError, file: Path) -> Exception:
    if error.errno in _FULL:
        return full(file)
    return Refused(
        f"{file} cannot be written: {error.strerror}", code="bad_file", field="file", value=str(file)
    )


def full(file: Path) -> DiskFull:
    """The disk of a file is full; nothing of it was left."""
    return DiskFull(
        f"the disk of {file.parent} is full; nothing was left there",
        hint="free space, or name another folder",
    )


def new_file(path: Path) -> int:
    """The descriptor of a new file that its owner alone may read."""
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def settle(part: Path, file: Path, *, over: bool = False) -> None:
    """Give what was written its name, durably; ``over`` what is there. Raises :class:`Conflict` otherwise."""
    fd = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    if over:
        os.replace(part, file)
    else:
        try:
            os.link(part, file)
        except FileExistsError:
            raise Conflict(
                f"{file} is there already", code="exists", field="file", value=str(file), hint="name another"
            ) from None
        part.unlink()
    flush(file.parent)


def flush(folder: Path) -> None:
    """Make the names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def put_in_place(file: Path, content: bytes) -> None:
    """Write a small file over whatever is there, whole or not at all."""
    with partial(file) as part:
        with open(new_file(part), "wb") as stream:
            stream.write(content)
        settle(part, file, over=True)


def sweep(folder: Path, name: str) -> None:
    """Remove what writing that was cut short has left. Only while nobody else writes there (:func:`alone`)."""
    for path in folder.glob(f".{name}.*{PART}*"):
        with suppress(OSError):
            path.unlink()


@contextmanager
def alone(folder: Path, what: str, name: str = "*") -> Iterator[None]:
    """Nobody else writes files of this ``name`` in a folder meanwhile; the lock ends with the process.

    What earlier writing that was cut short has left there is removed.

    Raises :class:`Conflict` when somebody does.
    """
    lock = folder / ".schedcore-backup.lock"
    try:
        fd = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _translated(error, lock) from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                f"{what} is under way in {folder} already", code="backup_running", hint="wait for it"
            ) from None
        sweep(folder, name)
        yield
    finally:
        os.close(fd)


def chunks(file: Path, stage: str, told: Told = None) -> Iterator[bytes]:
    """The bytes of a file, piece by piece."""
    with open(file, "rb") as stream:
        of, done = os.fstat(stream.fileno()).st_size, 0
        while chunk := stream.read(_CHUNK):
            yield chunk
            done += len(chunk)
            if told is not None:
                told(stage, done, of)


def checksum(file: Path, told: Told = None) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    for chunk in chunks(file, "checking", told):
        digest.update(chunk)
    return digest.hexdigest()
