"""Starting one program, in its own session, under limits or as another user where the brief says so."""

from __future__ import annotations

import errno
import os
import signal

from schedcore_script.brief import Brief
from schedcore_script.cgroup import Group

__all__ = ["IGNORED", "StartError", "start"]

IGNORED = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2),
    *(signal.SIGPIPE, signal.SIGXFSZ),
)
"""What spawner and supervisor ignore, and a program does not; the last two are Python's own habit."""


class StartError(Exception):
    """The program could not be started: in which step, and the errno."""

    def __init__(self, step: str, errno: int) -> None:
        super().__init__(step, errno)
        self.step = step
        self.errno = errno


def start(brief: Brief, group: Group | None, null: int, out: int, err: int) -> int:
    """The pid of the program, begun. Raises :class:`StartError`."""
    try:
        os.chdir(brief.cwd)
    except OSError as error:
        raise StartError("cwd", error.errno or 0) from None
    program = _find(brief.argv[0], brief.search)
    if brief.confined:
        return _fork_confined(program, brief, group, null, out, err)
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
        raise StartError("exec", error.errno or 0) from None


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
    raise StartError("exec", best)


def _fork_confined(program: str, brief: Brief, group: Group | None, null: int, out: int, err: int) -> int:
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
            if group:
                group.enter()
            if brief.nice:
                os.nice(brief.nice)
            for what, most in (
                (resource.RLIMIT_AS, 0 if group else brief.memory),
                (resource.RLIMIT_NPROC, 0 if group else brief.processes),
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
        raise StartError(step_.decode(), int(number_))
    return child
