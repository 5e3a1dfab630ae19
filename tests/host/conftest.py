"""A ledger of each kind, a manual clock, a host that moves by the test's word, and the Control beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.auditing import judge

from schedcore._engine.state import EngineSettings
from schedcore._engine.toolbox import Toolbox
from schedcore._host.control import Control
from schedcore._host.crew import build_engine
from schedcore._ledger import jobs
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore.testing import ManualClock, StandingHost, empty, fresh_sqlite, noop, open_ledger


class Host(StandingHost):
    """A host whose rows are found by the key of a job."""

    def ledger_id(self, key: str) -> int:
        with self.ledger.read() as c:
            return int(jobs.find(c, key)[0]["id"])


ANNA = Actor("anna", "person")


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return fresh_sqlite(tmp_path)
    return request.getfixturevalue("postgres_url")


@dataclass
class World:
    """One ledger at one instant, and whoever looks at it."""

    ledger: Ledger
    clock: ManualClock
    folder: Path
    hosts: list[Host] = field(default_factory=list)

    def control(self, *, actor: Actor = ANNA, toolbox: Toolbox | None = None, **more: Any) -> Control:
        """A Control over a process of its own, which offers ``noop``."""
        settings = {k: more.pop(k) for k in list(more) if k in EngineSettings.__slots__}
        tools = toolbox or Toolbox(executors={"noop": ("test", noop())})
        engine = build_engine(
            self.ledger, tools, EngineSettings(**settings), self.clock, self.folder / "state", "cli"
        )
        return Control(engine, actor, **({"every_floor": 1, "sleep": self.slept} | more))

    def host(self, *executors: Any, **settings: Any) -> Host:
        made = Host(self.ledger, self.clock, self.folder / "state", executors, **settings)
        self.hosts.append(made)
        return made

    def slept(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        prefix = "" if self.ledger.is_sqlite else "schedcore."
        with self.ledger.read() as c:
            return [tuple(r) for r in c.exec_driver_sql(query.format(s=prefix))]

    def write(self, query: str) -> None:
        prefix = "" if self.ledger.is_sqlite else "schedcore."
        with self.ledger.write() as c:
            c.exec_driver_sql(query.format(s=prefix))

    def contents(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, for showing that nothing was written."""
        from schedcore._ledger.schema import metadata

        with self.ledger.read() as c:
            return {t.name: [tuple(r) for r in c.execute(t.select())] for t in metadata.sorted_tables}


@pytest.fixture
def world(request: pytest.FixtureRequest, ledger_url: str, tmp_path: Path) -> Iterator[World]:
    clock = ManualClock("2026-06-01T08:00:00+00:00")
    ledger = open_ledger(ledger_url, clock)
    empty(ledger)
    made = World(ledger, clock, tmp_path)
    try:
        yield made
        judge(request, ledger_url)
    finally:
        for host in made.hosts:
            host.crew.loop._drop_connection()
        ledger.close()


@pytest.fixture
def control(world: World) -> Control:
    return world.control()


@pytest.fixture
def daily() -> Callable[..., dict[str, Any]]:
    def order(key: str = "backup", **more: Any) -> dict[str, Any]:
        return {"key": key, "kind": "noop", "cron": "0 9 * * *"} | more

    return order
