"""The supervisor of one run: a fork of the warm spawner that starts one program and sees it end.

It is the run's subreaper, so whatever the program leaves behind becomes its child and is killed by it.
It says hello on its control socket, reads one order from it (the *brief*), answers with one line (the
*end*), and waits for the host's word that the line was taken: a byte, or the next brief. Where the socket
closes without it, the host has died, and it writes the end note. It knows nothing of jobs and payloads, and
imports nothing after the fork.

It has one run at a time. After a run that ended by itself and left nothing behind it is as good as new and
takes the next brief, because a fork of a Python process costs more than starting the program does; after
any other end, and after a while without work, it leaves.
"""

from __future__ import annotations

import array
import marshal
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, NoReturn

from schedcore_script.brief import HELLO, STOP, TAKEN, Brief
from schedcore_script.cgroup import Group
from schedcore_script.children import CLEAN_UP, group_lives, kill_group, kill_rest
from schedcore_script.launching import StartError, start

__all__ = ["supervise"]

_GROUP_LOOK = 0.02
_IDLE = 10.0
_RUNS_MOST = 10_000
_BRIEF_ROOM = 16_384


def supervise(control: socket.socket, null: int, adopt: Callable[[], None]) -> NoReturn:
    """Live the whole life of one supervisor, then leave the process. ``adopt`` makes us a subreaper."""
    note = ""
    try:
        adopt()
        control.send(HELLO)
        for _ in range(_RUNS_MOST):
            received = _read_brief(control)
            if received is None:
                break
            note = ""
            if received[0] is None:
                break
            brief, out, err = received
            note = brief.end_note
            line, clean = _run(control, brief, null, out, err)
            control.sendall(line)
            if not clean:
                if _taken(control):
                    note = ""
                break
            os.close(out)
            os.close(err)
            os.chdir("/")
    except BaseException as error:  # the last frame of this process: leave nothing, say it, and go
        kill_rest()
        try:
            control.send(b"broken %s\n" % repr(error)[:300].replace("\n", " ").encode())
            if _taken(control):
                note = ""
        except OSError:
            pass  # the host is gone: the note is for it
    finally:
        _write_note(note)
        os._exit(0)


def _read_brief(control: socket.socket) -> tuple[Brief, int, int] | tuple[None, int, int] | None:
    """The next brief and its pipes; no brief where the host has none for us; ``None`` where it died."""
    poll = select.poll()
    poll.register(control.fileno(), select.POLLIN)
    idle = not poll.poll(_IDLE * 1000)
    if idle:
        # From here on the host's sends fail, so it knows; what it sent just before is still taken.
        control.shutdown(socket.SHUT_RD)
    fds = array.array("i")
    data, ancillary, _, _ = control.recvmsg(_BRIEF_ROOM, socket.CMSG_SPACE(8), socket.MSG_CMSG_CLOEXEC)
    if not data:
        return (None, -1, -1) if idle else None
    if data[:1] in (STOP, TAKEN):  # a late order for the last run, or its end was taken and that is all
        return (None, -1, -1) if TAKEN in data or _taken(control) else None
    for _, _, piece in ancillary:
        fds.frombytes(piece)
    need = 4
    while len(data) < 4 or len(data) < (need := 4 + int.from_bytes(data[:4], "big")):
        piece = control.recv(262_144)
        if not piece:
            return None, -1, -1  # the host died before it had said what to run: nothing was begun
        data += piece
    if len(fds) != 2:
        return None, -1, -1
    body: tuple[Any, ...] = marshal.loads(data[4:need])  # noqa: S302  # our own host wrote it
    return Brief(*body), fds[0], fds[1]


def _taken(control: socket.socket) -> bool:
    """Wait for the host's word that it has the end; false where it is gone."""
    try:
        while True:
            word = control.recv(1)
            if word != STOP:
                return word == TAKEN
    except OSError:
        return False


def _write_note(path: str) -> None:
    """Say on disk that the work has ended, for a host that comes later. Never follows a link."""
    if not path:
        return
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        note = os.open(temporary, flags, 0o600)
        os.write(note, b"ended\n")
        os.fsync(note)
        os.close(note)
        os.rename(temporary, path)
    except OSError:
        pass  # nobody is left to tell; the run's end stays unknown until its limit has passed


# -- one run ---------------------------------------------------------------------------------------------


def _run(control: socket.socket, brief: Brief, null: int, out: int, err: int) -> tuple[bytes, bool]:
    """The line that says how it ended, and whether nothing was left behind."""
    group = None
    try:
        if brief.cgroup:
            group = Group.make(brief.cgroup, brief.memory, brief.processes)
        leader = start(brief, group, null, out, err)
    except StartError as error:
        if group:
            group.remove()
        return b"refused %s %d\n" % (error.step.encode(), error.errno), False
    except OSError as error:
        return b"refused cgroup %d\n" % (error.errno or 0), False
    ended = os.pidfd_open(leader)  # close-on-exec by itself
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(control.fileno(), select.POLLIN)
    why = _watch(control, poll, ended, brief.limit)
    poll.unregister(control.fileno())
    if why != b"end":
        _stop(poll, leader, brief.grace)
    status: int | None = None
    usage = None
    if why == b"end" or poll.poll(CLEAN_UP * 1000):
        _, status, usage = os.wait4(leader, 0)  # else: killed, and yet not dead; it hangs in the kernel
    os.close(ended)
    killed, left = kill_rest(group.kill if group else None)
    limit = b"-"
    if group:
        limit = group.reached()
        group.remove()
    cpu = int((usage.ru_utime + usage.ru_stime) * 1000) if usage else 0
    peak = int(usage.ru_maxrss) if usage else 0
    clean = why == b"end" and not killed and not left and not brief.confined
    line = b"ended %s %d %d %d %d %d %d %s\n"
    return line % (why, -1 if status is None else status, killed, left, cpu, peak, clean, limit), clean


def _watch(control: socket.socket, poll: select.poll, ended: int, limit: float) -> bytes:
    """Wait for the first of: the program ends, the limit is over, the host says stop, the host is gone."""
    over = time.monotonic() + limit if limit else None
    while True:
        wait = None if over is None else max(0.0, (over - time.monotonic()) * 1000)
        seen = {fd for fd, _ in poll.poll(wait)}
        if ended in seen:
            return b"end"
        if seen:
            word = _word(control)
            if word == STOP:
                return b"stop"
            if not word:
                return b"lost"
        if over is not None and time.monotonic() >= over:
            return b"timeout"


def _word(control: socket.socket) -> bytes:
    try:
        return control.recv(1)
    except OSError:
        return b""


def _stop(poll: select.poll, leader: int, grace: float) -> None:
    """TERM to the group, grace, KILL. The leader is not reaped meanwhile, so its number stays its own."""
    kill_group(leader, signal.SIGTERM)
    kill_group(leader, signal.SIGCONT)  # a stopped process gets its TERM only when it goes on
    until = time.monotonic() + grace
    while (left := until - time.monotonic()) > 0:
        if not poll.poll(left * 1000):
            break
        if not group_lives(leader):
            return
        time.sleep(min(_GROUP_LOOK, left))
    kill_group(leader, signal.SIGKILL)
