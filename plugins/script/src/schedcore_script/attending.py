"""The host's side of one run: read its output to the end, stop it, and take its supervisor's word.

No lock is held while a run goes on. Whatever happens to a supervisor, ``attend`` comes back: with the
supervisor's own word, or with a ``Lost`` that says what is known.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from schedcore.spec import Output
from schedcore_script.brief import STOP, TAKEN
from schedcore_script.children import CLEAN_UP
from schedcore_script.spawner import KILL, SWEEP

__all__ = ["Ended", "Keeper", "Lost", "Refusal", "Run", "part"]

_CHUNK = 65_536
_DRAIN_MOST = 4 * 1024 * 1024
_DRAIN_SECONDS = 2.0
_MARGIN = 2 * CLEAN_UP + 5.0


@dataclass(frozen=True, slots=True)
class Ended:
    """The supervisor's word on how the program ended."""

    why: str
    """``end`` by itself, ``timeout``, ``stop`` by order, ``lost`` (the supervisor believed the host dead)."""
    status: int | None
    """The wait status; ``None`` for a program that did not die of SIGKILL."""
    killed: int
    """Processes that the program had left behind and that were killed."""
    left: int
    """Processes that could not be killed."""
    cpu_ms: int
    peak_kib: int
    reusable: bool
    """Whether the supervisor says that it is ready for another run."""
    limit: str | None = None
    """The limit that the run's control group saw reached: ``memory_limit`` or ``pid_limit``."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The program was not started: the step that failed and its errno.

    Steps are ``cwd``, ``exec``, ``confine`` and ``cgroup``.
    """

    step: str
    errno: int


@dataclass(frozen=True, slots=True)
class Lost:
    """No word came from the supervisor; what the program did is unknown."""

    text: str


class Keeper(Protocol):
    """Who keeps the supervisors: :class:`schedcore_script.starting.Starter`."""

    def give_back(self, number: int, control: socket.socket) -> None:
        """This supervisor is as good as new."""

    def order(self, letter: bytes, number: int) -> None:
        """This supervisor is dead or dumb."""


class Run:
    """One run under a supervisor: its control socket and the read ends of its two pipes."""

    __slots__ = (
        "__weakref__",
        "_control",
        "_err",
        "_keeper",
        "_lock",
        "_number",
        "_open",
        "_out",
        "_stopped",
    )

    def __init__(self, keeper: Keeper, number: int, control: socket.socket, out: int, err: int) -> None:
        self._keeper = keeper
        self._number = number
        self._control: socket.socket | None = control
        self._out = out
        self._err = err
        self._open = 2
        self._lock = threading.Lock()
        self._stopped = False

    def stop(self, reason: str) -> None:
        """Order TERM, grace, KILL. May be called from any thread, at any time, any number of times."""
        del reason
        with self._lock, contextlib.suppress(OSError):
            if self._control is not None:
                self._stopped = True
                self._control.send(STOP)

    def attend(
        self, output: Output, limit: float, grace: float, stderr_tail: Callable[[bytes], None]
    ) -> Ended | Refusal | Lost:
        """Hand the output on as it comes, until the supervisor has spoken."""
        end: Ended | Refusal | Lost | None = None
        try:
            end = self._attend(output, limit, grace, stderr_tail)
            return end
        finally:
            self._finish(end)

    def _attend(
        self, output: Output, limit: float, grace: float, stderr_tail: Callable[[bytes], None]
    ) -> Ended | Refusal | Lost:
        control = self._control
        assert control is not None
        talk = control.fileno()
        poll = select.poll()
        for fd in (self._out, self._err, talk):
            poll.register(fd, select.POLLIN)
        until = time.monotonic() + limit + grace + _MARGIN if limit else None
        line = b""
        silent = False
        while True:
            events = poll.poll(None if until is None else max(0.0, until - time.monotonic()) * 1000)
            if until is not None and (not events or time.monotonic() > until):
                silent = True
                break
            for fd, _ in events:
                if fd == talk:
                    continue
                self._read(fd, poll, output, stderr_tail)
            if any(fd == talk for fd, _ in events):
                piece = _receive(control)
                line += piece
                if not piece or line.endswith(b"\n"):
                    break
        end: Ended | Refusal | Lost
        if line.endswith(b"\n"):
            end = _understand(line)
        elif silent:
            end = Lost("the supervisor of this run did not answer after its time limit and was killed")
        else:
            end = Lost("the supervisor of this run died; what the program did until then is unknown")
        if isinstance(end, Lost):
            self._keeper.order(KILL if silent else SWEEP, self._number)
        poll.unregister(talk)
        self._drain(poll, output, stderr_tail, wait=isinstance(end, Lost))
        return end

    def _read(self, fd: int, poll: select.poll, output: Output, stderr_tail: Callable[[bytes], None]) -> int:
        data = os.read(fd, _CHUNK)
        if not data:
            poll.unregister(fd)
            self._open -= 1
        elif fd == self._out:
            output.stdout(data)
        else:
            stderr_tail(data)
            output.stderr(data)
        return len(data)

    def _drain(
        self, poll: select.poll, output: Output, stderr_tail: Callable[[bytes], None], *, wait: bool
    ) -> None:
        """Read what is still in the pipes. All writers are dead by now, but for those reported as left."""
        until = time.monotonic() + _DRAIN_SECONDS
        taken = 0
        while self._open and taken < _DRAIN_MOST:
            events = poll.poll(max(0.0, until - time.monotonic()) * 1000 if wait else 0)
            if not events:
                return
            for fd, _ in events:
                taken += self._read(fd, poll, output, stderr_tail)

    def _finish(self, end: Ended | Refusal | Lost | None) -> None:
        """Give the descriptors back. A supervisor that still lives takes a close for the end of the host."""
        with self._lock:
            control, self._control = self._control, None
            if control is None:
                return
            os.close(self._out)
            os.close(self._err)
            if isinstance(end, Ended) and end.reusable and not self._stopped:
                self._keeper.give_back(self._number, control)
            else:
                part(control, taken=end is not None)

    def close(self) -> None:
        """Let go of the run without waiting for its end."""
        self._finish(None)


def part(control: socket.socket, *, taken: bool) -> None:
    """Close a control socket, with the word that the end was taken: else the supervisor writes a note."""
    with contextlib.suppress(OSError):
        if taken:
            control.send(TAKEN)
    control.close()


def _receive(control: socket.socket) -> bytes:
    try:
        return control.recv(1024)
    except OSError:
        return b""


def _understand(line: bytes) -> Ended | Refusal | Lost:
    word, *rest = line.decode("utf-8", "replace").split(" ", 1)
    if word == "ended":
        why, *numbers, limit = rest[0].split()
        status, killed, left, cpu, peak, reusable = map(int, numbers)
        reached = None if limit == "-" else limit
        return Ended(why, None if status < 0 else status, killed, left, cpu, peak, bool(reusable), reached)
    if word == "refused":
        step, number = rest[0].split()
        return Refusal(step, int(number))
    return Lost(f"the supervisor of this run failed: {' '.join(rest).strip()}")
