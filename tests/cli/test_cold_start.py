"""What a command may import: judged by modules, not by the clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, search_path

HEAVY = {
    "alembic",
    "croniter",
    "orjson",
    "pluggy",
    "psycopg",
    "pydantic",
    "rich",
    "sqlalchemy",
    "sqlalchemy.orm",
}
ORM = {"alembic", "psycopg", "pydantic", "rich", "sqlalchemy.orm"}
PROBE = """
import json, sys
sys.argv[0] = "schedcore"
from schedcore._cli.main import main
try:
    main()
finally:
    names = [name for name in sys.modules]
    print(json.dumps(names), file=open({where!r}, "w"))
"""


def imported(words: list[str], where: Path, env: dict[str, str] | None = None) -> set[str]:
    """The modules that a process had imported when it ended."""
    subprocess.run(
        [sys.executable, "-c", PROBE.format(where=str(where)), *words],
        env={**os.environ, "PYTHONPATH": search_path(), **(env or {})},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return set(json.loads(where.read_text()))


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["version"],
        ["version", "--json"],
        ["completion", "bash"],
        ["runs", "--help"],
        ["add", "--help"],
        ["nonsense"],
        ["runs", "nonsense"],
        ["next"],
        ["list", "--nonsense"],
    ],
    ids=" ".join,
)
def test_what_asks_nothing_imports_click_and_metadata_only(words: list[str], home: Path):
    names = imported(words, home / "modules.json")

    assert "click" in names
    assert names & HEAVY == set()


def test_the_completion_of_a_command_imports_click_and_metadata_only(home: Path):
    asked = {"_SCHEDCORE_COMPLETE": "bash_complete", "COMP_WORDS": "schedcore ru", "COMP_CWORD": "1"}

    names = imported([], home / "modules.json", asked)

    assert "click" in names
    assert names & HEAVY == set()


def test_the_completion_of_a_job_needs_no_more_than_the_driver(home: Path, schedcore: Cli):
    asked = {"_SCHEDCORE_COMPLETE": "bash_complete", "COMP_WORDS": "schedcore show b", "COMP_CWORD": "2"}

    names = imported([], home / "modules.json", asked)

    assert "sqlite3" in names
    assert names & (HEAVY - {"orjson", "croniter"}) == set()


def test_an_expression_needs_no_ledger(home: Path):
    names = imported(["next", "0 9 * * *"], home / "modules.json")

    assert names & (HEAVY - {"croniter"}) == set()


@pytest.mark.parametrize("words", [["list"], ["status"], ["next", "backup"]], ids=" ".join)
def test_reading_commands_import_no_orm_no_alembic_no_models_and_no_rich(
    words: list[str], home: Path, schedcore: Cli
):
    added = schedcore("add", "backup", "0 9 * * *", "--", "/bin/true")
    assert added.code == 0, added.err

    names = imported(words, home / "modules.json")

    assert "sqlalchemy" in names
    assert names & ORM == set()
