"""The file a payload points at: its text for the sensitivity, its hash for an approval.

Read by descriptor, as a regular file only, and never more than 256 KiB.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["READ_MOST", "ScriptText", "digests", "look", "read_bounded"]

READ_MOST = 256 * 1024

_INTERPRETERS = (
    *("sh", "bash", "dash", "zsh", "ksh", "fish", "python", "perl", "ruby", "node", "nodejs", "deno", "bun"),
    *("php", "lua", "tclsh", "Rscript", "pwsh", "awk", "gawk", "expect", "julia", "osascript"),
)
_WRAPPERS = frozenset(
    {"env", "nice", "nohup", "timeout", "setsid", "ionice", "stdbuf", "time", "exec", "sudo", "xargs"}
)
_INLINE = frozenset({"-c", "-e", "-m", "-E", "--eval", "-r", "-Command"})


@dataclass(frozen=True, slots=True)
class ScriptText:
    """The text of the script files among the words, and the names of those that could not be read."""

    text: str
    unreadable: tuple[str, ...]


def look(words: tuple[str, ...], cwd: str | None, path: str) -> ScriptText:
    """Read the script files among the words of a command line."""
    texts: list[str] = []
    unreadable: list[str] = []
    for file, expected in _candidates(words, cwd, path):
        try:
            data = read_bounded(file, READ_MOST)
        except ValueError:
            if not _is_binary(file):
                unreadable.append(file)
            continue
        except OSError:
            if expected:
                unreadable.append(file)
            continue
        if b"\0" not in data[:4096]:
            texts.append(data.decode("utf-8", "replace"))
    return ScriptText("\n".join(texts), tuple(dict.fromkeys(unreadable)))


def digests(words: tuple[str, ...], cwd: str | None, path: str) -> dict[str, str]:
    """SHA-256 by name of every file that would be run or read as a script; ``absent`` for a missing one."""
    found: dict[str, str] = {}
    for file, expected in _candidates(words, cwd, path):
        try:
            with open(_regular(file), "rb") as opened:
                found[file] = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError:
            if expected:
                found[file] = "absent"
    return found


def _candidates(words: Iterable[str], cwd: str | None, path: str) -> Iterator[tuple[str, bool]]:
    """Each file among the words, and whether it must be there for the script to be what it seems."""
    rest = list(words)
    while rest and Path(rest[0]).name in _WRAPPERS:
        rest = [word for word in rest[1:] if not word.startswith("-") and "=" not in word]
        while rest and rest[0].replace(".", "").rstrip("smhd").isdigit():
            rest.pop(0)  # the argument of timeout, nice
    if not rest:
        return
    program = rest[0] if "/" in rest[0] else shutil.which(rest[0], path=path) or rest[0]
    yield _joined(program, cwd), "/" in rest[0]
    name = Path(program).name
    is_interpreter = any(name.startswith(known) for known in _INTERPRETERS)
    for index, word in enumerate(rest[1:]):
        if word in _INLINE and is_interpreter:
            is_interpreter = False
        if word.startswith("-"):
            continue
        expected = is_interpreter
        is_interpreter = False  # only the first operand is the script
        file = _joined(word, cwd)
        if expected or (index < 32 and ("/" in word or cwd) and Path(file).is_file()):
            yield file, expected


def _joined(name: str, cwd: str | None) -> str:
    return os.path.join(cwd, name) if cwd and not name.startswith("/") else name


def _regular(file: str) -> int:
    fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(22, "not a regular file", file)
    return fd


def read_bounded(file: str, most: int) -> bytes:
    """All of a regular file. ``ValueError`` where it holds more than ``most`` bytes."""
    with open(_regular(file), "rb") as opened:
        data = opened.read(most + 1)
    if len(data) > most:
        raise ValueError(f"{file} holds more than {most} bytes")
    return data


def _is_binary(file: str) -> bool:
    with suppress(OSError), open(_regular(file), "rb") as opened:
        return b"\0" in opened.read(4096)
    return False
