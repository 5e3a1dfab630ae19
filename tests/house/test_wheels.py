"""The wheels, installed where nothing of this checkout is: the core alone, each plugin alone, all of them.

No index can be asked in a test, yet a wheel wants its dependencies. An environment that sees the whole
of the one that runs the tests would be no proof: a forgotten dependency would be there all the same.
So each environment starts empty; what the wheels *say* they require, and what that requires in turn, is
linked into it from the running one, package by package; then its own pip installs the wheels without
an index and must find every requirement met.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, distribution
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.house.repository import PLUGINS, PROJECTS, ROOT, declared, name_of

from schedcore._version import DISTRIBUTION, __version__

SMOKE = """
import pkgutil, sys
from importlib import import_module
from importlib_metadata import entry_points
import schedcore
assert schedcore.__file__.startswith(sys.prefix), schedcore.__file__
skipped = {"schedcore.testing", "schedcore._ledger.migrations"}  # for tests; started by alembic alone
for package in ["schedcore", *sys.argv[1:]]:
    import_module(package)
    walked = pkgutil.walk_packages(sys.modules[package].__path__, f"{package}.")
    for module in walked:
        if not any(f"{module.name}.".startswith(f"{name}.") for name in skipped):
            import_module(module.name)
for found in entry_points(group="schedcore"):
    print(found.name, found.load().__name__)
"""


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of every distribution: the one given, or one filled here."""
    if given := os.environ.get("SCHEDCORE_TEST_WHEELS"):
        return Path(given)
    folder = tmp_path_factory.mktemp("wheels")
    for project in PROJECTS:
        run(
            sys.executable,
            "-m",
            "hatchling",
            "build",
            "--target",
            "wheel",
            "--directory",
            folder,
            cwd=project,
        )
    return folder


@pytest.fixture
def install(wheels: Path, tmp_path: Path) -> Callable[..., Path]:
    """Installs wheels into an empty environment and returns the folder of its programs."""

    def into_an_empty_environment(*wanted: str) -> Path:
        folder = tmp_path / "environment"
        # The running pip is lent where there is one (it takes 3 s to put one in), but pip itself is not
        # something that the installed code could import.
        lent = find_spec("pip") is not None
        venv.create(folder, with_pip=not lent, symlinks=True)
        programs = folder / "bin"
        (packages,) = folder.glob("lib/python*/site-packages")
        link_third_parties(wanted, packages)
        pip = [sys.executable, "-m", "pip", "--python", programs / "python"] if lent else [programs / "pip"]
        run(*pip, "install", "--quiet", "--no-index", "--find-links", wheels, *wanted, cwd=tmp_path)
        return programs

    return into_an_empty_environment


def link_third_parties(wanted: tuple[str, ...], target: Path) -> None:
    """Link what ``wanted`` requires, whole distributions with their metadata, ours left out."""
    for found in closure(wanted):
        assert found.files is not None
        for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            (target / top).symlink_to(Path(str(found.locate_file(top))))


def closure(wanted: tuple[str, ...]) -> Iterator[Distribution]:
    """The third-party distributions that ``wanted`` lead to, each once."""
    ours = {told["name"]: told for told in map(declared, PROJECTS)}
    to_see = [Requirement(line) for line in wanted]
    seen: set[tuple[str, str]] = set()
    while to_see:
        line = to_see.pop()
        name = canonicalize_name(line.name)
        for extra in {"", *line.extras} - {extra for known, extra in seen if known == name}:
            if name in ours:
                told = ours[name]
                lines = told["optional-dependencies"][extra] if extra else told["dependencies"]
            else:
                found = distribution(name)
                lines = found.requires or []
                if not extra:
                    yield found
            seen.add((name, extra))
            requirements = map(Requirement, lines)
            to_see += [
                more for more in requirements if not more.marker or more.marker.evaluate({"extra": extra})
            ]


def run(*command: object, cwd: Path) -> str:
    """What a command prints, run as from a shell that knows nothing of this checkout."""
    told = [str(part) for part in command]
    env = {"PATH": os.defpath, "HOME": str(cwd), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(told, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(told)}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("project", PROJECTS, ids=name_of)
def test_a_wheel_has_every_file_of_its_package_and_the_licence(project: Path, wheels: Path):
    (package,) = (path for path in (project / "src").iterdir() if path.is_dir())
    sources = {
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    stem = f"{declared(project)['name'].replace('-', '_')}-{__version__}"

    with ZipFile(wheels / f"{stem}-py3-none-any.whl") as wheel:
        packed = set(wheel.namelist())

    assert sources <= packed
    assert f"{stem}.dist-info/licenses/LICENSE" in packed


def test_the_core_works_alone(install: Callable[..., Path], tmp_path: Path):
    programs = install(DISTRIBUTION)

    assert run(programs / "python", "-I", "-c", SMOKE, cwd=tmp_path) == ""
    assert run(programs / "schedcore", "--help", cwd=tmp_path).startswith("Usage: schedcore ")


@pytest.mark.parametrize("plugin", PLUGINS, ids=name_of)
def test_a_plugin_works_with_the_core_and_no_other(
    plugin: Path, install: Callable[..., Path], tmp_path: Path
):
    package = f"schedcore_{plugin.name}"

    programs = install(f"schedcore-{plugin.name}")

    found = run(programs / "python", "-I", "-c", SMOKE, package, cwd=tmp_path).splitlines()
    assert found == [f"{plugin.name} {package}.plugin"]
    assert run(programs / "schedcore", "--help", cwd=tmp_path).startswith("Usage: schedcore ")


def test_everything_installs_together(install: Callable[..., Path], tmp_path: Path):
    programs = install(f"{DISTRIBUTION}[all]")

    packages = [f"schedcore_{plugin.name}" for plugin in PLUGINS]
    found = run(programs / "python", "-I", "-c", SMOKE, *packages, cwd=tmp_path).splitlines()
    assert sorted(found) == sorted(f"{plugin.name} schedcore_{plugin.name}.plugin" for plugin in PLUGINS)


def test_no_path_of_this_checkout_is_in_a_wheel(wheels: Path):
    here, named = str(ROOT).encode(), []
    for path in wheels.glob("*.whl"):
        with ZipFile(path) as wheel:
            named += [f"{path.name}: {name}" for name in wheel.namelist() if here in wheel.read(name)]

    assert named == []
