"""Completion: what a shell gets after TAB, and that it never hears of trouble."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import click
import pytest
from tests.cli.conftest import Answer, Cli

from schedcore._cli import job_argument


def ask(process: Cli, words: str) -> Answer:
    """What bash is told for these words; the last one is incomplete."""
    count = len(words.split(" ")) - 1
    return process(
        env={"_SCHEDCORE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    )


def values(told: Answer) -> list[str]:
    """The values among the answers."""
    return [line.partition(",")[2] for line in told.lines if line]


def test_commands_and_their_commands_are_completed(process: Cli):
    assert values(ask(process, "schedcore ru")) == ["run", "runs"]
    assert values(ask(process, "schedcore runs re")) == ["retry", "release"]
    assert "--overlap" in values(ask(process, "schedcore run --"))


def test_keys_of_live_jobs_are_completed(schedcore: Cli, process: Cli):
    for key in ("backup", "brief", "b_x", "gone"):
        schedcore("add", key, "@daily", "--", "/bin/true")
    schedcore("remove", "gone", "--yes")

    assert values(ask(process, "schedcore show b")) == ["b_x", "backup", "brief"]
    assert values(ask(process, "schedcore show b_")) == ["b_x"]
    assert values(ask(process, "schedcore runs list --job ba")) == ["backup"]
    assert values(ask(process, "schedcore show g")) == []


def test_no_ledger_a_bad_file_and_bad_settings_are_silence(process: Cli, home: Path):
    def silent() -> None:
        told = ask(process, "schedcore show b")
        assert (told.code, told.out.strip(), told.err) == (0, "", "")

    silent()
    assert not (home / ".local").exists()
    folder = home / ".local/state/schedcore"
    folder.mkdir(parents=True)
    (folder / "ledger.db").write_bytes(b"no database" * 100)
    silent()
    (home / "schedcore.toml").write_text("[")
    silent()


def test_a_completion_changes_no_byte_of_the_ledger(schedcore: Cli, process: Cli, home: Path):
    schedcore("add", "backup", "@daily", "--", "/bin/true")
    ledger = home / ".local/state/schedcore/ledger.db"
    before = ledger.read_bytes()

    assert values(ask(process, "schedcore show b")) == ["backup"]

    assert ledger.read_bytes() == before


def test_a_ledger_that_is_held_is_given_up_in_time(
    schedcore: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
):
    def slow(*_: object) -> list[str]:
        time.sleep(2)
        return ["late"]

    monkeypatch.setattr("schedcore._host.completing.job_keys", slow)
    ctx = click.Context(click.Command("show"))
    begun = time.monotonic()

    found = job_argument.complete_job(ctx, click.Argument(["job"]), "")

    assert found == []
    assert time.monotonic() - begun < 1


def test_a_writer_does_not_hold_up_a_completion(schedcore: Cli, process: Cli, home: Path):
    schedcore("add", "backup", "@daily", "--", "/bin/true")
    writer = sqlite3.connect(home / ".local/state/schedcore/ledger.db", isolation_level=None)
    writer.execute("begin immediate")

    assert values(ask(process, "schedcore show b")) == ["backup"]

    writer.execute("rollback")
    writer.close()
