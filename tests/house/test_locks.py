"""The lock files: hashed, complete, and of no particular index."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.house.repository import PROJECTS, ROOT, declared

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))

each_lock = pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)


def pinned(lock: Path) -> dict[str, str]:
    text = lock.read_text(encoding="utf-8").replace("\\\n", " ")
    wanted = (Requirement(line.split("--hash")[0]) for line in text.splitlines() if line.strip())
    return {line.name: str(line.specifier) for line in wanted}


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").iterdir()), ids=lambda path: path.name)
def test_no_file_of_requirements_names_a_host(path: Path):
    assert "://" not in path.read_text(encoding="utf-8")


@each_lock
def test_every_line_is_pinned_and_hashed(lock: Path):
    lines = lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()

    assert lines
    assert [line for line in lines if "==" not in line or "--hash=sha256:" not in line] == []


@each_lock
def test_every_lock_has_a_source_and_agrees_with_the_one_that_has_everything(lock: Path):
    everything = pinned(ROOT / "requirements/dev.txt")
    found = pinned(lock)
    if lock.stem == "bench":  # the peers of the benchmark are nobody else's business
        found = {name: version for name, version in found.items() if name in everything}

    assert lock.with_suffix(".in").exists()
    assert found.items() <= everything.items()


def test_the_lock_has_all_that_the_distributions_require():
    everything = pinned(ROOT / "requirements/dev.txt")
    missing = []
    for project in PROJECTS:
        told = declared(project)
        extras = told.get("optional-dependencies", {}).values()
        for line in [*told.get("dependencies", []), *(line for extra in extras for line in extra)]:
            wanted = Requirement(line)
            version = everything.get(wanted.name, "==0").removeprefix("==")
            if not wanted.name.startswith("schedcore-") and version not in wanted.specifier:
                missing.append(line)

    assert missing == [], "make the locks anew: ./dev lock"
