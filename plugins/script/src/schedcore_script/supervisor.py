"""The supervisor of one run: a fork of the warm spawner that starts one program and sees it end.

It is the run's subreaper, so whatever the program leaves behind becomes its child and is killed by it.
A direct child that only we reap keeps its pid until we do, which is why no kill here can hit a stranger.
It says hello on its control socket, reads one order from it (the *brief*), answers with one line (the
*end*), and waits for the host's word that the line was taken: a byte, or the next brief. Where the socket
closes without it, the host has died, and it writes the end note. It knows nothing of jobs and payloads, and
imports nothing after the fork.

It has one run at a time. After a run that ended by itself and left nothing behind it is as good as new and
takes the next brief, because a fork of a Python process costs more than starting the program does; after
any other end, and after a while without work, it leaves.

The wire: the brief is four bytes of length and a marshalled tuple (both sides are one interpreter and the
socket is private to them), its first byte carrying the write ends of the two output pipes; orders are
single bytes, ``T`` (stop) and ``A`` (the end was taken). The end is one line of words. The program inherits
no end of this socket, so it can forge nothing.
"""

from __future__ import annotations

import array
import errno
import marshal
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

__all__ = [
    "CLEAN_UP",
    "HELLO",
    "IGNORED",
    "STOP",
    "TAKEN",
    "Brief",
    "children_of",
    "pack",
    "stat_of",
    "supervise",
]

HELLO = b"H"
STOP = b"T"
TAKEN = b"A"
CLEAN_UP = 5.0
"""Seconds given to the last killing of what is left; what then still lives is reported and left behind."""

_GROUP_LOOK = 0.02
_IDLE = 10.0
_RUNS_MOST = 10_000
_BRIEF_ROOM = 16_384
IGNORED = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2),
    *(signal.SIGPIPE, signal.SIGXFSZ),
)
"""What spawner and supervisor ignore, and a program does not; the last two are Python's own habit."""


class Brief(NamedTuple):
    """What the supervisor is told."""

    argv: list[str]
    environment: dict[str, str]
    search: list[str]
    """Folders in which a program without a slash is looked for."""
    cwd: str
    limit: float
    """Seconds; 0 means none."""
    grace: float
    end_note: str
    uid: int = -1
    gid: int = -1
    memory: int = 0
    processes: int = 0
    file_size: int = 0
    nice: int = 0
    confined: bool = False
    """Whether any of the six above is set: ``posix_spawn`` can make none of them."""


class _StartError(Exception):
    """The program could not be started: in which step, and the errno."""

    def __init__(self, step: str, errno: int) -> None:
        super().__init__(step, errno)
        self.step = step
        self.errno = errno


def pack(brief: Brief) -> bytes:
    """The brief as it goes over the socket."""
    body = marshal.dumps(tuple(brief))
    return len(body).to_bytes(4, "big") + body


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
        _kill_rest()
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
    try:
        leader = _start(brief, null, out, err)
    except _StartError as error:
        return b"refused %s %d\n" % (error.step.encode(), error.errno), False
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
    killed, left = _kill_rest()
    cpu = int((usage.ru_utime + usage.ru_stime) * 1000) if usage else 0
    peak = int(usage.ru_maxrss) if usage else 0
    clean = why == b"end" and not killed and not left and not brief.confined
    line = b"ended %s %d %d %d %d %d %d\n"
    return line % (why, -1 if status is None else status, killed, left, cpu, peak, clean), clean


def _start(brief: Brief, null: int, out: int, err: int) -> int:
    try:
        os.chdir(brief.cwd)
    except OSError as error:
        raise _StartError("cwd", error.errno or 0) from None
    program = _find(brief.argv[0], brief.search)
    if brief.confined:
        return _fork_confined(program, brief, null, out, err)
    try:
        return os.posix_spawn(
            program,
            brief.argv,
            brief.environment,
            file_actions=(
                (os.POSIX_SPAWN_DUP2, null, 0),
                (os.POSIX_SPAWN_DUP2, out, 1),
                (os.POSIX_SPAWN_DUP2, err, 2),
            ),
            setsid=True,
            setsigmask=(),
            setsigdef=IGNORED,
        )
    except OSError as error:
        raise _StartError("exec", error.errno or 0) from None


def _find(name: str, search: list[str]) -> str:
    """Where the program is, by the PATH that it will itself be given."""
    if "/" in name:
        return name
    best = errno.ENOENT
    for folder in search:
        path = f"{folder}/{name}"
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
        if os.path.isfile(path):
            best = errno.EACCES  # it is there, and may not be executed
    raise _StartError("exec", best)


def _fork_confined(program: str, brief: Brief, null: int, out: int, err: int) -> int:
    """Start under limits or another user: ``posix_spawn`` can do neither, so fork and change in the child."""
    import resource

    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        step = "confine"
        try:
            os.setsid()
            os.dup2(null, 0)
            os.dup2(out, 1)
            os.dup2(err, 2)
            for ignored in IGNORED:
                signal.signal(ignored, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            if brief.nice:
                os.nice(brief.nice)
            for what, most in (
                (resource.RLIMIT_AS, brief.memory),
                (resource.RLIMIT_NPROC, brief.processes),
                (resource.RLIMIT_FSIZE, brief.file_size),
            ):
                if most:
                    resource.setrlimit(what, (most, most))
            if brief.gid >= 0:
                os.setgroups([])
                os.setgid(brief.gid)
            if brief.uid >= 0:
                os.setuid(brief.uid)
            step = "exec"
            os.execve(program, brief.argv, brief.environment)  # noqa: S606  # a program is what we start
        except BaseException as error:
            number = getattr(error, "errno", 0) or 0
            os.write(write, b"%s %d" % (step.encode(), number))
        finally:
            os._exit(127)
    os.close(write)
    said = os.read(read, 64)
    os.close(read)
    if said:
        os.waitpid(child, 0)
        step_, number_ = said.split()
        raise _StartError(step_.decode(), int(number_))
    return child


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
    _kill_group(leader, signal.SIGTERM)
    _kill_group(leader, signal.SIGCONT)  # a stopped process gets its TERM only when it goes on
    until = time.monotonic() + grace
    while (left := until - time.monotonic()) > 0:
        if not poll.poll(left * 1000):
            break
        if not _group_lives(leader):
            return
        time.sleep(min(_GROUP_LOOK, left))
    _kill_group(leader, signal.SIGKILL)


def _kill_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except OSError:
        pass  # gone, or another user's by now (EPERM); what is left is counted at the end


def _group_lives(leader: int) -> bool:
    """Whether, with the leader dead, a child of ours in its group still lives."""
    for child in children_of():
        if child == leader:
            continue
        state = stat_of(child)
        if state and state[0] != b"Z" and int(state[2]) == leader:
            return True
    return False


def stat_of(pid: int) -> list[bytes] | None:
    """State, parent, group, session … of a process: what follows its name, which may hold anything."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None


def children_of() -> list[int]:
    """Our direct children, by the kernel's list, or by a walk where the kernel keeps none."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        me = b"%d" % os.getpid()
        walk = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [pid for pid in walk if (stat := stat_of(pid)) and stat[1] == me]


def _kill_rest() -> tuple[int, int]:
    """Kill children until none is left, those that become ours meanwhile too: (killed, still alive)."""
    killed: set[int] = set()
    until = 0.0
    pause = 0.0
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return len(killed), 0
        if pid:
            continue
        now = time.monotonic()
        until = until or now + CLEAN_UP
        living = children_of()
        if now >= until:
            return len(killed), len(living)
        for child in living:
            try:
                os.kill(child, signal.SIGKILL)
            except OSError:
                continue  # EPERM: it became another user's; it is counted as left
            killed.add(child)
        time.sleep(pause)
        pause = min(0.01, pause + 0.0002)
