# /// script
# requires-python = ">=3.11"
# dependencies = ["nox>=2025.2.9"]
# ///
"""The sessions: what a change must pass, and what a release is made with.

`./dev NAME` runs them in one environment made from the lock; `nox` and `uv run noxfile.py` make one per
session. A session that finds itself in an environment made by others installs nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import sys
import time
import tomllib
from pathlib import Path

import nox
from nox.virtualenv import PassthroughEnv

ROOT = Path(__file__).resolve().parent
PROJECTS = [ROOT, *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]
SOURCES = [str(path.relative_to(ROOT)) for project in PROJECTS for path in [project / "src"]]
LOCKS = ["dev", "test", "lint", "build", "bench"]
PARALLEL = ["-n", "2", "--dist", "worksteal"]
PYTHONS = ["3.11", "3.12", "3.13"]

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.download_python = "never"
nox.options.error_on_external_run = True
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "test"]


@nox.session
def test(session: nox.Session) -> None:
    """The whole suite, PostgreSQL included; arguments go to pytest."""
    install(session, "test", distributions=True)
    session.run("pytest", *([] if {"-n", "--pdb"} & set(session.posargs) else PARALLEL), *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Everything that reads the code: style, types, contracts, lock files."""
    install(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    check_types(session)
    check_contracts(session)
    check_locks(session)


@nox.session(default=False)
def types(session: nox.Session) -> None:
    """mypy, strict, on everything that is shipped."""
    install(session, "lint")
    check_types(session)


@nox.session(default=False)
def contracts(session: nox.Session) -> None:
    """The arrows between the rooms."""
    install(session, "lint")
    check_contracts(session)


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """The suite again, in one process, with the lines it does not reach."""
    install(session, "test", distributions=True)
    sources = ",".join(SOURCES)
    session.run("coverage", "run", "--branch", "--source", sources, "-m", "pytest", *session.posargs)
    session.run("coverage", "report", "--show-missing", "--skip-covered")


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """New examples for readers, masks and the ledger, for so long: `./dev fuzz --minutes 30`; arguments to pytest.

    Each pass prints its seed. A failing example is kept in .hypothesis and comes first the next time.
    """
    install(session, "test", distributions=True)
    asked = argparse.ArgumentParser(prog="./dev fuzz", allow_abbrev=False)
    asked.add_argument("--minutes", type=float, default=5.0)
    given, rest = asked.parse_known_args(session.posargs)
    until = time.monotonic() + given.minutes * 60
    while time.monotonic() < until:
        seed = f"--hypothesis-seed={random.randrange(2**32)}"
        session.run("pytest", "tests/fuzz", "-q", seed, *rest, env={"SCHEDCORE_FUZZ": "1000"})


@nox.session(default=False)
def simulate(session: nox.Session) -> None:
    """Hours in which everything goes wrong: `./dev simulate --seeds 20 --first-seed 1 --hours 6`, or `--days N`."""
    install(session, "test", distributions=True)
    # sets of texts stand in an order of their own in every process, unless it is told
    session.run("python", "-m", "tests.simulation", *session.posargs, env={"PYTHONHASHSEED": "0"})


@nox.session(default=False)
def mutants(session: nox.Session) -> None:
    """Every deliberate fault must turn a test red; `--only N` for some of them."""
    install(session, "test", distributions=True)
    session.run("python", "-m", "tests.mutants", *session.posargs)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """The benchmark, in an environment of its own with the peers; arguments go to it."""
    lock = ["--require-hashes", "--no-deps", "-r", "requirements/bench.txt"]
    inside = beside(session, "bench", sys.executable, *lock)
    pip(session, inside, "--no-deps", "--no-build-isolation", *editables())
    session.run(inside, "-m", "benchmarks", *session.posargs, external=True)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """All wheels and source archives into dist/, then the tests that install them."""
    install(session, "test", distributions=True)
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    for project in PROJECTS:
        session.run("python", "-m", "build", "--no-isolation", "--outdir", str(ROOT / "dist"), str(project))
    dist = {"SCHEDCORE_TEST_WHEELS": str(ROOT / "dist")}
    session.run("pytest", "tests/house/test_wheels.py", *session.posargs, env=dist)


@nox.session(default=False)
def lock(session: nox.Session) -> None:
    """Write requirements/*.txt anew; with --upgrade, from the newest versions."""
    python = beside(session, "lock", sys.executable, "uv")
    product = session.create_tmp() + "/product.in"
    Path(product).write_text("".join(f"{line}\n" for line in third_party()), encoding="utf-8")
    for name in LOCKS:
        # The first lock has everything; the others take their versions from it.
        above = [] if name == "dev" else ["--constraints", "requirements/dev.txt"]
        inputs = [f"requirements/{name}.in", *([] if name == "build" else [product])]
        how = [
            "--universal",
            "--python-version",
            PYTHONS[0],
            "--generate-hashes",
            "--no-header",
            "--no-annotate",
        ]
        where = ["--output-file", f"requirements/{name}.txt", "--quiet"]
        compiler = [python, "-m", "uv", "pip", "compile"]
        session.run(*compiler, *inputs, *above, *how, *where, *session.posargs, external=True)


@nox.session(default=False)
def matrix(session: nox.Session) -> None:
    """The suite on every supported Python that this machine has; arguments go to pytest."""
    found = {version: python for version in PYTHONS if (python := interpreter(version))}
    for version, python in found.items():
        lock = ["--require-hashes", "--no-deps", "-r", "requirements/test.txt"]
        inside = beside(session, f"matrix-{version}", python, *lock)
        pip(session, inside, "--no-deps", "--no-build-isolation", *editables())
        session.run(inside, "-m", "pytest", *PARALLEL, *session.posargs, external=True)
    if missing := [version for version in PYTHONS if version not in found]:
        session.error(f"passed on {', '.join(found) or 'none'}; not found: {', '.join(missing)}")


def install(session: nox.Session, lock: str, *, distributions: bool = False) -> None:
    """What a session needs, from the lock; nothing where the environment is somebody else's."""
    if isinstance(session.virtualenv, PassthroughEnv):
        return
    session.install("--require-hashes", "-r", f"requirements/{lock}.txt")
    if distributions:
        session.install("--no-deps", "--no-build-isolation", *editables())


def beside(session: nox.Session, name: str, python: str, *what: str) -> str:
    """The Python of an environment of its own, for what the one that runs the session must not have.

    It is made anew when it was made by another Python or from other requirements.
    """
    folder = ROOT / ".nox" / name
    locks = [(ROOT / part).read_text(encoding="utf-8") for part in what if part.endswith(".txt")]
    made_from = json.dumps([python, *what, *locks])
    stamp = folder / "made-from"
    inside = str(folder / "bin" / "python")
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != made_from:
        session.run(python, "-m", "venv", "--clear", str(folder), external=True)
        pip(session, inside, *what)
        stamp.write_text(made_from, encoding="utf-8")
    return inside


def pip(session: nox.Session, python: str, *what: str) -> None:
    session.run(python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *what, external=True)


def editables() -> list[str]:
    return [part for project in PROJECTS for part in ("-e", str(project))]


def check_types(session: nox.Session) -> None:
    session.run("mypy", *SOURCES)


def check_contracts(session: nox.Session) -> None:
    path = os.pathsep.join(str(ROOT / source) for source in SOURCES)
    session.run("lint-imports", "--no-logo", env={"PYTHONPATH": path})


def check_locks(session: nox.Session) -> None:
    """A lock is for every index: it names none."""
    for path in sorted((ROOT / "requirements").iterdir()):
        if "://" in path.read_text(encoding="utf-8"):
            session.error(f"{path.relative_to(ROOT)} names a host; make it anew: ./dev lock")


def third_party() -> list[str]:
    """What the distributions require of others, extras included; they do not require one another here."""
    wanted: set[str] = set()
    for project in PROJECTS:
        table = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        wanted.update(table.get("dependencies", []))
        for extra in table.get("optional-dependencies", {}).values():
            wanted.update(extra)
    return sorted(line for line in wanted if not re.match(r"schedcore\b", line))


def interpreter(version: str) -> str | None:
    """A Python of that version: this one, one on PATH, or one that pyenv keeps."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return getattr(sys, "_base_executable", sys.executable)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    kept = sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))
    shims = str(pyenv / "shims")
    path = os.pathsep.join(p for p in os.environ.get("PATH", "").split(os.pathsep) if p != shims)
    return shutil.which(f"python{version}", path=path) or (str(kept[-1]) if kept else None)


if __name__ == "__main__":
    nox.main()
