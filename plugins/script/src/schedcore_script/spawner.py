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
import signal
import socket
import sys
import time
from collections.abc import Callable

from schedcore_script import supervisor

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
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGQUIT,
        signal.SIGUSR1,
        signal.SIGUSR2,
    ):
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
                supervisor.supervise(socket.socket(fileno=fds[0]), null, adopt)
            for fd in fds:
                os.close(fd)
            if pid > 0:
                supervisors[number] = pid
                if len(supervisors) > _KEPT:
                    alive = set(supervisor.children_of())
                    supervisors = {n: p for n, p in supervisors.items() if p in alive}
        elif letter == KILL:
            _kill(supervisors.pop(number, 0), ours=True)
            _sweep()
        elif letter == SWEEP:
            _sweep()


def _kill(pid: int, *, ours: bool) -> bool:
    """Kill a child if it still is ours and of the expected kind; a reused number is left alone."""
    if pid <= 0:
        return False
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
        same = int(words[3]) == os.getsid(0)
        if int(words[1]) != os.getpid() or same is not ours:
            return False
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def _sweep() -> None:
    """Kill the orphans of supervisors that died, and what becomes ours by that."""
    until = time.monotonic() + supervisor.CLEAN_UP
    while time.monotonic() < until:
        if not [pid for pid in supervisor.children_of() if _kill(pid, ours=False)]:
            return
        time.sleep(0.002)


if __name__ == "__main__":
    main(int(sys.argv[1]))
