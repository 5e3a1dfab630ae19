"""How calls end that do not end well: the sentence, and the code of each kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import STARTER, Cli, search_path

from schedcore._cli import ending
from schedcore.domain.errors import Conflict, LedgerError, NotFound, PluginFault, Refused


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PluginFault("x"), 1),
        (Refused("x"), 2),
        (NotFound("x"), 3),
        (Conflict("x"), 4),
        (LedgerError("x"), 5),
        (ConnectionRefusedError("x"), 5),
        (KeyboardInterrupt(), 130),
        (RuntimeError("x"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_each_kind_of_error_has_its_exit_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
):
    assert ending.report(error, []) == code
    assert ending.report(error, ["--json"]) == code

    said = capsys.readouterr()
    assert said.out == ""
    assert set(json.loads(said.err.splitlines()[-1])["error"]) == {
        "code",
        "message",
        "field",
        "value",
        "hint",
    }


def test_an_error_says_field_message_and_hint(cli: Cli):
    told = cli("next", "--every", "30")

    assert told.code == 2
    assert told.out == ""
    assert told.err.startswith("error: every: ")
    assert "\n  hint: " in told.err


def test_with_json_an_error_is_one_object_on_stderr(cli: Cli):
    told = cli("--json", "next", "0 25 * * *")

    assert (told.code, told.out) == (2, "")
    assert told.error["field"] == "cron"
    assert told.error["value"] == "25"


def test_a_usage_error_is_json_too(cli: Cli):
    told = cli("list", "--json", "--nonsense")

    assert told.code == 2
    assert told.error["code"] == "usage"


def test_after_two_dashes_json_is_an_argument_of_the_program(cli: Cli):
    told = cli("add", "a b", "--every", "30m", "--", "echo", "--json")

    assert told.code in {2, 5}
    assert not told.err.startswith("{")


def test_a_typo_in_a_command_proposes_the_nearest(cli: Cli):
    told = cli("histroy")

    assert told.code == 2
    assert "Did you mean 'history'?" in told.err


def test_a_bare_duration_is_refused_with_both_ways(cli: Cli):
    for words in (["next", "30m"], ["add", "ping", "30m"]):
        told = cli(*words)

        assert told.code == 2
        assert "--every 30m" in told.err
        assert "--in 30m" in told.err


def test_no_ledger_is_exit_5_and_says_what_to_do(cli: Cli):
    told = cli("list")

    assert told.code == 5
    assert "schedcore db upgrade" in told.err


def test_an_unknown_zone_is_refused(cli: Cli):
    told = cli("next", "0 9 * * *", "--tz", "Europe/Berlim")

    assert told.code == 2
    assert "Europe/Berlin" in told.err


def test_a_language_without_words_is_refused(cli: Cli):
    told = cli("next", "0 9 * * *", "--lang", "tlh")

    assert told.code == 2
    assert "tlh" in told.err


def test_a_reader_that_has_enough_is_no_error(home: Path):
    words = f"{sys.executable} -c '{STARTER}' config schema | head -n 1 >/dev/null; echo ${{PIPESTATUS[0]}}"

    done = subprocess.run(
        ["bash", "-c", words],
        env={**os.environ, "PYTHONPATH": search_path()},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() in {"0", "141"}
    assert done.stderr == ""


def test_what_is_shown_of_an_error_stays_on_its_line(cli: Cli):
    told = cli("next", "0 9 * *\n\x1b[31m *")

    assert told.code == 2
    assert "\x1b" not in told.err
