"""The children of this process: whose they are, and how they are killed.

A direct child that only we reap keeps its pid until we do, which is why no kill here can hit a stranger.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

__all__ = ["CLEAN_UP", "children_of", "group_lives", "kill_group", "kill_rest", "stat_of"]

CLEAN_UP = 5.0
"""Seconds given to the last killing of what is left; what then still lives is reported and left behind."""


def kill_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except OSError:
        pass  # gone, or another user's by now (EPERM); what is left is counted at the end


def group_lives(leader: int) -> bool:
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


def kill_rest(resort: Callable[[], None] | None = None) -> tuple[int, int]:
    """Kill children until none is left, those that become ours meanwhile too: (killed, still alive).

    ``resort`` kills what we may not: whatever became another user's.
    """
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
            except OSError:  # EPERM: it became another user's; it is counted as left
                if resort is None:
                    continue
                resort()
            killed.add(child)
        time.sleep(pause)
        pause = min(0.01, pause + 0.0002)
