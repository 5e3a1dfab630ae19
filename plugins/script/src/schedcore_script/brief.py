"""What the host and a supervisor say to each other: the words, and what a supervisor is told to run.

The wire: the brief is four bytes of length and a marshalled tuple (both sides are one interpreter and the
socket is private to them), its first byte carrying the write ends of the two output pipes; orders are
single bytes, ``T`` (stop) and ``A`` (the end was taken). The end is one line of words. The program inherits
no end of this socket, so it can forge nothing.
"""

from __future__ import annotations

import marshal
from typing import NamedTuple

__all__ = ["HELLO", "STOP", "TAKEN", "Brief", "pack"]

HELLO = b"H"
STOP = b"T"
TAKEN = b"A"


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
    cgroup: str = ""
    """Where the run's own control group is made, which then keeps ``memory`` and ``processes``; else rlimits do."""


def pack(brief: Brief) -> bytes:
    """The brief as it goes over the socket."""
    body = marshal.dumps(tuple(brief))
    return len(body).to_bytes(4, "big") + body
