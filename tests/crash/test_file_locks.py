"""The live SQLite file: its settings, its locks, and nobody who opens it behind its back (L-02, fault_R40, R41)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from schedcore._ledger.ledger import Ledger
from schedcore.testing import open_ledger, until
from tests.crash.fleet import Fleet, no_lock_error
from tests.house.repository import ROOT

NAIVE = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "touch", "copyfile", "copy", "copy2"}


@pytest.fixture
def file(sqlite_fleet: Fleet) -> Path:
    path = sqlite_fleet.hand.ledger.path
    assert isinstance(path, Path)
    return path


def test_every_connection_of_a_host_is_wal_full_and_keeps_foreign_keys(sqlite_fleet: Fleet) -> None:
    asked = ("journal_mode", "synchronous", "foreign_keys")
    ledger = sqlite_fleet.hand.ledger
    with ledger.read() as one, ledger.read() as two, ledger.read() as three:
        told = [[c.exec_driver_sql(f"pragma {name}").scalar() for name in asked] for c in (one, two, three)]
        checkpoints = [c.exec_driver_sql("pragma wal_autocheckpoint").scalar() for c in (one, two, three)]

    assert told == [["wal", 2, 1]] * 3
    if ledger.dialect.wal_reset_fault():
        assert checkpoints == [0] * 3


def test_fault_r41_no_code_opens_the_file_of_the_ledger_but_sqlite() -> None:
    """``….path.open()``, ``open(ledger.path)`` and the like, anywhere in the source."""
    found = []
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in NAIVE and "ledger.path" in ast.unparse(node):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []


def test_fault_r41_the_writers_lock_survives_everything_a_host_does_with_its_file(
    sqlite_fleet: Fleet, file: Path
) -> None:
    control = sqlite_fleet.hand.control()
    ledger: Ledger = sqlite_fleet.hand.ledger
    with ledger.write() as c:
        c.exec_driver_sql("update ledger set incarnation = incarnation")

        control.status(check=True)
        control.doctor()
        control.stats()
        another = open_ledger(sqlite_fleet.url)

        assert _another_process_is_refused(file)
    another.close()


def test_fault_r41_a_plain_open_in_this_process_would_drop_it(sqlite_fleet: Fleet, file: Path) -> None:
    """Why the two above are asked: the fault is real on this machine."""
    with sqlite_fleet.hand.ledger.write() as c:
        c.exec_driver_sql("update ledger set incarnation = incarnation")
        assert _another_process_is_refused(file)

        file.with_name(file.name + "-shm").open("rb").close()

        if _another_process_is_refused(file):
            pytest.skip("locks survive a plain close here")


_LOOK = """
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], timeout=0)
try:
    c.execute("begin immediate")
except sqlite3.OperationalError:
    sys.exit(9)
"""


def _another_process_is_refused(file: Path) -> bool:
    done = subprocess.run([sys.executable, "-S", "-c", _LOOK, str(file)], check=False)
    return done.returncode == 9


def test_fault_r40_processes_that_read_and_then_write_meet_no_busy_error(sqlite_fleet: Fleet) -> None:
    fleet = sqlite_fleet
    fleet.together("a", "b", "c", lease=15, beat=0.2)
    keys = [f"job-{n}.per1" for n in range(30)]
    fleet.add_many(keys, every="1s")

    for n in range(60):
        fleet.hand.control().edit(keys[n % 30], {"description": f"the {n}th"})

    assert until(lambda: len(fleet.record("finished")) > 60, 15)
    assert no_lock_error(fleet)
