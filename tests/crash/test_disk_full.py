"""A full disk: nothing partial, the hold is said at once and written when space returns, work resumes (G11)."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.repository import ROOT

_PRIVATE = ["unshare", "-m", "--propagation", "private"]
_MOUNT = ["mount", "-t", "tmpfs", "-o", "size=3m,mode=0777", "tmpfs"]


def _in_a_namespace(folder: Path) -> str | None:
    """Why no small file system can be mounted here for the test alone; ``None`` where it can."""
    if sys.platform != "linux":
        return "mounting for one test is done on Linux only"
    try:
        done = subprocess.run(
            [*_PRIVATE, *_MOUNT, str(folder)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError as error:
        return str(error)
    return done.stderr.strip() or None if done.returncode else None


def test_fault_r37_a_full_disk_stops_claims_writes_nothing_partially_and_is_resumed(tmp_path: Path) -> None:
    small, folder = tmp_path / "small", tmp_path / "hosts"
    small.mkdir()
    folder.mkdir()
    if why := _in_a_namespace(small):
        pytest.skip(f"no small file system can be mounted: {why}")

    inside = [sys.executable, "-m", "tests.crash.small_disk", str(small), str(folder)]
    script = f"{shlex.join([*_MOUNT, str(small)])} && exec {shlex.join(inside)}"
    done = subprocess.run(
        [*_PRIVATE, "sh", "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=90, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
