"""``serve`` as a real process: what it shows, how it stops, what it tells systemd, how it takes changed files."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from tests.cli.conftest import STARTER, Cli, search_path

SETTINGS = """
every_floor = "1s"
beat = "1s"
[jobs.pulse]
kind = "script"
every = "1s"
payload = {args = ["/bin/sh", "-c", "echo pulse"]}
"""
PATIENCE_S = 30


class Served:
    """A running ``serve``; its output goes to files, so that nobody must read along."""

    def __init__(
        self, folder: Path, *words: str, env: dict[str, str] | None = None, starter: str = STARTER
    ) -> None:
        self.out, self.err = folder / "out.txt", folder / "err.txt"
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-u", "-c", starter, "serve", *words],
                env={**os.environ, "PYTHONPATH": search_path(), **(env or {})},
                stdout=out,
                stderr=err,
                cwd=folder,
            )

    def wait_for(self, text: str) -> None:
        """Wait until it has printed this."""
        until = time.monotonic() + PATIENCE_S
        while text not in self.out.read_text() and text not in self.err.read_text():
            assert time.monotonic() < until, f"no {text!r} in {self.out.read_text()} {self.err.read_text()}"
            assert self.process.poll() is None or text in self.out.read_text(), self.err.read_text()
            time.sleep(0.02)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and wait for the end."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextmanager
def serving(
    home: Path, *words: str, env: dict[str, str] | None = None, starter: str = STARTER
) -> Iterator[Served]:
    served = Served(home, *words, env=env, starter=starter)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.process.kill()
            served.process.wait()


@pytest.fixture
def settings(home: Path) -> Path:
    """A settings file with the job ``pulse``, each second."""
    path = home / "schedcore.toml"
    path.write_text(SETTINGS)
    return path


def test_it_shows_planned_running_and_finished_runs_and_sums_up(home: Path, settings: Path):
    with serving(home) as served:
        served.wait_for("succeeded    pulse")
        assert served.stop() == 0

    lines = served.out.read_text().splitlines()
    assert any("planned      pulse" in line for line in lines)
    assert any("running      pulse" in line for line in lines)
    assert lines[-2].split() == ["JOB", "RUNS", "SKIPPED"]
    assert lines[-1].startswith("pulse  ")
    assert "succeeded" in lines[-3]


def test_it_ends_by_itself_when_told_to(process: Cli, settings: Path):
    assert process("serve", "--for", "1s", "-q").code == 0
    assert process("serve", "--for", "1").code == 2


def test_with_json_it_is_a_stream_of_objects_that_says_what_the_ledger_says(
    cli: Cli, home: Path, settings: Path
):
    with serving(home, "--json") as served:
        served.wait_for('"finished"')
        served.stop()

    events = [json.loads(line) for line in served.out.read_text().splitlines()]
    assert {event["what"] for event in events} == {"planned", "started", "finished", "summary"}
    ended = [event for event in events if event["what"] == "finished"]
    assert {event["job"] for event in ended} == {"pulse"}
    assert len(ended[0]["scheduled_for"]) == 24
    kept = cli("runs", "list", "--json", "--state", "succeeded").json["runs"]
    assert sorted(event["run"] for event in ended) == sorted(run["id"] for run in kept)
    assert events[-1]["jobs"]["pulse"]["runs"]["succeeded"] == len(kept)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_drains(cli: Cli, home: Path, number: int):
    (home / "schedcore.toml").write_text(
        '[jobs.slow]\nkind = "script"\nin = "0s"\n'
        'payload = {args = ["/bin/sh", "-c", "echo begun; sleep 2; echo ended"]}\n'
    )
    with serving(home) as served:
        served.wait_for("running      slow")

        code = served.stop(number)

    assert code == 0
    assert "succeeded    slow" in served.out.read_text()
    assert cli("runs", "logs", "1").lines == ["begun", "ended"]
    assert cli("engine", "list", "--json").json["hosts"] == []


def test_the_second_signal_stops_at_once(cli: Cli, home: Path):
    (home / "schedcore.toml").write_text(
        '[jobs.slow]\nkind = "script"\nin = "0s"\npayload = {args = ["/bin/sleep", "60"]}\n'
    )
    with serving(home) as served:
        served.wait_for("running      slow")
        served.process.send_signal(signal.SIGINT)
        time.sleep(0.5)

        code = served.stop(signal.SIGINT)

    assert code == 130
    run = cli("runs", "show", "1", "--json").json
    assert (run["state"], run["reason"]) == ("interrupted", "shutdown")


def test_it_tells_systemd_ready_after_the_first_beat_alive_at_each_and_stopping(home: Path, settings: Path):
    address = home / "notify"
    ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    ear.bind(str(address))
    ear.settimeout(PATIENCE_S)
    with serving(home, env={"NOTIFY_SOCKET": str(address), "WATCHDOG_USEC": "4000000"}) as served:
        first = ear.recv(4096).decode()
        second = ear.recv(4096).decode()
        served.stop()
    words = []
    ear.settimeout(0.1)
    try:
        while True:
            words.append(ear.recv(4096).decode())
    except TimeoutError:
        ear.close()

    assert "READY=1" in first
    assert first.startswith("STATUS=")
    assert "WATCHDOG=1" in second
    assert "READY=1" not in second
    assert any("STOPPING=1" in word for word in words)


def test_the_watchdog_of_another_process_is_not_ours():
    from schedcore._cli.service import Systemd

    assert Systemd({"WATCHDOG_USEC": "4000000", "WATCHDOG_PID": "1"}, 2).watchdog_s is None
    assert Systemd({"WATCHDOG_USEC": "4000000", "WATCHDOG_PID": "2"}, 2).watchdog_s == 4.0
    assert Systemd({"WATCHDOG_USEC": "x"}, 2).watchdog_s is None
    assert Systemd({"NOTIFY_SOCKET": "/nowhere"}, 2).say("READY=1") is False
    assert Systemd({}, 2).say("READY=1") is False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has such a flag")
def test_the_memory_of_the_service_is_closed_to_others(home: Path):
    ask = "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    words = f"from schedcore._cli.service import close_memory; assert close_memory(); {ask}"

    done = subprocess.run(
        [sys.executable, "-c", words],
        env={**os.environ, "PYTHONPATH": search_path()},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "0\n"


def test_changed_files_are_taken_while_it_serves(cli: Cli, home: Path, settings: Path):
    with serving(home) as served:
        served.wait_for("succeeded    pulse")
        settings.write_text(SETTINGS.replace("[jobs.pulse]", "[jobs.beat]"))
        served.wait_for("succeeded    beat")
        served.stop()

    assert "the files have changed: creates: beat; retires: pulse" in served.out.read_text()
    assert cli("show", "pulse", "--json").json["state"] == "retired"
    assert cli("history", "pulse", "--json").json["events"][-1]["actor_kind"] == "source"


def test_a_bad_file_keeps_the_old_state_and_says_why(cli: Cli, home: Path, settings: Path):
    with serving(home) as served:
        served.wait_for("succeeded    pulse")
        settings.write_text("[jobs.pulse\n")
        served.wait_for("nothing was changed")
        settings.write_text(SETTINGS.replace('every = "1s"', 'evry = "1s"'))
        served.wait_for("pulse.evry is refused")
        served.stop()

    shown = cli("show", "pulse", "--json").json
    assert shown["state"] == "active"
    assert shown["definition"] == 1


def test_settings_that_hold_from_the_start_are_named_when_they_change(home: Path, settings: Path):
    with serving(home) as served:
        served.wait_for("succeeded    pulse")
        settings.write_text(f"workers = 2\n{SETTINGS}")
        served.wait_for("taken only at the next start: workers")
        served.stop()


def test_log_lines_are_json_where_nobody_looks_on(home: Path, settings: Path):
    settings.write_text(SETTINGS.replace("echo pulse", "exit 1") + "[jobs.bad]\nkind = 1\n")
    with serving(home) as served:
        served.wait_for("failed       pulse")
        served.stop()

    records = [json.loads(line) for line in served.err.read_text().splitlines()]
    assert records
    for record in records:
        assert len(record["instant"]) == 24
        assert {"level", "event", "host"} <= set(record)
    assert any("bad" in record["event"] for record in records)


def test_beside_a_live_host_a_tick_does_no_harm(cli: Cli, process: Cli, home: Path, settings: Path):
    with serving(home) as served:
        served.wait_for("succeeded    pulse")
        for _ in range(2):
            assert process("tick").code == 0
        served.stop()

    slots = [run["scheduled_for"] for run in cli("runs", "list", "--json", "--limit", "1000").json["runs"]]
    assert len(slots) == len(set(slots)) > 1


def test_killed_in_the_middle_of_a_run_the_next_host_goes_on(cli: Cli, home: Path):
    (home / "schedcore.toml").write_text(
        'lease = "15s"\n[jobs.slow]\nkind = "script"\nin = "0s"\npayload = {args = ["/bin/sleep", "60"]}\n'
    )
    with serving(home) as served:
        served.wait_for("running      slow")
        served.process.kill()
        served.process.wait()

    assert cli("runs", "show", "1", "--json").json["state"] == "running"
    told = cli("runs", "release", "1", "--reason", "its host was killed", "--yes")
    assert told.code == 0, told.err
    assert cli("runs", "show", "1", "--json").json["state"] == "interrupted"


IMPATIENT = """
from schedcore._cli import coming_in
from schedcore._ledger.dialects import sqlite
coming_in._BUSY_S = sqlite.BUSY_S = 0.3
"""


def test_fault_R10_a_ledger_that_a_stopped_process_holds_is_waited_for_and_the_process_is_named(
    cli: Cli, home: Path, tmp_path: Path, settings: Path
):
    (tmp_path / "first").mkdir()
    with serving(tmp_path / "first", "--config", str(settings)) as first:
        first.wait_for("succeeded    pulse")
        path = Path(cli("db", "check", "--json").json["ledger"].removeprefix("sqlite:///"))
        first.process.send_signal(signal.SIGSTOP)
        with closing(sqlite3.connect(path, isolation_level=None)) as held:
            with suppress(
                sqlite3.OperationalError
            ):  # it may have been stopped in the middle of a write itself
                held.execute("begin immediate")
            with serving(home, starter=IMPATIENT + STARTER) as served:
                served.wait_for(f"(pid {first.process.pid}, for ")
                assert "waiting for the ledger" in served.err.read_text()
                assert "silent hosts" in served.err.read_text()
                assert "serving" not in served.out.read_text()

                if held.in_transaction:
                    held.execute("rollback")
                first.process.send_signal(signal.SIGCONT)

                served.wait_for("succeeded    pulse")
                assert served.stop() == 0


def test_fault_R10_a_server_that_is_away_is_waited_for_until_a_signal_says_stop(home: Path, settings: Path):
    with closing(socket.socket()) as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and not listening: a port where nobody answers
        url = f"postgresql://nobody@127.0.0.1:{nobody.getsockname()[1]}/none"
        with serving(home, "--ledger", url) as served:
            served.wait_for("waiting for the ledger")

            assert served.stop() == 0


def test_a_ledger_that_only_a_person_can_mend_ends_it_at_once(process: Cli, home: Path, settings: Path):
    (home / "broken.db").write_bytes(b"this is no ledger" * 1000)

    told = process("serve", "--ledger", f"sqlite:///{home / 'broken.db'}")

    assert told.code == 5
    assert "damaged" in told.err


DYING = """
from schedcore._engine import loops
from schedcore._engine.loop import Loop
loops.FIRST_PAUSE_S = 0.0
def turn_once(self, woken=True, turn=Loop.turn_once):
    turn(self, woken)
    if self.engine.counters.settled:
        raise SystemExit("out")
Loop.turn_once = turn_once
"""


def test_a_host_whose_loop_is_given_up_says_so_and_ends_with_1(cli: Cli, home: Path, settings: Path):
    address = home / "notify"
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as ear:
        ear.bind(str(address))
        env = {"NOTIFY_SOCKET": str(address)}
        with serving(home, env=env, starter=DYING + STARTER) as served:
            assert served.process.wait(PATIENCE_S) == 1
        ear.settimeout(0.1)
        words = list(_heard(ear))

    log = served.err.read_text()
    assert "loop died and is given up; restart this host" in log
    assert "this host stops, because it cannot go on: given up: loop" in log
    assert "STATUS=given up: loop" in words
    told = cli("status", "--check", "--json")
    assert told.code == 1


def _heard(ear: socket.socket) -> Iterator[str]:
    try:
        while True:
            yield from ear.recv(4096).decode().splitlines()
    except TimeoutError:
        return
