"""The output of work: masked, bounded, a tail in the run row and the whole in a file (L-16, G19).

The file is made at the first byte, grows while the work runs, and is cut with a visible mark at its limit;
what is over the limit is counted, not kept. Adding a chunk costs the chunk, whatever came before.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from schedcore.domain.masking import Masker, MaskStream

__all__ = ["TAIL", "FileOutput"]

TAIL = 8 * 1024
_BEGIN = threading.Lock()


class _Tail:
    """The last 8,192 bytes that went by."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        self._data += data[-TAIL:]
        if len(self._data) > 4 * TAIL:
            del self._data[:-TAIL]

    def text(self) -> str | None:
        if not self._data:
            return None
        return bytes(self._data[-TAIL:]).decode("utf-8", "replace").replace("\x00", "\ufffd")


class FileOutput:
    """The output of one attempt: ``folder/output/RUN.log``, at most ``limit`` bytes of it (0: never cut)."""

    __slots__ = ("_closed", "_dropped", "_fd", "_folder", "_limit", "_lock", "_masker", "_run", "_streams", "_tails",
                 "_written", "used")  # fmt: skip

    def __init__(self, folder: Path, run_id: int, limit: int, masker: Callable[[], Masker]) -> None:
        self._folder = folder
        self._run = run_id
        self._limit = limit
        self._masker = masker
        self.used = False
        self._closed = False

    # made at the first byte, by :meth:`_begin`
    _streams: dict[int, MaskStream]
    _tails: dict[int, _Tail]
    _fd: int | None
    _written: int
    _dropped: int
    _lock: threading.Lock

    @property
    def reference(self) -> str | None:
        """The file, below the host's state folder; ``None`` where there is none."""
        return f"output/{self._run}.log" if self.used and self._written else None

    def stdout(self, data: bytes) -> None:
        """Add bytes to stdout."""
        self._add(1, data)

    def stderr(self, data: bytes) -> None:
        """Add bytes to stderr."""
        self._add(2, data)

    def tails(self) -> tuple[str | None, str | None]:
        """The last 8 KiB of stdout and of stderr, bad UTF-8 replaced."""
        return (self._tails[1].text(), self._tails[2].text()) if self.used else (None, None)

    def close(self) -> None:
        """Write what was held back for masking, mark a cut, close the file. May be called twice."""
        if not self.used:
            self._closed = True
            return
        with self._lock:
            if self._closed:
                return
            for which, stream in self._streams.items():
                self._keep(which, stream.flush())
            if self._dropped:
                self._append(f"\n[schedcore: cut here, {self._dropped} more bytes were not kept]\n".encode())
            self._closed = True
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def _begin(self) -> None:
        with _BEGIN:
            if not self.used:
                self._streams = {}
                self._tails = {1: _Tail(), 2: _Tail()}
                self._fd = None
                self._written = 0
                self._dropped = 0
                self._lock = threading.Lock()
                self.used = True

    def _add(self, which: int, data: bytes) -> None:
        if not data or self._closed:
            return
        if not self.used:
            self._begin()
        with self._lock:
            if self._closed:
                return
            stream = self._streams.get(which)
            if stream is None:
                stream = self._streams[which] = MaskStream(self._masker())
            else:
                stream.use(self._masker())  # a secret may have been given out since
            self._keep(which, stream.feed(data))

    def _keep(self, which: int, data: bytes) -> None:
        if not data:
            return
        self._tails[which].add(data)
        room = self._limit - self._written if self._limit else len(data)
        if room < len(data):
            self._dropped += len(data) - max(room, 0)
            data = data[: max(room, 0)]
        if data:
            self._append(data)
            self._written += len(data)

    def _append(self, data: bytes) -> None:
        try:
            if self._fd is None:
                path = self._folder / "output" / f"{self._run}.log"
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
                self._fd = os.open(path, flags, 0o600)
            os.write(self._fd, data)
        except OSError:  # a full disk takes the file, not the run; the tail is still there
            self._dropped += len(data)
