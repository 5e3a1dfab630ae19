"""Calls of the command, inside this process and as processes of their own, each in a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from schedcore._cli.main import main

ROOT = Path(__file__).resolve().parents[2]
STARTER = "from schedcore._cli.main import main; main()"


@dataclass(frozen=True)
class Answer:
    """What one call answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its one object on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """Its one error on stderr, of a call with ``--json``."""
        return dict(json.loads(self.err)["error"])

    @property
    def lines(self) -> list[str]:
        """The lines on stdout."""
        return self.out.splitlines()


Cli = Callable[..., Answer]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home and working folder, without any settings; the script plugin is installed."""
    for name in list(os.environ):
        if name.startswith(("SCHEDCORE", "XDG_")) and not name.startswith("SCHEDCORE_TEST"):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "STATE_DIRECTORY", "CONFIGURATION_DIRECTORY", "SUDO_USER"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(folder)
    _install_script_plugin(tmp_path / "installed", monkeypatch)
    return folder


def _install_script_plugin(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an installer writes, where the plugin is on the path without having been installed."""
    try:
        metadata.distribution("schedcore-script")
    except metadata.PackageNotFoundError:
        info = site / "schedcore_script-0.1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: schedcore-script\nVersion: 0.1.0\n")
        (info / "entry_points.txt").write_text("[schedcore]\nscript = schedcore_script.plugin\n")
        monkeypatch.syspath_prepend(str(site))
        path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        monkeypatch.setenv("PYTHONPATH", path)


@pytest.fixture
def cli(home: Path) -> Cli:
    """Call the command inside this process: ``cli("list", "--json")``."""

    def call(*words: str, stdin: str | None = None) -> Answer:
        done = CliRunner().invoke(main, list(words), input=stdin, prog_name="schedcore")
        return Answer(done.exit_code, done.stdout, done.stderr)

    return call


@pytest.fixture
def process(home: Path) -> Cli:
    """Call the command as a process: its path is that of this one."""

    def call(*words: str, env: dict[str, str] | None = None, timeout: float = 60) -> Answer:
        done = subprocess.run(
            [sys.executable, "-c", STARTER, *words],
            env={**os.environ, "PYTHONPATH": search_path(), **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return call


def search_path() -> str:
    """The folders that this process imports from, for a child."""
    return os.pathsep.join(part for part in sys.path if part and "python3" not in Path(part).name)


@pytest.fixture
def schedcore(cli: Cli) -> Cli:
    """The same as ``cli``, with a ledger made."""
    assert cli("db", "upgrade").code == 0
    return cli
