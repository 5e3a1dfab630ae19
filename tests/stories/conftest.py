"""What the stories share: a stage on which hosts are put."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schedcore._ledger.ledger import Ledger
from schedcore.spec import Executor
from schedcore.testing import DyingLedger, ManualClock, StandingHost
from tests.auditing import judge

Stage = Callable[..., StandingHost]


@pytest.fixture
def stage(ledger: Ledger, dying: DyingLedger, clock: ManualClock, tmp_path: Path) -> Iterator[Stage]:
    """Puts hosts on the ledger, ``stage(*executors, **how)``, and takes them off when the story is over.

    They leave before either ledger is closed.
    """
    hosts: list[StandingHost] = []

    def put(*executors: Executor, **how: Any) -> StandingHost:
        name = how.pop("name", f"host-{len(hosts) + 1}")
        on = how.pop("ledger", ledger)
        at = how.pop("clock", clock)
        host = StandingHost(on, at, tmp_path / name, executors, name=name, **how)
        hosts.append(host)
        return host

    yield put
    for host in hosts:
        host.stop()


@pytest.fixture
def dying(ledger: Ledger, ledger_url: str, clock: ManualClock) -> Iterator[DyingLedger]:
    """The same ledger through a door that fails when it is told to."""
    opened = DyingLedger(ledger_url, clock)
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def audited(request: pytest.FixtureRequest) -> Iterator[None]:
    """When a story is over, what its ledger says is true."""
    if "ledger" not in request.fixturenames:
        yield
        return
    url = request.getfixturevalue("ledger_url")
    request.getfixturevalue("ledger")  # so that it is closed after the audit
    yield
    judge(request, url)
