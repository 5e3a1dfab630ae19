"""``./dev``: one environment, made once, and made again when what it was made from has changed."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest
from tests.house.repository import ROOT, dev_script


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, in a folder of its own, writing down what it would have run."""
    module = dev_script()
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "dev.txt").write_text("one==1\n")
    for name, value in {
        "ROOT": tmp_path,
        "VENV": tmp_path / ".venv",
        "BIN": tmp_path / ".venv/bin",
        "PYTHON": tmp_path / ".venv/bin/python",
        "NOX": tmp_path / ".venv/bin/nox",
        "STAMP": tmp_path / ".venv/made-from.json",
        "LOCK": tmp_path / "dev.txt",
        "PROJECTS": [tmp_path],
    }.items():
        monkeypatch.setattr(module, name, value)
    module.done = []

    def run(command: list[str]) -> None:
        if "venv" in command:
            module.done.append("venv")
            module.BIN.mkdir(parents=True)
            module.PYTHON.touch()
        else:
            module.done.append("lock" if "--require-hashes" in command else "editable")
            module.NOX.touch()

    monkeypatch.setattr(module, "run", run)
    return module


def test_the_first_call_makes_everything_and_the_second_nothing(dev: ModuleType):
    dev.prepare()
    first = list(dev.done)
    dev.prepare()

    assert first == ["venv", "lock", "editable"]
    assert dev.done == first


def test_an_environment_that_another_tool_has_emptied_is_made_again(dev: ModuleType):
    dev.prepare()
    dev.done.clear()
    dev.NOX.unlink()
    dev.prepare()

    assert dev.done == ["venv", "lock", "editable"]


def test_a_changed_project_is_installed_again_in_the_same_environment(dev: ModuleType):
    dev.prepare()
    dev.done.clear()
    (dev.ROOT / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    dev.prepare()

    assert dev.done == ["editable"]


def test_a_changed_lock_makes_the_environment_anew(dev: ModuleType):
    dev.prepare()
    dev.done.clear()
    dev.LOCK.write_text("one==2\n")
    dev.prepare()

    assert dev.done == ["venv", "lock", "editable"]


def test_what_was_interrupted_is_made_anew(dev: ModuleType, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as broken:
        broken.setattr(dev, "pip", lambda *_: sys.exit("interrupted"))
        with pytest.raises(SystemExit):
            dev.prepare()
    dev.done.clear()
    dev.prepare()

    assert dev.done == ["venv", "lock", "editable"]


def test_an_environment_whose_python_is_gone_is_made_anew(dev: ModuleType):
    dev.prepare()
    dev.done.clear()
    dev.PYTHON.unlink()
    dev.prepare()

    assert dev.done == ["venv", "lock", "editable"]


def test_two_first_calls_at_once_make_one_environment(dev: ModuleType, monkeypatch: pytest.MonkeyPatch):
    look, run = dev.made_from, dev.run
    second, looked = threading.Thread(target=dev.prepare), threading.Event()

    def look_and_tell() -> dict[str, str]:
        seen = look()
        if threading.current_thread() is second:
            looked.set()
        return seen

    def run_when_the_second_has_looked(command: list[str]) -> None:
        if not dev.done:
            second.start()
            assert looked.wait(30)
        run(command)

    monkeypatch.setattr(dev, "made_from", look_and_tell)
    monkeypatch.setattr(dev, "run", run_when_the_second_has_looked)
    dev.prepare()
    second.join()

    assert dev.done == ["venv", "lock", "editable"]


def test_each_further_run_sets_the_one_shot_of_the_quickstart_again(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
):
    called: list[list[str]] = []
    monkeypatch.setattr(dev.subprocess, "run", lambda command, **how: called.append(command))
    monkeypatch.setattr(dev, "become", called.append)
    monkeypatch.chdir(dev.ROOT)
    dev.prepare()

    dev.main(["run"])
    (dev.ROOT / "examples/quickstart/.state").mkdir(parents=True)
    dev.main(["run", "--for", "30s"])

    quick = [str(dev.BIN / "schedcore"), *dev.QUICKSTART]
    serve = [*quick, "serve"]
    assert called == [serve, [*quick, *dev.ONCE_MORE], [*serve, "--for", "30s"]]


@pytest.mark.skipif(Path(sys.prefix) != ROOT / ".venv", reason="these tests run in another environment")
def test_dev_lists_the_sessions():
    told = subprocess.run([sys.executable, "dev", "-l"], cwd=ROOT, capture_output=True, text=True, check=True)

    for name in ("test", "lint", "types", "contracts", "bench", "build", "lock", "matrix", "coverage"):
        assert f"\n* {name} ->" in told.stdout or f"\n- {name} ->" in told.stdout


def test_the_check_script_is_what_the_readme_says():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    commands = [line for line in script.splitlines() if line.startswith("./dev")]

    assert commands == ["./dev lint", "./dev test"]
    assert "export CI=1\n" in script
    assert ".ci/run" in readme
    assert [command for command in commands if command not in readme] == []
