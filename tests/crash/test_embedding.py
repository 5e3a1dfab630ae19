"""A host inside another program: started, blocked, stopped, and never in its way (R-17, T-20, G17)."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedcore import Host
from schedcore._engine.loop import Loop
from schedcore._ledger.dialects import sqlite
from schedcore.domain.errors import LedgerBusy, LedgerError
from schedcore.spec import Executor, RunContext, hookimpl, ok
from schedcore.testing import Recorder, Told, fresh_sqlite, read_record, unstarted_host, until
from tests.crash.fleet import ahead
from tests.house.repository import ROOT


class Embedded:
    """A host in this process, below the configured ranges, with its outside record."""

    def __init__(self, folder: Path, **told: Any) -> None:
        self.path = folder / "record"
        told = {"lease": 15.0, "beat": 0.5, **told}
        self.host: Host = unstarted_host(
            Told(fresh_sqlite(folder), folder / "state", "embedded", **told), Recorder(self.path)
        )

    def add(self, key: str, seconds: float = 0, **job: Any) -> None:
        payload = {"seconds": seconds, "deaf": job.pop("deaf", False)}
        self.host.control().add({"key": key, "kind": job.pop("kind", "record"), "payload": payload, **job})

    def lines(self, what: str) -> list[dict[str, Any]]:
        return [line for line in read_record(self.path) if line["what"] == what]

    def runs(self) -> list[dict[str, Any]]:
        return self.host.control().runs(limit=1000)[::-1]


@pytest.fixture
def embedded(memory_folder: Path) -> Iterator[Embedded]:
    made = Embedded(memory_folder)
    yield made
    made.host.stop(0)


def test_a_blocked_event_loop_does_not_stop_the_beat(embedded: Embedded) -> None:
    async def program() -> None:
        await asyncio.to_thread(embedded.host.start)
        embedded.add("each", every="1s")
        until(lambda: embedded.lines("began"))
        before = len(embedded.lines("began"))
        time.sleep(3.2)  # what an event loop must never do
        assert len(embedded.lines("began")) - before >= 3
        await asyncio.to_thread(embedded.host.stop)

    asyncio.run(program())

    for line, run in zip(embedded.lines("began"), embedded.runs(), strict=False):
        late = line["t"] - _seconds(run["scheduled_for"])
        assert 0 <= late < 1


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def test_start_and_stop_may_be_called_twice_and_again(embedded: Embedded) -> None:
    host = embedded.host
    before = threading.active_count()
    host.start()
    host.start()
    assert host.running
    assert len(host.control().hosts()) == 1

    host.stop()
    host.stop()

    assert not host.running
    assert until(lambda: threading.active_count() <= before, 5)
    host.start()
    embedded.add("after", at=ahead(0.1))
    assert until(lambda: embedded.lines("ended"))
    host.stop()
    assert [h["state"] for h in host.control().hosts(all_states=True)] == ["stopped", "stopped"]


def test_a_start_gives_up_after_its_wait_and_says_what_it_waited_for(
    embedded: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that embeds a host decides itself how long it waits; `serve` waits on (fault_R10)."""
    host, before = embedded.host, threading.active_count()
    monkeypatch.setattr(sqlite, "BUSY_S", 0.1)
    with embedded.host.ledger.write(), pytest.raises(LedgerBusy, match="held by another writer"):
        host.start(busy_s=0.1)

    def turn_once(self: Loop, woken: bool = True) -> None:
        raise LedgerError("the server is away")

    with monkeypatch.context() as patched:
        patched.setattr(Loop, "turn_once", turn_once)
        with pytest.raises(LedgerError) as refused:
            host.start(wait_s=0.5)

    assert str(refused.value).startswith("no beat within 0.5 s: the server is away")
    assert "wait_s" in str(refused.value.hint)
    assert not host.running
    assert until(lambda: threading.active_count() <= before, 5)
    host.start()
    assert host.beats() >= 1


def test_g17_a_stop_drains_what_runs_and_ends_the_rest_as_shutdown_which_no_breaker_counts(
    embedded: Embedded,
) -> None:
    host = embedded.host.start()
    embedded.add("short", 0.6, at=ahead(0.1))
    embedded.add("long", 60, at=ahead(0.1), breaker=1)
    assert until(lambda: len(embedded.lines("began")) == 2)

    began = time.monotonic()
    host.stop(1.5)

    assert 1.5 <= time.monotonic() - began < 4
    found = {run["key"]: (run["state"], run["reason"]) for run in embedded.runs()}
    assert found == {"short": ("succeeded", None), "long": ("interrupted", "shutdown")}
    job = host.control().show("long")
    assert (job["state"], job["streak"]) == ("done", 0)


def test_a_stop_gives_back_what_was_claimed_ahead(memory_folder: Path) -> None:
    """Quick work is claimed ahead of free workers; what none of them has begun is the next host's (L-10)."""
    embedded = Embedded(memory_folder, workers=2)
    host = embedded.host.start()
    embedded.add("quick.per1", every="1s")
    assert until(lambda: len(embedded.lines("ended")) >= 2)  # measured: its kind is quick
    host.control().pause("quick.per1")
    at = ahead(1.0)
    for n in range(30):
        embedded.add(f"slow-{n}", 0.7, at=at)
    assert until(lambda: len(embedded.lines("began")) >= 4, 5)

    host.stop(5)

    states = [run["state"] for run in embedded.runs() if run["key"].startswith("slow")]
    assert states.count("queued") > 0
    assert set(states) == {"succeeded", "queued"}
    queued = next(run for run in embedded.runs() if run["state"] == "queued")
    assert queued["attempts"] == 0
    assert host.control().attempts(queued["id"]) == []
    host.stop()


def test_work_that_does_not_hear_the_stop_is_given_up_and_ends_as_shutdown_all_the_same(
    embedded: Embedded,
) -> None:
    host = embedded.host.start()
    embedded.add("deaf", 6, deaf=True, at=ahead(0.1))
    assert until(lambda: embedded.lines("began"))

    host.stop(0)

    (run,) = embedded.runs()
    assert (run["state"], run["reason"]) == ("interrupted", "shutdown")


def test_cancelled_work_that_does_not_hear_is_given_up_after_its_grace(embedded: Embedded) -> None:
    host = embedded.host.start()
    embedded.add("deaf", 8, deaf=True, at=ahead(0.1))
    assert until(lambda: embedded.lines("began"))

    host.control().cancel(1, "enough")

    assert until(lambda: embedded.runs()[0]["state"] == "cancelled", 6)
    assert embedded.lines("ended") == []


class Native:
    """A plugin whose work waits in native code, deaf to everything."""

    api_version = 1

    @hookimpl
    def schedcore_executors(self) -> list[Executor]:
        return [Executor(kind="native", payload={"type": "object"}, execute=self.wait)]

    @staticmethod
    def wait(ctx: RunContext) -> Any:
        ctypes.CDLL(None).usleep(9_000_000)
        return ok()


def test_report_r34_work_that_hangs_in_native_code_fails_at_its_limit_and_the_pool_keeps_its_size(
    memory_folder: Path,
) -> None:
    plain = Embedded(memory_folder, workers=2)
    told = plain.host.settings
    host = Host(settings=told, plugins=[("native", Native()), *plain.host._hand], discover=False).start()
    control = host.control()
    for n in range(2):
        order = {"key": f"native-{n}", "kind": "native", "payload": {}, "at": ahead(0.1), "timeout": 1}
        control.add(order)
    assert until(lambda: host.busy() == 2)

    assert until(lambda: [r["state"] for r in control.runs()] == ["failed", "failed"], 8)

    assert {r["reason"] for r in control.runs()} == {"timeout"}
    control.add({"key": "one", "kind": "record", "payload": {"seconds": 0.5}, "at": ahead(0.1)})
    control.add({"key": "two", "kind": "record", "payload": {"seconds": 0.5}, "at": ahead(0.1)})
    assert until(lambda: len(plain.lines("ended")) == 2, 3)
    one, two = plain.lines("began")
    assert abs(one["t"] - two["t"]) < 0.5  # two workers, beside the two that hang
    host.stop(0)


def test_an_embedded_host_configures_no_logging_takes_no_signal_and_prints_nothing(
    embedded: Embedded, capfd: pytest.CaptureFixture[str]
) -> None:
    import signal

    root = logging.getLogger()
    before = (root.level, list(root.handlers), logging.getLogger("schedcore").handlers, logging.root.disabled)
    signals = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)}

    with embedded.host:
        embedded.add("one", at=ahead(0.05))
        assert until(lambda: embedded.lines("ended"))

    after = (root.level, list(root.handlers), logging.getLogger("schedcore").handlers, logging.root.disabled)
    assert after == before
    assert {n: signal.getsignal(n) for n in signals} == signals
    assert capfd.readouterr() == ("", "")


def test_the_examples_run_and_go_on_where_they_stopped(tmp_path: Path) -> None:
    for _ in range(2):
        begun = [(_example(name, tmp_path), line) for name, line in EXAMPLES.items()]

        for process, line in begun:
            out, err = process.communicate(timeout=60)
            assert (process.returncode, err) == (0, "")
            assert len([text for text in out.splitlines() if text.startswith(line)]) >= 3


EXAMPLES = {"embed_plain": "hello 2", "embed_asyncio": "hello world"}


def _example(name: str, folder: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py"), str(folder / name)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env)
