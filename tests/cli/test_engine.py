"""Hosts, holds and the ledger from the command line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.conftest import Cli


def test_without_a_host_status_check_is_1_and_says_why(schedcore: Cli):
    told = schedcore("status", "--check")

    assert told.code == 1
    assert "not well: " in told.out
    assert schedcore("status").code == 0
    assert schedcore("status", "--json", "--check").json["ok"] is False


def test_doctor_names_what_nobody_checks(schedcore: Cli):
    schedcore("add", "hello", "@daily", "--", "/bin/true")

    told = schedcore("doctor", "--json")

    assert any(finding["job"] == "hello" for finding in told.json["findings"])
    assert told.code == int(any(finding["level"] == "bad" for finding in told.json["findings"]))
    assert schedcore("doctor").code == told.code


def test_halt_stops_all_claims_until_it_is_lifted(schedcore: Cli):
    schedcore("add", "hello", "@yearly", "--", "/bin/true")
    schedcore("run", "hello")
    assert schedcore("halt", "on").code == 2

    assert schedcore("halt", "on", "--reason", "moving house").code == 0
    assert schedcore("tick").lines[-1] == "0 runs ended"
    assert schedcore("halt", "off", "--reason", "moved").code == 0
    assert schedcore("tick").lines[-1] == "1 runs ended"


def test_a_tick_runs_what_is_due_and_leaves(schedcore: Cli):
    schedcore("add", "hello", "--at", "2000-01-01T00:00", "--", "/bin/true")
    schedcore("add", "now", "--in", "0s", "--", "/bin/echo", "hi")

    tried = schedcore("tick", "--dry-run", "--json")
    told = schedcore("tick", "--json")

    assert tried.json["due"] == ["now"]
    assert json.loads(told.lines[-1])["finished"] == 1
    assert schedcore("show", "now", "--json").json["state"] == "done"
    assert schedcore("engine", "list", "--json").json["hosts"] == []
    assert len(schedcore("engine", "list", "--all", "--json").json["hosts"]) == 1


def test_a_host_that_is_not_there_cannot_be_drained(schedcore: Cli):
    assert schedcore("engine", "drain", "nobody").code == 3


def test_the_ledger_is_made_and_upgraded_by_order(cli: Cli, home: Path):
    planned = cli("db", "upgrade", "--dry-run")
    assert "CREATE TABLE" in planned.out
    assert not (home / ".local").exists()

    assert cli("db", "upgrade").code == 0
    assert cli("db", "upgrade", "--json").json["before"] == cli("db", "upgrade", "--json").json["after"]
    assert "already" in cli("db", "upgrade").out


def test_a_ledger_of_a_newer_schema_is_not_opened(schedcore: Cli, home: Path):
    path = home / ".local/state/schedcore/ledger.db"
    with sqlite3.connect(path) as connection:
        connection.execute("update schedcore_version set version_num = '9999'")
    connection.close()

    for words in (["list"], ["db", "upgrade"], ["tick"]):
        told = schedcore(*words)

        assert told.code == 5
        assert "9999" in told.err
        assert "0001" in told.err


def test_the_ledger_is_checked_and_counted(schedcore: Cli):
    assert schedcore("db", "check").code == 0
    assert schedcore("db", "check", "--json").json["ok"] is True
    assert schedcore("db", "stats", "--json").json["tables"]["jobs"] == 0
    assert schedcore("db", "stats").lines[0].split() == ["TABLE", "ROWS"]


def test_a_ledger_that_is_damaged_is_5_and_left_as_it_is(schedcore: Cli, home: Path):
    path = home / ".local/state/schedcore/ledger.db"
    damaged = b"not a database at all" * 1_000
    for rest in path.parent.glob("ledger.db-*"):
        rest.unlink()
    path.write_bytes(damaged)

    told = schedcore("list")

    assert told.code == 5
    assert path.read_bytes() == damaged


def test_events_are_a_stream_of_objects(schedcore: Cli):
    schedcore("add", "hello", "@daily", "--", "/bin/true")
    schedcore("pause", "hello", "--reason", "for now")

    told = [json.loads(line) for line in schedcore("events", "tail", "--json").lines]

    assert [event["action"] for event in told] == ["create", "pause"]
    assert all(event["v"] == 1 for event in told)
    assert "pause by person" in schedcore("events", "tail", "-n", "1").out


@pytest.mark.parametrize(
    "words", [["list"], ["runs", "list"], ["status"], ["engine", "list"], ["events", "tail"]]
)
def test_a_read_changes_nothing(schedcore: Cli, home: Path, words: list[str]):
    schedcore("add", "hello", "@daily", "--", "/bin/true")

    before = schedcore("export").lines[1:]
    assert schedcore(*words).code == 0
    assert schedcore("export").lines[1:] == before


def test_one_smoke_on_postgresql(cli: Cli, postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    weaker = '["synchronous_commit", "fsync", "full_page_writes"]'  # as a server of tests is
    monkeypatch.setenv("SCHEDCORE_ACCEPT_WEAKER", weaker)

    def call(*words: str) -> object:
        told = cli("--ledger", postgres_url, *words)
        assert told.code == 0, f"{words}: {told.err}"
        return told

    call("db", "upgrade")
    call("add", "pg", "@yearly", "--", "/bin/echo", "from postgresql")
    call("run", "pg")
    call("tick")
    assert call("runs", "logs", "1").out == "from postgresql\n"
    assert "pg" in call("list").out
    call("status")
    call("why", "pg", "2099-01-01T00:00Z")
    call("export", "--dry-run")
    call("remove", "pg", "--yes")
