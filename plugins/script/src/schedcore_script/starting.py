"""The host's side of the spawner: keep it alive, begin runs through it, keep its idle supervisors.

A run that was begun is attended to in :mod:`schedcore_script.attending`.
"""

from __future__ import annotations

import array
import contextlib
import errno
import os
import socket
import subprocess
import sys
import threading
import weakref
from collections import deque
from pathlib import Path

from schedcore_script.attending import Run, part
from schedcore_script.brief import HELLO, Brief, pack
from schedcore_script.spawner import FORK

__all__ = ["NotStarted", "Starter"]

_CHUNK = 65_536
_LATE_BRIEF = 10.0
_IDLE_MOST = 32
_HELLO_SECONDS = 10.0
_LEAVE_SECONDS = 1.0
_PROGRAM = """\
import sys
sys.path.append(sys.argv[1])
from schedcore_script.spawner import main
main(int(sys.argv[2]))
"""


class NotStarted(Exception):
    """The spawner could not be started or reached: no work was begun."""


def _send(control: socket.socket, data: bytes, ancillary: list[tuple[int, int, array.array[int]]]) -> None:
    """Send a brief whole. One beyond the socket's buffer waits for its reader, but not for ever."""
    if len(data) <= _CHUNK:
        control.sendmsg([data], ancillary)
        return
    control.settimeout(_LATE_BRIEF)
    sent = control.sendmsg([data], ancillary)
    control.sendall(data[sent:])
    control.settimeout(None)


class Starter:
    """The one spawner of this process, begun at the first run and again whenever it has died."""

    def __init__(self, python: str | None = None) -> None:
        self._python = python
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = 0
        self._closed = False
        self._idle: deque[tuple[int, socket.socket]] = deque()
        self._runs: weakref.WeakSet[Run] = weakref.WeakSet()
        _STARTERS.add(self)

    @property
    def pid(self) -> int | None:
        """The spawner's process number, once it was begun."""
        return self._process.pid if self._process else None

    def begin(self, brief: Brief) -> Run:
        """Hand one run to a supervisor. Raises :class:`NotStarted` where that cannot be done."""
        data = pack(brief)
        fds: list[int] = []
        try:
            out, out_write = os.pipe()
            fds += [out, out_write]
            err, err_write = os.pipe()
            fds += [err, err_write]
            number, control = self._brief(data, array.array("i", (out_write, err_write)))
        except OSError as error:
            for fd in fds:
                os.close(fd)
            raise NotStarted(f"no supervisor could be started: {error.strerror or error}") from error
        os.close(out_write)
        os.close(err_write)
        run = Run(self, number, control, out, err)
        self._runs.add(run)
        return run

    def _brief(self, data: bytes, pipes: array.array[int]) -> tuple[int, socket.socket]:
        """Give the brief to an idle supervisor, or to a new one where none is left."""
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, pipes)]
        while self._idle:
            try:
                number, control = self._idle.pop()
            except IndexError:
                break
            try:
                _send(control, data, ancillary)
            except OSError:
                control.close()  # it had left; the brief was not taken
            else:
                return number, control
        number, control = self._fork()
        # A death of the other end shows when the run is attended to.
        with contextlib.suppress(OSError):
            _send(control, data, ancillary)
        return number, control

    def _fork(self) -> tuple[int, socket.socket]:
        """A new supervisor that has said hello: until then nothing was begun, so trying again is safe."""
        for last in (False, True):
            number, control, spawner = self._ask_for_fork()
            control.settimeout(_HELLO_SECONDS)
            try:
                if control.recv(1) == HELLO:
                    control.settimeout(None)
                    return number, control
                problem: OSError = ConnectionError(errno.ECONNRESET, "the spawner died before it had forked")
            except OSError as error:
                problem = TimeoutError(errno.ETIMEDOUT, "the spawner does not answer") if last else error
            control.close()
            with self._lock:
                if self._socket is spawner:
                    self._drop()
        raise problem

    def _ask_for_fork(self) -> tuple[int, socket.socket, socket.socket]:
        ours, theirs = socket.socketpair()
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", (theirs.fileno(),)))]
        try:
            with theirs, self._lock:
                self._numbers += 1
                message = FORK + self._numbers.to_bytes(8, "big")
                if self._socket is not None:
                    try:
                        self._socket.sendmsg([message], ancillary)
                        return self._numbers, ours, self._socket
                    except OSError:
                        self._drop()
                self._socket = self._start()
                self._socket.sendmsg([message], ancillary)
                return self._numbers, ours, self._socket
        except OSError:
            ours.close()
            raise

    def give_back(self, number: int, control: socket.socket) -> None:
        """Keep a supervisor that is as good as new for the next run; it leaves by itself after a while."""
        if len(self._idle) < _IDLE_MOST and not self._closed:
            self._idle.append((number, control))
        else:
            part(control, taken=True)

    def order(self, letter: bytes, number: int) -> None:
        """Tell the spawner to look after a run whose supervisor is dead or dumb."""
        with self._lock, contextlib.suppress(OSError):
            if self._socket is not None:
                self._socket.send(letter + number.to_bytes(8, "big"), socket.MSG_DONTWAIT)

    def _start(self) -> socket.socket:
        python = self._python or sys.executable
        if not python:
            raise FileNotFoundError(2, "this program does not know its Python; set plugins.script.python")
        ours, theirs = socket.socketpair()
        root = str(Path(__file__).resolve().parent.parent)
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [python, "-I", "-S", "-B", "-X", "utf8", "-c", _PROGRAM, root, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={},
                    cwd="/",
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
        except OSError:
            ours.close()
            raise
        return ours

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            try:
                self._process.wait(_LEAVE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def close(self) -> None:
        """Let the spawner go. Supervisors of runs that still go on are their own processes and stay."""
        self._closed = True
        self._release_idle(taken=True)
        with self._lock:
            self._drop()

    def _release_idle(self, *, taken: bool) -> None:
        while self._idle:
            part(self._idle.pop()[1], taken=taken)

    def _forget(self) -> None:
        """In a fork of the host: hold nothing open that would hide the host's death from a supervisor."""
        self._lock = threading.Lock()
        for run in list(self._runs):
            run._lock = threading.Lock()
            run.close()
        self._release_idle(taken=False)
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        if self._process is not None:
            self._process.returncode = 0  # the parent's child, not ours to wait for
        self._process = None


_STARTERS: weakref.WeakSet[Starter] = weakref.WeakSet()


def _after_fork() -> None:
    for starter in list(_STARTERS):
        starter._forget()


os.register_at_fork(after_in_child=_after_fork)
