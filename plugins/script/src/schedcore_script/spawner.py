"""The warm spawner: one small process per host that forks a supervisor for each run.

It is started with an empty environment and holds no secret; it makes itself non-dumpable, so a script of
the same uid can read neither it nor a supervisor. It is a subreaper too: where a supervisor is killed, what
it watched over becomes the spawner's child and is swept away.

The wire from the host: messages of nine bytes, a letter and the number of a supervisor. ``F`` forks it and
carries its end of a control socket. ``K`` kills one that does not answer, ``W`` sweeps. The end of the
stream is the end of the host.

Its own children keep its session, those of a run never have it: that tells supervisors from orphans, even
though the kernel reaps for us (SIGCHLD is ignored) and we keep no list that could go stale.
"""

from __future__ import annotations

import array
import ctypes
import gc
import os
import select
import signal
import socket
import time
from collections.abc import Callable

from schedcore_script.children import CLEAN_UP, children_of, stat_of
from schedcore_script.launching import IGNORED
from schedcore_script.supervisor import supervise

__all__ = ["FORK", "KILL", "MESSAGE", "SWEEP", "main"]

FORK = b"F"
KILL = b"K"
SWEEP = b"W"
MESSAGE = 9

_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_KEPT = 4096


def main(inherited: int) -> None:
    """Serve the host at the other end of this descriptor until it is gone."""
    os.set_inheritable(inherited, False)
    host = socket.socket(fileno=inherited)
    prctl = ctypes.CDLL(None).prctl
    name = ctypes.create_string_buffer(b"schedcore-spawn")
    zero = ctypes.c_ulong(0)
    one = ctypes.c_ulong(1)
    prctl(_PR_SET_NAME, name, zero, zero, zero)
    prctl(_PR_SET_DUMPABLE, zero, zero, zero, zero)

    def adopt() -> None:
        prctl(_PR_SET_CHILD_SUBREAPER, one, zero, zero, zero)

    adopt()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)  # what the host's parent made it ignore is no script's affair
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    gc.collect()
    gc.freeze()
    gc.disable()
    _serve(host, null, adopt)


def _serve(host: socket.socket, null: int, adopt: Callable[[], None]) -> None:
    supervisors: dict[int, int] = {}
    room = socket.CMSG_SPACE(array.array("i").itemsize)
    while True:
        word, ancillary, _, _ = host.recvmsg(MESSAGE, room, socket.MSG_CMSG_CLOEXEC)
        if not word:
            _sweep()
            return
        letter, number = word[:1], int.from_bytes(word[1:], "big")
        if letter == FORK:
            fds = array.array("i")
            for _, _, data in ancillary:
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
            if len(fds) != 1:
                for fd in fds:
                    os.close(fd)
                continue
            try:
                pid = os.fork()
            except OSError:
                pid = -1  # no process to be had: the host sees its socket closed, and says so
            if pid == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                host.close()
                supervise(socket.socket(fileno=fds[0]), null, adopt)
            for fd in fds:
                os.close(fd)
            if pid > 0:
                supervisors[number] = pid
                if len(supervisors) > _KEPT:
                    alive = set(children_of())
                    supervisors = {n: p for n, p in supervisors.items() if p in alive}
        elif letter in (KILL, SWEEP):
            _await_end(supervisors.pop(number, 0), kill=letter == KILL)
            _sweep()


def _await_end(pid: int, *, kill: bool) -> None:
    """Wait until a supervisor is dead. Only then its orphans are ours; its socket closes a little earlier."""
    fd = _open_child(pid, of_a_run=False)
    if fd < 0:
        return
    if kill:
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll(1000)
    os.close(fd)


def _open_child(pid: int, *, of_a_run: bool) -> int:
    """A descriptor of a child that is of this kind, or -1: its number may be another's by now."""
    if pid <= 0:
        return -1
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return -1
    words = stat_of(pid)
    mine = words is not None and int(words[1]) == os.getpid()
    if not mine or words is None or (int(words[3]) != os.getsid(0)) is not of_a_run:
        os.close(fd)
        return -1
    return fd


def _sweep() -> None:
    """Kill the orphans of supervisors that died, and what becomes ours by that."""
    until = time.monotonic() + CLEAN_UP
    while time.monotonic() < until:
        orphans = [fd for pid in children_of() if (fd := _open_child(pid, of_a_run=True)) >= 0]
        for fd in orphans:
            try:
                signal.pidfd_send_signal(fd, signal.SIGKILL)
            except OSError:
                pass  # dead already, or another user's by now
            os.close(fd)
        if not orphans:
            return
        time.sleep(0.002)
