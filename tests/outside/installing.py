"""Installs the distributions of this folder as anybody would, into a folder of their own, without an index.

Where there is no pip, their wheels are built and unpacked, which is all that installing pure Python means.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

HERE = Path(__file__).resolve().parent


def install(target: Path) -> Path:
    """Install all of them; the folder, to be put on ``sys.path`` or ``PYTHONPATH``."""
    projects = sorted(path.parent for path in HERE.glob("*/pyproject.toml"))
    if find_spec("pip") is not None:
        how = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
        _run("pip", "install", *how, "--target", str(target), *map(str, projects))
        return target
    for project in projects:
        wheels = target / "wheels" / project.name
        _run("hatchling", "build", "--target", "wheel", "--directory", str(wheels), cwd=project)
        for wheel in wheels.glob("*.whl"):
            ZipFile(wheel).extractall(target)
    return target


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], check=False, capture_output=True, text=True, cwd=cwd
    )
    assert done.returncode == 0, done.stdout + done.stderr
