"""What makes a process a service: talk with systemd, signals, and a memory that others cannot read."""

from __future__ import annotations

import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

__all__ = ["Signals", "Systemd", "close_memory"]

_PR_SET_DUMPABLE = 4


class Systemd:
    """The service manager, if there is one; otherwise every word to it is lost, and that is fine."""

    def __init__(self, env: Mapping[str, str], pid: int) -> None:
        address = env.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        usec, of = env.get("WATCHDOG_USEC", ""), env.get("WATCHDOG_PID")
        mine = not of or of == str(pid)
        self.watchdog_s = int(usec) / 1_000_000 if usec.isdecimal() and mine else None
        """Seconds within which the manager wants to hear of us, or ``None``."""
        self._ready = False

    def beaten(self, status: str) -> None:
        """A beat was completed: the first one means ready, each one means alive."""
        words = [f"STATUS={status}"]
        if not self._ready:
            words.append("READY=1")
            self._ready = True
        if self.watchdog_s is not None:
            words.append("WATCHDOG=1")
        self.say(*words)

    def say(self, *words: str) -> bool:
        """Send assignments such as ``STOPPING=1``; answers whether anybody was there."""
        if not self._address:
            return False
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as wire:
                wire.connect(self._address)
                wire.sendall("\n".join(words).encode("utf-8", "replace"))
        except OSError:
            return False
        return True


class Signals:
    """Ctrl-C and TERM: the first asks to stop, the second stops at once.

    The handler takes no lock that whoever waits may hold: it counts, and the wake-up socket ends the wait.
    """

    def __init__(self) -> None:
        self.hurry = threading.Event()
        self.number: int | None = None
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)

    @property
    def asked(self) -> bool:
        """Was there a signal?"""
        return self.number is not None

    def wait(self, seconds: float) -> bool:
        """Sleep, at most so long, until a signal or a :meth:`wake`; answers whether there was a signal."""
        if not self.asked:
            woken, _, _ = select.select([self._ear], [], [], max(0.0, seconds))
            if woken:
                self._ear.recv(4096)
        return self.asked

    def wake(self) -> None:
        """End a wait; from any thread."""
        try:
            self._mouth.send(b"\0")
        except OSError:  # full, so that the wait ends anyhow; or closed, so that nobody waits
            pass

    def _heard(self, number: int, frame: object) -> None:
        if self.number is None:
            self.number = number
        else:
            self.hurry.set()  # nobody waits on it: it is looked at

    @contextmanager
    def watched(self) -> Iterator[Signals]:
        """Listen to both, until the block ends."""
        wakeup = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        former = {number: signal.signal(number, self._heard) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield self
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup)
            self._ear.close()
            self._mouth.close()


def close_memory() -> bool:
    """Forbid other processes of this user to read ours, and core files of it; on Linux."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
