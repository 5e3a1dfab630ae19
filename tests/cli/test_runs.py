"""Runs from the command line: real scripts, run by ``tick``."""

from __future__ import annotations

import json
from threading import Thread

import pytest
from tests.cli.conftest import Cli


@pytest.fixture
def ran(schedcore: Cli) -> Cli:
    """A ledger with run 1 of ``hello``, which succeeded, and run 2 of ``bad``, which failed."""
    schedcore("add", "hello", "@yearly", "--", "/bin/sh", "-c", "echo hello; echo oops >&2")
    schedcore("add", "bad", "@yearly", "--set", "attempts=1", "--", "/bin/sh", "-c", "exit 3")
    assert schedcore("run", "hello").code == 0
    assert schedcore("run", "bad").code == 0
    ticked = schedcore("tick")
    assert ticked.code == 0, ticked.err
    assert ticked.lines[-1] == "2 runs ended"
    return schedcore


def test_the_list_shows_what_became_of_them(ran: Cli):
    runs = ran("runs", "list", "--json").json["runs"]

    assert [(run["key"], run["state"], run["reason"]) for run in runs] == [
        ("bad", "failed", "exit_code"),
        ("hello", "succeeded", None),
    ]
    assert ran("runs", "list").lines[0].split()[:5] == ["RUN", "JOB", "SLOT", "TRIGGER", "STATE"]


def test_lists_of_runs_are_narrowed(ran: Cli):
    def keys(*words: str) -> list[str]:
        return [run["key"] for run in ran("runs", "list", "--json", *words).json["runs"]]

    assert keys("--state", "failed") == ["bad"]
    assert keys("--job", "hello") == ["hello"]
    assert keys("--trigger", "manual") == ["bad", "hello"]
    assert keys("--trigger", "schedule") == []
    assert keys("--since", "1h") == ["bad", "hello"]
    assert keys("--until", "1h") == []
    assert keys("--limit", "1") == ["bad"]


def test_a_run_is_shown_whole(ran: Cli):
    shown = ran("runs", "show", "2", "--json").json
    told = ran("runs", "show", "2")

    assert shown["exit_code"] == 3
    assert shown["v"] == 1
    assert "exit_code: 3" in told.out
    assert ran("runs", "show", "99").code == 3
    assert ran("runs", "show", "x").code == 2


def test_the_output_of_a_run_is_printed(ran: Cli):
    told = ran("runs", "logs", "1")

    assert told.code == 0
    assert sorted(told.lines) == ["hello", "oops"]
    assert sorted(ran("runs", "logs", "1", "--follow").lines) == ["hello", "oops"]


def test_attempts_and_the_trace_are_shown(ran: Cli):
    (attempt,) = ran("runs", "attempts", "2", "--json").json["attempts"]

    assert attempt["outcome"] == "failed"
    assert attempt["exit_code"] == 3
    assert ran("runs", "attempts", "2").lines[0].split()[:4] == ["TRY", "STARTED", "TOOK", "OUTCOME"]
    trace = ran("runs", "trace", "2")
    assert trace.lines[0].startswith("run 2 of bad: failed (exit_code)")
    assert "run 2 by person" in trace.out


def test_waiting_exits_with_the_outcome(ran: Cli):
    assert ran("runs", "wait", "1").code == 0
    assert ran("runs", "wait", "2").code == 1
    assert ran("runs", "wait", "2", "--json").json["state"] == "failed"


def test_waiting_too_long_is_124(schedcore: Cli):
    schedcore("add", "hello", "@yearly", "--", "/bin/true")
    schedcore("run", "hello")

    assert schedcore("runs", "wait", "1", "--timeout", "0.1").code == 124
    assert schedcore("run", "hello", "--overlap", "parallel", "--wait", "--timeout", "0.1").code == 124


def test_a_run_that_no_host_can_take_is_warned_of(schedcore: Cli):
    schedcore("add", "hello", "@yearly", "--", "/bin/true")

    told = schedcore("run", "hello")

    assert told.code == 0
    assert told.err.startswith("warning: no live host offers 'script'")


def test_a_retry_is_a_run_of_its_own_linked_to_the_first(ran: Cli):
    tried = ran("runs", "retry", "2", "--dry-run", "--json")
    told = ran("runs", "retry", "2", "--reason", "the disk was full", "--json")

    assert tried.json["dry_run"] is True
    assert told.code == 0, told.err
    assert told.json["retry_of"] == 2


def test_a_queued_run_is_cancelled_with_a_reason_and_a_yes(schedcore: Cli):
    schedcore("add", "hello", "@yearly", "--", "/bin/true")
    schedcore("run", "hello")

    assert schedcore("runs", "cancel", "1", "--yes").code == 2
    assert schedcore("runs", "cancel", "1", "--reason", "a mistake").code == 2
    told = schedcore("runs", "cancel", "1", "--reason", "a mistake", "--yes")

    assert told.code == 0
    assert told.lines == ["run 1 of hello is cancelled"]
    assert schedcore("runs", "cancel", "1", "--reason", "again", "--yes").code == 4


def test_a_final_run_cannot_be_released(ran: Cli):
    assert ran("runs", "release", "1", "--reason", "its host died", "--yes").code == 4


def test_running_twice_is_a_conflict_that_names_the_way_out(schedcore: Cli):
    schedcore("add", "hello", "@yearly", "--", "/bin/true")
    schedcore("run", "hello")

    told = schedcore("run", "hello")

    assert told.code == 4
    assert "--overlap parallel" in told.err


def test_run_and_wait_prints_the_output_and_exits_with_the_outcome(schedcore: Cli, process: Cli):
    schedcore("add", "hello", "@yearly", "--", "/bin/sh", "-c", "echo hello; exit 0")
    schedcore("add", "bad", "@yearly", "--set", "attempts=1", "--", "/bin/sh", "-c", "echo no; exit 3")
    served = Thread(target=lambda: process("serve", "--for", "6s", "-q"))
    served.start()
    try:
        good = schedcore("run", "hello", "--wait", "--timeout", "30")
        bad = schedcore("run", "bad", "--wait", "--timeout", "30", "--json")
    finally:
        served.join()

    assert (good.code, good.out) == (0, "hello\n")
    assert "succeeded" in good.err
    assert bad.code == 1
    assert json.loads(bad.out)["exit_code"] == 3
