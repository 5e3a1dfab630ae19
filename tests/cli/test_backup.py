"""``schedcore db backup``, ``db restore`` and ``db drill`` from the command line: words, exit codes, JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Cli


@pytest.fixture
def ran(schedcore: Cli) -> Cli:
    """A ledger in which something has run."""
    schedcore("add", "hello", "@daily", "--", "/bin/true")
    schedcore("run", "hello")
    schedcore("tick")
    return schedcore


def test_a_backup_is_made_drilled_and_restored(ran: Cli, home: Path) -> None:
    made = ran("db", "backup")
    drilled = ran("db", "drill")
    ran("remove", "hello", "--yes")
    restored = ran("db", "restore", "--replace", "--yes")

    assert (made.code, drilled.code, restored.code) == (0, 0, 0), (made.err, drilled.err, restored.err)
    assert made.out.startswith(str(home / ".local/state/schedcore/backups/schedcore-2"))
    assert drilled.lines[-1].endswith("rows restored, the same as backed up, and true")
    assert "written over: 1 jobs and 1 runs" in restored.out
    assert ran("show", "hello", "--json").json["state"] == "active"
    assert ran("fsck").code == 0


def test_each_answers_one_object(ran: Cli) -> None:
    made = ran("db", "backup", "--json").json
    drilled = ran("db", "drill", "--json").json
    restored = ran("db", "restore", "--dry-run", "--json").json

    assert (made["v"], made["tables"]["runs"], made["removed"], made["dry_run"]) == (1, 1, [], False)
    assert (drilled["v"], drilled["ok"], drilled["problems"]) == (1, True, [])
    assert drilled["backup"]["file"] == made["file"] == restored["backup"]["file"]
    assert (restored["v"], restored["target"]["runs"], restored["incarnation"]) == (1, 1, 2)


def test_nothing_that_has_jobs_is_written_over_without_a_yes(ran: Cli) -> None:
    ran("db", "backup")

    unasked = ran("db", "restore", "--json")
    unsure = ran("db", "restore", "--replace", "--json")

    assert (unasked.code, unasked.error["code"]) == (4, "ledger_not_empty")
    assert (unsure.code, unsure.error["code"]) == (2, "needs_yes")


def test_a_restored_ledger_is_on_hold_until_an_operator_has_looked(ran: Cli) -> None:
    ran("db", "backup")
    ran("db", "restore", "--replace", "--yes")
    ran("run", "hello")

    ran("tick")
    held = [run["state"] for run in ran("runs", "list", "--json").json["runs"]]
    ran("halt", "off")
    ran("tick")
    after = [run["state"] for run in ran("runs", "list", "--json").json["runs"]]

    assert (held, after) == (["queued", "succeeded"], ["succeeded", "succeeded"])


def test_a_drill_of_a_spoilt_backup_is_exit_1(ran: Cli) -> None:
    file = Path(ran("db", "backup", "--json").json["file"])
    file.write_bytes(file.read_bytes()[:-1])

    told = ran("db", "drill")

    assert told.code == 1
    assert "it was cut" in told.out


@pytest.mark.parametrize("command", ["restore", "drill"])
def test_where_there_is_no_backup_it_is_exit_3(ran: Cli, command: str) -> None:
    told = ran("db", command, "--json")

    assert (told.code, told.error["code"]) == (3, "no_backup")
    assert "schedcore db backup" in told.error["hint"]


def test_without_a_ledger_there_is_nothing_to_back_up(cli: Cli, home: Path) -> None:
    told = cli("db", "backup", "--json")

    assert (told.code, told.error["code"]) == (5, "no_ledger")
    assert not (home / ".local/state/schedcore/backups").exists()


def test_a_backup_restores_a_ledger_that_is_gone(ran: Cli, home: Path) -> None:
    ran("db", "backup", str(home / "mine.backup"))
    for path in (home / ".local/state/schedcore").glob("ledger.db*"):
        path.unlink()

    told = ran("db", "restore", str(home / "mine.backup"))

    assert told.code == 0, told.err
    assert ran("list", "--json").json["jobs"][0]["key"] == "hello"
