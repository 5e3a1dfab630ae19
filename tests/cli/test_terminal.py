"""What is different on a terminal: questions, colour, and output that cannot speak to it."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.cli.conftest import STARTER, Cli, search_path


def on_terminal(
    *words: str, types: str = "", env: dict[str, str] | None = None, starter: str = STARTER
) -> tuple[int, str]:
    """Call the command with a terminal as its stdin, stdout and stderr; answers (code, all it showed).

    ``types`` is typed once a question is there.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the suite in the background ignores it
        environment = {**os.environ, "PYTHONPATH": search_path(), **(env or {})}
        os.execve(sys.executable, [sys.executable, "-c", starter, *words], environment)
    shown = b""
    until = time.monotonic() + 60
    while True:
        if not select.select([terminal], [], [], max(0.0, until - time.monotonic()))[0]:
            os.kill(pid, signal.SIGKILL)
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
        if types and b"[y/N]" in shown:
            time.sleep(0.3)  # a key between the question and the reading of its answer would be lost
            os.write(terminal, types.encode())
            types = ""
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


@pytest.fixture
def backup(schedcore: Cli) -> Cli:
    """A ledger with the job ``backup``."""
    schedcore("add", "backup", "@daily", "--", "/bin/true")
    return schedcore


def test_a_person_is_asked_and_may_say_no(backup: Cli):
    code, shown = on_terminal("remove", "backup", types="n\n")

    assert code == 1
    assert "Retire job backup?" in shown
    assert "nothing was done" in shown
    assert backup("show", "backup", "--json").json["state"] == "active"


def test_a_person_may_say_yes(backup: Cli):
    code, _ = on_terminal("remove", "backup", types="y\n")

    assert code == 0
    assert backup("show", "backup", "--json").json["state"] == "retired"


def test_an_interrupted_question_is_130(backup: Cli):
    code, _ = on_terminal("remove", "backup", types="\x03")

    assert code == 130
    assert backup("show", "backup", "--json").json["state"] == "active"


def test_states_are_coloured_on_a_terminal_only(backup: Cli):
    assert "\x1b[32mactive" in on_terminal("list")[1]
    assert "\x1b[" not in backup("list").out


def test_colour_can_be_turned_off_and_on(backup: Cli):
    assert "\x1b[" not in on_terminal("list", env={"NO_COLOR": "1"})[1]
    assert "\x1b[" not in on_terminal("list", env={"TERM": "dumb"})[1]
    assert "\x1b[" not in on_terminal("list", "--color", "never")[1]
    assert "\x1b[32m" in backup("list", "--color", "always").out


def test_forced_colour_is_obeyed_where_there_is_no_terminal(backup: Cli, process: Cli):
    assert "\x1b[32m" in process("list", env={"FORCE_COLOR": "1"}).out
    assert "\x1b[32m" not in process("list", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out


def test_output_of_a_run_cannot_speak_to_the_terminal(schedcore: Cli, home: Path):
    schedcore("add", "evil", "@yearly", "--", "/bin/printf", "a\\033]0;owned\\007\\tb\\n")
    schedcore("run", "evil")
    schedcore("tick")

    shown = on_terminal("runs", "logs", "1")[1]

    assert "\x1b" not in shown
    assert "a\\x1b]0;owned\\x07\tb" in shown
    assert schedcore("runs", "logs", "1").out == "a\x1b]0;owned\x07\tb\n"
