"""Putting a deliberate fault into a scratch copy of the repository, and running the tests that must see it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Mutant", "Verdict", "killed", "mutants", "scratch"]

ROOT = Path(__file__).resolve().parents[2]
_COPIED = (
    "src",
    "tests",
    "plugins",
    "benchmarks",
    "examples",
    "docs",
    "changes",
    "pyproject.toml",
    "noxfile.py",
)
_LEFT = shutil.ignore_patterns("__pycache__", ".hypothesis", "*.egg-info", ".state", "results")
_RED, _LONGEST_S = 1, 600
_FIRST = 1_000_000_000
_written: list[Path] = []


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: ``find`` stands exactly once in ``file``, and ``put`` stands there instead."""

    number: int
    name: str
    breaks: str
    file: str
    find: str
    put: str
    tests: tuple[str, ...]
    fast: bool
    explained: str | None = None

    def text(self, root: Path = ROOT) -> str:
        """The file with the fault in it. Raises ``ValueError`` where the code has moved on."""
        said = (root / self.file).read_text(encoding="utf-8")
        if said.count(self.find) != 1:
            raise ValueError(
                f"mutant {self.number}, {self.name}: {said.count(self.find)} places in {self.file}"
            )
        return said.replace(self.find, self.put)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: the test that saw it, or nothing; in so many seconds."""

    mutant: Mutant
    seen_by: str | None
    seconds: float
    said: str = ""


def mutants() -> list[Mutant]:
    """All of them, numbered from 1 in the order of the file."""
    with (Path(__file__).parent / "mutants.toml").open("rb") as file:
        rows = tomllib.load(file)["mutant"]
    return [
        Mutant(
            number, row["name"], row["breaks"], row["file"], row["find"], row["with"], tuple(row["tests"]),
            row.get("fast", False), row.get("explained"),
        )
        for number, row in enumerate(rows, 1)
    ]  # fmt: skip


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A copy of what the tests need, which may be broken."""
    root = folder / "mutated"
    root.mkdir()
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=_LEFT)
        elif source.exists():
            shutil.copy2(source, root / name)
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def killed(mutant: Mutant, root: Path) -> Verdict:
    """Put the fault in, run its tests until one is red, and take it out again."""
    path = root / mutant.file
    sound = path.read_text(encoding="utf-8")
    began = time.monotonic()
    _write(path, mutant.text(root))
    try:
        done = _tested(mutant.tests, root)
    finally:
        _write(path, sound)
    took = time.monotonic() - began
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    seen = failed[0].split(" ")[1] if done.returncode == _RED and failed else None
    return Verdict(mutant, seen, took, f"{done.stdout}{done.stderr}"[-2000:])


def _write(path: Path, text: str) -> None:
    """Python keeps what it compiled by the second and the size of a file: each text gets a time of its own."""
    _written.append(path)
    path.write_text(text, encoding="utf-8")
    at = _FIRST + len(_written)
    os.utime(path, (at, at))


def _tested(tests: tuple[str, ...], root: Path) -> subprocess.CompletedProcess[str]:
    plugins = [str(path) for path in sorted(root.glob("plugins/*/src"))]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPATH"] = os.pathsep.join([str(root / "src"), *plugins, str(root)])
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=line", "-p", "no:cacheprovider", *tests]
    return subprocess.run(
        command, cwd=root, env=env, capture_output=True, text=True, timeout=_LONGEST_S, check=False
    )
