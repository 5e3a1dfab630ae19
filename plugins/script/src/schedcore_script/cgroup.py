"""A control group (cgroup v2) of each run, where the machine lets us make one: it keeps memory and processes.

A group counts what a run takes as a whole, whatever it forks and whoever it becomes, and says afterwards which
limit was reached; rlimits do neither. So it comes first, and rlimits where there is none. The host's own group
is left as it is: runs get groups beside or below it, as ``Delegate=yes`` and ``DelegateSubgroup=`` of a service
unit provide.
"""

from __future__ import annotations

import os
import time

__all__ = ["Group", "find"]

_ROOT = "/sys/fs/cgroup"
_OWN = "/proc/self/cgroup"
_NAME = "schedcore-run-"
_NEEDED = frozenset({"memory", "pids"})


def find(root: str = _ROOT, own: str = _OWN, *, switch_on: bool = True) -> str | None:
    """The folder below which runs get their groups: the host's own group, or the one above; else ``None``.

    Both controllers are switched on there if that is allowed, unless the caller only looks.
    """
    paths = [line[3:] for line in _read(own).splitlines() if line.startswith("0::/")]
    if not paths or ".." in paths[0].split("/"):
        return None
    here = root + paths[0].rstrip("/")
    above = [os.path.dirname(here)] if here != root else []
    return next((folder for folder in (here, *above) if _usable(folder, switch_on)), None)


def _usable(folder: str, switch_on: bool) -> bool:
    if not set(_read(f"{folder}/cgroup.controllers").split()) >= _NEEDED:
        return False
    try:
        if not set(_read(f"{folder}/cgroup.subtree_control").split()) >= _NEEDED:
            if not switch_on:
                return False
            _write(f"{folder}/cgroup.subtree_control", "+memory +pids")
        return os.access(f"{folder}/cgroup.procs", os.W_OK) and os.access(folder, os.W_OK)
    except OSError:
        return False  # the group has processes of its own, or is not ours to change


class Group:
    """The group of one run, as its supervisor sees it."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def make(cls, base: str, memory: int, processes: int) -> Group:
        """A new group with these limits (bytes, and how many at once; 0 is none). Raises ``OSError``."""
        _sweep(base)
        group = cls(f"{base}/{_NAME}{os.getpid()}-{time.monotonic_ns()}")
        os.mkdir(group.path)
        try:
            if memory:
                _write(f"{group.path}/memory.max", str(memory))
                _write(f"{group.path}/memory.oom.group", "1")
                if os.path.exists(f"{group.path}/memory.swap.max"):
                    _write(f"{group.path}/memory.swap.max", "0")
            if processes:
                _write(f"{group.path}/pids.max", str(processes))
        except OSError:
            group.remove()
            raise
        return group

    def enter(self) -> None:
        """Move this process in; what it forks is in it from then on."""
        _write(f"{self.path}/cgroup.procs", "0")

    def kill(self) -> None:
        """Kill all that is in it, whoever it belongs to (Linux 5.14)."""
        try:
            _write(f"{self.path}/cgroup.kill", "1")
        except OSError:
            pass  # an older kernel: what is not ours to kill is counted as left

    def reached(self) -> bytes:
        """The limit that was reached, as the reason of an outcome, or ``-``."""
        if _count(f"{self.path}/memory.events", "oom_kill"):
            return b"memory_limit"
        return b"pid_limit" if _count(f"{self.path}/pids.events", "max") else b"-"

    def remove(self) -> None:
        """Take it away; one that is not empty stays until a later run's supervisor finds it so."""
        try:
            os.rmdir(self.path)
        except OSError:
            pass


def _sweep(base: str) -> None:
    """Take away what supervisors that were killed have left."""
    for name in os.listdir(base):
        pid = name.removeprefix(_NAME).partition("-")[0]
        if name.startswith(_NAME) and not os.path.exists(f"/proc/{pid}"):
            Group(f"{base}/{name}").remove()


def _count(path: str, name: str) -> int:
    words = (line.split() for line in _read(path).splitlines())
    return sum(int(line[1]) for line in words if len(line) == 2 and line[0] == name)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
