"""Rooms stay small, and what is silenced says why."""

from __future__ import annotations

import re
from pathlib import Path

from tests.house.repository import PROJECTS, ROOT

MOST_LINES = 350
REVISIONS = ROOT / "src/schedcore/_ledger/migrations/versions"  # a revision is the whole schema of its day
SHIPPED = sorted(path for project in PROJECTS for path in (project / "src").rglob("*.py"))
WRITTEN = sorted(
    path
    for room in ("src", "plugins", "tests", "benchmarks", "examples")
    for path in (ROOT / room).rglob("*.py")
    if not {"build", ".venv"} & set(path.parts)
)
UNEXPLAINED = re.compile(r"# type: ignore(?!\[[\w, -]+\]  # \w)")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_there_are_rooms_to_look_at():
    assert len(SHIPPED) > 100


def test_a_room_has_fewer_lines_than_it_may():
    """What is longer holds a second idea, which wants a name and a file of its own."""
    rooms = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SHIPPED}

    large = {name_of(path): n for path, n in rooms.items() if n >= MOST_LINES and path.parent != REVISIONS}

    assert large == {}


def test_whatever_is_hidden_from_the_type_checker_says_which_fault_and_why():
    found = [
        f"{name_of(path)}:{number}"
        for path in WRITTEN
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if UNEXPLAINED.search(line)
    ]

    assert found == []
