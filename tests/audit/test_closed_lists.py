"""What the auditor wrote down a second time is still what the core has: lists, columns, schemas, moves."""

from __future__ import annotations

import ast
from pathlib import Path

import sqlalchemy as sa
from tests.house.pages import rows
from tests.house.repository import ROOT

from schedcore._audit import words
from schedcore._audit.columns import TABLES
from schedcore._audit.rules import RULES
from schedcore._audit.snapshot import READS
from schedcore._engine.moves import MOVES
from schedcore._ledger.migrate import KNOWN
from schedcore._ledger.schema import metadata
from schedcore.domain import run
from schedcore.domain.outcome import OUTCOMES

IMPORTED = {"schedcore.domain.clock", "schedcore.domain.errors"}
OTHERS = {"psycopg", "sqlalchemy", "sqlite3", "tzdata", "zoneinfo"}


def test_the_closed_lists_are_those_of_the_core() -> None:
    assert tuple(state.word for state in run.RunState) == words.STATES
    assert tuple(state.value for state in run.FINAL) == words.FINAL
    assert tuple(trigger.word for trigger in run.RunTrigger) == words.TRIGGERS
    assert {outcome: run.state_of(outcome).word for outcome in OUTCOMES} == words.OF_OUTCOME
    assert set(run.SKIP_REASONS) == words.SKIPPED
    assert set(run.HOLD_REASONS) == words.HOLDS
    assert {
        "failed": set(run.FAILED_REASONS),
        "blocked": set(run.BLOCKED_REASONS),
        "interrupted": set(run.INTERRUPTED_REASONS),
        "cancelled": set(run.CANCELLED_REASONS),
    } == words.REASONS
    assert words.JOB_MOVES == MOVES


def test_every_text_column_of_the_schema_has_a_bound_and_no_other_has() -> None:
    wanted = {
        (table.name, column.name)
        for table in metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, sa.Text)
    }

    assert {(table.name, column.name) for table in TABLES for column in table.columns} == wanted


def test_the_schemas_that_it_reads_are_those_that_there_are() -> None:
    assert READS == KNOWN


def test_the_page_has_every_rule_in_its_own_words() -> None:
    told = {row[0].strip("`"): (row[1], row[2].replace("`", "")) for row in rows("docs/fsck.md", "rule")}

    assert told == {
        name: (rule.says.replace("|", "\\|"), rule.remedy.replace("`", "")) for name, rule in RULES.items()
    }


def test_of_schedcore_it_imports_instants_and_errors_and_of_others_what_reads() -> None:
    named: set[str] = set()
    for path in (ROOT / "src/schedcore/_audit").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                named.add(node.module or "")
            elif isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
    ours = {
        name for name in named if name.startswith("schedcore") and not name.startswith("schedcore._audit")
    }
    third = {name.partition(".")[0] for name in named} - {"schedcore", "__future__"}

    assert ours == IMPORTED
    assert third & _not_of_python(third) == OTHERS - {"sqlite3", "zoneinfo"}


def _not_of_python(names: set[str]) -> set[str]:
    import sys

    return {name for name in names if name not in sys.stdlib_module_names}


def test_no_file_of_the_room_is_opened_but_by_the_database() -> None:
    """Closing a handle of one's own would drop SQLite's locks; zone files are the only ones read."""
    found = []
    for path in (ROOT / "src/schedcore/_audit").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                if name in {"open", "read_bytes", "read_text", "touch", "copy", "copyfile"}:
                    found.append(Path(path).name)

    assert found == ["zone_clock.py"]
