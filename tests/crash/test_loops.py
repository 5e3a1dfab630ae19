"""The loops of a real host are apart: what fails or dies in one stays with it (T-19)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schedcore import Host
from schedcore._engine import loops, work
from schedcore._engine.outputs import FileOutput
from schedcore.spec import Listener, hookimpl
from schedcore.testing import Recorder, Told, fresh_sqlite, read_record, unstarted_host, until, within


class Hears:
    """A plugin that listens, so that there is a loop to tell it."""

    api_version = 1

    @hookimpl
    def schedcore_listeners(self) -> list[Listener]:
        return [Listener(name="hears", topics=("run.final",), tell=lambda event: None)]


class Alive:
    """A host in this process with a job each second; nobody waits for a restart."""

    def __init__(self, folder: Path) -> None:
        self.record = folder / "record"
        told = Told(fresh_sqlite(folder), folder / "state", "alive", lease=15.0, beat=0.2)
        plain = unstarted_host(told, Recorder(self.record))
        self.folder = folder
        self.host = Host(settings=plain.settings, plugins=[*plain._hand, ("hears", Hears())], discover=False)
        self.host.start()
        self.host.control().add({"key": "each", "kind": "record", "payload": {"seconds": 0}, "every": "1s"})

    @property
    def crew(self) -> Any:
        return self.host._crew

    def began(self) -> int:
        return len([line for line in read_record(self.record) if line["what"] == "began"])

    def goes_on(self) -> bool:
        """Do two more slots start?"""
        before = self.began()
        return until(lambda: self.began() >= before + 2, 10)

    def check(self) -> dict[str, Any]:
        return self.host.control().status(check=True)

    def told(self) -> dict[str, Any]:
        return self.host.control().hosts()[0]["status"]


@pytest.fixture
def alive(memory_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Alive]:
    monkeypatch.setattr(loops, "FIRST_PAUSE_S", 0.0)
    made = Alive(memory_folder)
    yield made
    made.host.stop(0)


def raising(error: BaseException, times: int, then: Callable[..., Any]) -> Callable[..., Any]:
    """Raises so often, and does then what it does."""
    left = [times]

    def call(*given: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return then(*given)

    return call


def test_a_source_that_raises_each_time_is_named_and_counted_and_slots_are_on_time(alive: Alive) -> None:
    def look() -> None:
        raise RuntimeError("the files are gone")

    alive.host.keep("files", look, 0.05)

    assert alive.goes_on()
    assert until(lambda: alive.told()["loops"].get("files", {}).get("faults", 0) >= 5, 5)
    assert alive.told()["loops"]["files"]["last"] == "RuntimeError: the files are gone"
    assert alive.told()["given_up"] is None
    assert alive.check()["ok"]


def test_the_loop_itself_is_started_again_when_it_dies(alive: Alive) -> None:
    loop = alive.crew.loop
    loop.turn_once = raising(SystemExit("out"), 5, loop.turn_once)

    assert alive.goes_on()
    assert alive.told()["loops"]["loop"]["restarts"] == 5
    assert alive.host.broken == ()
    assert alive.check()["ok"]


def test_a_loop_beside_it_that_is_given_up_makes_the_check_fail_and_the_slots_go_on(alive: Alive) -> None:
    alive.crew.teller.tell_all = raising(SystemExit("out"), 99, alive.crew.teller.tell_all)

    assert until(lambda: not alive.check()["ok"], 10)

    (problem,) = alive.check()["problems"]
    assert problem == "host alive (1): given up after 5 restarts in 10 min: tell"
    assert alive.goes_on()
    assert alive.host.broken == ()


def test_a_loop_that_is_given_up_is_told_at_once_and_what_had_ended_is_spooled(alive: Alive) -> None:
    alive.host.control().add({"key": "long", "kind": "record", "payload": {"seconds": 0.5}, "in": "0s"})
    assert until(lambda: alive.host.busy() and any(_long(line) for line in read_record(alive.record)), 10)
    loop = alive.crew.loop

    loop.turn_once = raising(SystemExit("out"), 99, loop.turn_once)

    assert until(lambda: alive.host.broken == ("loop",), 10)
    assert until(lambda: not alive.check()["ok"], 10)  # before its heartbeat is too old
    assert any("given up" in problem and "loop" in problem for problem in alive.check()["problems"])
    assert until(lambda: any(_long(line) and line["what"] == "ended" for line in read_record(alive.record)))
    alive.host.stop(0)
    assert list((alive.folder / "state" / "spool").glob("*.finish"))


def _long(line: dict[str, Any]) -> bool:
    return "long" in str(line)


class Deadly(FileOutput):
    """Output whose end kills the worker."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.used = True

    def close(self) -> None:
        raise SystemExit("out")


def test_a_host_without_workers_claims_nothing_more_and_what_they_did_is_settled(
    alive: Alive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "FileOutput", Deadly)
    for n in range(6):
        job = {"key": f"deadly-{n}", "kind": "record", "payload": {"seconds": 0}, "in": "0s"}
        alive.host.control().add(job)

    assert until(lambda: alive.host.broken == ("work",), 10)

    assert until(lambda: alive.told()["draining"])
    assert not alive.check()["ok"]
    assert until(lambda: not alive.host.busy())
    claimed = alive.told()["claimed"]
    assert not within(lambda: alive.told()["claimed"] > claimed, 1.5)
