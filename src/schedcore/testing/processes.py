"""Hosts in processes of their own, on the machine's clocks: they can be killed, stopped and let go on (3.3).

Their leases and beats may lie below the configured ranges. They are forked from one warm process, so that a
test may have fifty of them, and they die with it. What they do is on the outside record, what they log in a
file beside it.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from schedcore.testing.crashing import CRASH_VARIABLE, crash_at
from schedcore.testing.recording import Recorder, Recording, read_record

__all__ = ["HostProcess", "Told", "run_host", "unstarted_host", "until", "within"]

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Told:
    """What a host process is told. ``settings`` are further ones by dotted key; lengths of time are seconds.

    ``plugins`` are modules by name, beside the kind ``record`` (see :mod:`schedcore.testing.recording`).
    ``boot_id`` makes it a host of another machine.
    """

    url: str
    folder: Path
    name: str
    lease: float = 1.0
    beat: float = 0.2
    workers: int = 4
    record: Path | None = None
    plugins: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    boot_id: str | None = None
    log_level: str = "INFO"


def unstarted_host(told: Told, record: Recorder | None = None) -> Any:
    """A :class:`schedcore.Host` as told, not started: for orders and reads, or to be started by the test."""
    from schedcore._host.host import Host
    from schedcore._host.setting_fields import WEAKER
    from schedcore._host.settings import load

    given = {
        "ledger": told.url,
        "state_folder": str(told.folder),
        "name": told.name,
        "workers": told.workers,
        "every_floor": 1,
        "kill_grace": 1,
        "catch_up_apart": 0,
        "accept_weaker": list(WEAKER),  # a server for tests takes no care of its data
        **told.settings,
    }
    settings = replace(load(None, {}, given), lease=told.lease, beat=told.beat)
    plugins = [("recording", Recording(record)), *((name, import_module(name)) for name in told.plugins)]
    return Host(settings=settings, plugins=plugins, discover=False)


def run_host(told: Told, orders: Connection) -> None:
    """Be a host until told to stop; the body of a host process.

    ``orders`` brings (``stop``, seconds of drain), (``step``, seconds of the wall clock); each is answered.
    """
    os.environ.update(told.environment)
    if crash := os.environ.get(CRASH_VARIABLE):
        crash_at(crash)
    step = _stepped_clock()
    if (boot_id := told.boot_id) is not None:
        from schedcore._ledger.dialects import sqlite

        sqlite.boot_id = lambda: boot_id
    record = Recorder(told.record, host=told.name) if told.record else None
    host = unstarted_host(told, record)
    if record is not None:
        host.on(lambda event: record(**event))
    try:
        host.start()
    except BaseException as error:
        orders.send(("refused", f"{getattr(error, 'code', '')}: {error}"))
        raise
    orders.send(("started", None))
    while True:
        order, value = orders.recv()
        if order == "step":
            step(value)
        elif order == "stop":
            host.stop(value)
        orders.send((order, None))
        if order == "stop":
            return


def _stepped_clock() -> Callable[[float], None]:
    """Put a wall clock into this process that can be stepped; the boot-time clock stays the machine's."""
    from schedcore._engine import clock

    offset, real = [0], clock.wall
    clock.wall = lambda: real() + offset[0]

    def step(seconds: float) -> None:
        offset[0] += round(seconds * 1e6)

    return step


def _child(told: Told, log: str, orders: Connection) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(fd, 2)
    logging.basicConfig(level=told.log_level, format="%(created)f %(name)s %(levelname)s %(message)s")
    try:
        run_host(told, orders)
    except EOFError:  # whoever started it has gone
        os._exit(1)


class HostProcess:
    """One host process, seen from outside. ``start()`` returns once it has beaten, or has said why not."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.log_path = told.folder.with_name(told.folder.name + ".log")
        self._process: Any = None
        self._orders: Connection | None = None
        self.refused: str | None = None

    def begin(self) -> Self:
        """Start the process and do not wait."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["schedcore.testing.warm"])
        self.told.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._orders, theirs = context.Pipe()
        self._process = context.Process(
            target=_child, args=(self.told, str(self.log_path), theirs), daemon=True, name=self.told.name
        )
        self._process.start()
        theirs.close()
        return self

    def ready(self, seconds: float = 120.0) -> bool:
        """Wait for its first beat; False when it refused to start or died (see ``refused``)."""
        assert self._orders is not None
        try:
            if not self._orders.poll(seconds):
                raise TimeoutError(f"host {self.told.name} says nothing:\n{self.log()}")
            what, why = self._orders.recv()
        except (EOFError, ConnectionError):
            what, why = "died", None
        self.refused = why
        return bool(what == "started")

    def start(self) -> Self:
        """Start it and wait for its first beat."""
        if not self.begin().ready():
            raise AssertionError(f"host {self.told.name} did not start: {self.refused}\n{self.log()}")
        return self

    @property
    def pid(self) -> int:
        """Its process number."""
        return int(self._process.pid)

    @property
    def alive(self) -> bool:
        """Does the process still live?"""
        return self._process is not None and self._process.is_alive()

    def kill(self) -> None:
        """``kill -9``, and wait for its end."""
        if self.alive:
            os.kill(self.pid, signal.SIGKILL)
        self.join()

    def join(self, seconds: float = 120.0) -> bool:
        """Wait for its end; answers whether it has ended."""
        self._process.join(seconds)
        return not self.alive

    def pause(self) -> None:
        """SIGSTOP: nothing in it moves."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def step_clock(self, seconds: float) -> None:
        """Step its wall clock."""
        self._order("step", seconds)

    def stop(self, drain_s: float = 0.0) -> None:
        """Stop it in order, and wait for its end."""
        self._order("stop", drain_s)
        self.join()

    def close(self) -> None:
        """Whatever state it is in: it is gone afterwards."""
        if self._process is not None:
            self.kill()
            self._process.close()
            self._process = None
        if self._orders is not None:
            self._orders.close()

    def log(self) -> str:
        """What it has logged."""
        return self.log_path.read_text(encoding="utf-8") if self.log_path.exists() else ""

    def record(self) -> list[dict[str, Any]]:
        """The outside record (of all hosts that share it)."""
        return read_record(self.told.record) if self.told.record else []

    def _order(self, what: str, value: float, seconds: float = 60.0) -> None:
        assert self._orders is not None
        self._orders.send((what, value))
        if not self._orders.poll(seconds):
            raise TimeoutError(f"host {self.told.name} does not answer {what!r}:\n{self.log()}")
        self._orders.recv()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_PATIENCE = 6.0
"""How much longer than a quiet machine needs a test waits before it gives up."""


def until(question: Callable[[], Any], seconds: float = 10.0, every: float = 0.02) -> Any:
    """Ask until the answer is true; the last answer. Nothing is right by waiting: the deadline only ends it.

    ``seconds`` is what a quiet machine needs at most; a busy one is given six times as long.
    """
    return within(question, seconds * _PATIENCE, every)


def within(question: Callable[[], Any], seconds: float, every: float = 0.02) -> Any:
    """Ask for so many seconds and no longer: for what must *not* happen, and for letting time pass."""
    end = time.monotonic() + seconds
    while not (answer := question()) and time.monotonic() < end:
        time.sleep(every)
    return answer
