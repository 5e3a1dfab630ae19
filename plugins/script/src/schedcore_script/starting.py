"""The host's side of the spawner: keep it alive, begin runs through it, read their output to the end.

No lock is held while a run goes on. Whatever happens to the spawner or to a supervisor, ``attend`` comes
back: with the supervisor's own word, or with a ``Lost`` that says what is known.
"""

from __future__ import annotations

import array
import contextlib
import errno
import os
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from schedcore.spec import Output
from schedcore_script.spawner import FORK, KILL, SWEEP
from schedcore_script.supervisor import CLEAN_UP, HELLO, STOP, TAKEN, Brief, pack

__all__ = ["Ended", "Lost", "NotStarted", "Refusal", "Run", "Starter"]

_CHUNK = 65_536
_DRAIN_MOST = 4 * 1024 * 1024
_DRAIN_SECONDS = 2.0
_MARGIN = 2 * CLEAN_UP + 5.0
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


@dataclass(frozen=True, slots=True)
class Refusal:
    """The program was not started: the step that failed (``cwd``, ``exec``, ``confine``) and its errno."""

    step: str
    errno: int


@dataclass(frozen=True, slots=True)
class Lost:
    """No word came from the supervisor; what the program did is unknown."""

    text: str


class Run:
    """One run under a supervisor: its control socket and the read ends of its two pipes."""

    __slots__ = (
        "__weakref__",
        "_control",
        "_err",
        "_lock",
        "_number",
        "_open",
        "_out",
        "_starter",
        "_stopped",
    )

    def __init__(self, starter: Starter, number: int, control: socket.socket, out: int, err: int) -> None:
        self._starter = starter
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
            self._starter.order(KILL if silent else SWEEP, self._number)
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
                self._starter.give_back(self._number, control)
            else:
                _part(control, taken=end is not None)

    def close(self) -> None:
        """Let go of the run without waiting for its end."""
        self._finish(None)


def _send(control: socket.socket, data: bytes, ancillary: list[tuple[int, int, array.array[int]]]) -> None:
    """Send a brief whole. One beyond the socket's buffer waits for its reader, but not for ever."""
    if len(data) <= _CHUNK:
        control.sendmsg([data], ancillary)
        return
    control.settimeout(_LATE_BRIEF)
    sent = control.sendmsg([data], ancillary)
    control.sendall(data[sent:])
    control.settimeout(None)


def _part(control: socket.socket, *, taken: bool) -> None:
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
        why, *numbers = rest[0].split()
        status, killed, left, cpu, peak, reusable = map(int, numbers)
        return Ended(why, None if status < 0 else status, killed, left, cpu, peak, bool(reusable))
    if word == "refused":
        step, number = rest[0].split()
        return Refusal(step, int(number))
    return Lost(f"the supervisor of this run failed: {' '.join(rest).strip()}")


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
            _part(control, taken=True)

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
            _part(self._idle.pop()[1], taken=taken)

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
