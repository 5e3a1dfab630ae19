"""The folder of a run: the report the script may leave, the quarantine it may fill, what is purged (O-03).

A script of our own uid can plant anything here, so nothing is followed: folders are made or must be ours,
files are opened without following links and judged by descriptor.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["BadReport", "FolderError", "RunFolder", "purge"]

_LISTED = 1000
_SPARE_MOST = 32
_DAY = 86_400


class FolderError(Exception):
    """The folder of the run cannot be used; the script was not started."""


class BadReport(Exception):
    """The report is there, and cannot be kept; the message says why."""


class RunFolder:
    """One run's folder, with ``report.json`` and ``quarantine`` in it."""

    __slots__ = ("path", "quarantine", "report")

    def __init__(self, path: str) -> None:
        self.path = path
        self.report = f"{path}/report.json"
        self.quarantine = f"{path}/quarantine"

    def make(self, uid: int = -1, gid: int = -1) -> None:
        """Make it, private, or take up what an earlier attempt left. Raises :class:`FolderError`."""
        try:
            if _make_private(self.path, also=uid):
                with suppress(FileNotFoundError):
                    os.unlink(self.report)  # of an earlier attempt
            _make_private(self.quarantine, also=uid)
            if uid >= 0:
                os.chown(self.quarantine, uid, gid, follow_symlinks=False)
                os.chown(self.path, uid, gid, follow_symlinks=False)
        except OSError as error:
            raise FolderError(f"the run's folder {self.path} cannot be made: {error.strerror}") from None

    def untouched(self, owner: int) -> bool:
        """True where it is as it was made: ours, private, an empty quarantine in it and nothing else."""
        try:
            state = os.lstat(self.path)
            if not stat.S_ISDIR(state.st_mode) or state.st_uid != owner or state.st_mode & 0o077:
                return False
            with os.scandir(self.path) as entries:
                only = next(entries, None)
                if only is None or next(entries, None) is not None or only.name != "quarantine":
                    return False
            return only.is_dir(follow_symlinks=False) and not os.listdir(self.quarantine)
        except OSError:
            return False

    def take_report(self, most: int, owner: int) -> dict[str, Any] | None:
        """The object the script left, or ``None``; the file is gone afterwards. Raises :class:`BadReport`."""
        try:
            fd = os.open(self.report, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadReport(f"the report cannot be read: {error.strerror}") from None
        try:
            state = os.fstat(fd)
            if not stat.S_ISREG(state.st_mode) or state.st_nlink != 1 or state.st_uid != owner:
                raise BadReport("the report is not a plain file of the script's own")
            data = b""
            while len(data) <= most and (piece := os.read(fd, most + 1 - len(data))):
                data += piece
        finally:
            os.close(fd)
        if len(data) > most:
            raise BadReport(f"the report is larger than {most} bytes")
        try:
            found = json.loads(data, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise BadReport(f"the report is not JSON: {str(error)[:120]}") from None
        if not isinstance(found, dict):
            raise BadReport("the report is not a JSON object")
        with suppress(OSError):
            os.unlink(self.report)
        return found

    def tidy(self) -> dict[str, Any] | None:
        """Remove what is empty; say what is in quarantine, and where."""
        kept: dict[str, Any] | None = None
        try:
            os.rmdir(self.quarantine)
        except OSError:
            kept = _listing(self.quarantine)
        if kept is None:
            try:
                os.rmdir(self.path)
            except OSError:
                with suppress(OSError):
                    os.mkdir(self.quarantine, 0o700)  # marks it for the purge
        return kept


class Folders:
    """Hands out run folders, and renames one that was left untouched to the next run's name.

    Making and removing two folders costs a third of a short run, a rename next to nothing.
    """

    def __init__(self, uid: int | None = None, gid: int | None = None) -> None:
        self._uid = -1 if uid is None else uid
        self._gid = -1 if gid is None else gid
        self.owner = os.geteuid() if uid is None else uid
        self._spare: dict[str, deque[RunFolder]] = {}

    def take(self, path: str) -> RunFolder:
        """The folder of one run, made. Raises :class:`FolderError`."""
        folder = RunFolder(path)
        spare = self._spare.get(os.path.dirname(path))
        if spare:
            with suppress(IndexError, OSError):
                os.rename(spare.pop().path, path)  # fails where an earlier attempt left something
                return folder
        folder.make(self._uid, self._gid)
        return folder

    def give_back(self, folder: RunFolder) -> bool:
        """Keep an untouched folder for the next run; false where there is something in it."""
        if not folder.untouched(self.owner):
            return False
        spare = self._spare.setdefault(os.path.dirname(folder.path), deque())
        if len(spare) < _SPARE_MOST:
            spare.append(folder)
        else:
            folder.tidy()
        return True

    def close(self) -> None:
        """Remove the spare ones."""
        for spare in self._spare.values():
            while spare:
                spare.pop().tidy()


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _make_private(path: str, also: int = -1) -> bool:
    """Make a folder of mode 0700; true where it was there already, ours, and private."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        os.makedirs(path, 0o700)
        return False
    else:
        return False
    state = os.lstat(path)
    owners = (os.geteuid(), also)
    if not stat.S_ISDIR(state.st_mode) or state.st_uid not in owners or stat.S_IMODE(state.st_mode) & 0o077:
        raise OSError(1, "it is there already, and is not a private folder of ours", path)
    return True


def _listing(path: str) -> dict[str, Any] | None:
    try:
        with os.scandir(path) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_LISTED + 1), strict=False)]
    except OSError:
        return None
    if not names:
        return None
    names.sort()
    return {"folder": path, "names": names[:_LISTED], "more": len(names) > _LISTED}


def purge(root: Path, days: int) -> int:
    """Remove run folders below ``root`` that hold a quarantine nobody has touched for so many days.

    Only direct entries that are folders of ours and were made by :class:`RunFolder` count. Removal goes by
    descriptor and follows no link (``shutil.rmtree`` where it says that it resists them).
    """
    if not shutil.rmtree.avoids_symlink_attacks:
        return 0
    oldest = time.time() - days * _DAY
    removed = 0
    with suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            with suppress(OSError):
                state = entry.stat(follow_symlinks=False)
                inner = os.stat(f"{entry.path}/quarantine", follow_symlinks=False)
                if not stat.S_ISDIR(state.st_mode) or not stat.S_ISDIR(inner.st_mode):
                    continue
                if state.st_uid != os.geteuid() and os.geteuid() != 0:
                    continue
                if max(state.st_mtime, inner.st_mtime) < oldest:
                    shutil.rmtree(entry.path)
                    removed += 1
    return removed
