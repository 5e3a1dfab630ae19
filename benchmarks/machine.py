"""On what it was measured: the cores, the disk's sync, and the versions of everything that took part."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import subprocess
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["machine"]

_PARTS = (
    "schedcore-host",
    "sqlalchemy",
    "psycopg",
    "apscheduler",
    "huey",
    "procrastinate",
    "pgqueuer",
    "dbos",
)


def machine(folder: Path) -> dict[str, Any]:
    """Facts for the result file; nothing that names this machine."""
    return {
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": _processor(),
        "sqlite": sqlite3.sqlite_version,
        "fdatasync_ms": _sync(folder),
        "versions": {name: found for name in _PARTS if (found := _version(name))},
        "commit": _commit(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _sync(folder: Path) -> float:
    """What the disk asks for one small write that must not be lost, in milliseconds."""
    took = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(50):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            getattr(os, "fdatasync", os.fsync)(file.fileno())
            took.append(time.perf_counter() - began)
    return round(statistics.median(took) * 1e3, 3)


def _commit() -> str | None:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or None
