"""The file source while a host serves: nothing is noted as taken before the ledger has it (F-16, T-19)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from schedcore._host.file_source import FileSource
from schedcore._host.settings import Settings, load
from schedcore.domain.errors import LedgerBusy

ONE = """
[jobs.one]
kind = "noop"
cron = "0 9 * * *"
"""


class Orders:
    """Takes orders as Control does; the ledger is held for the first ``busy`` of them."""

    def __init__(self, busy: int) -> None:
        self.busy = busy
        self.taken: list[list[str]] = []

    def apply(self, orders: Mapping[str, Any], *, source: str) -> dict[str, Any]:
        if self.busy:
            self.busy -= 1
            raise LedgerBusy("held by another writer")
        self.taken.append(sorted(orders))
        return {"changes": True, "rejects": [], "retires": [], "would_retire": []}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "schedcore.toml"
    made.write_text(ONE)
    return made


def source(path: Path, orders: Orders) -> FileSource:
    def again() -> Settings:
        return load(path, {}, {})

    return FileSource(again(), again, orders)  # type: ignore[arg-type]  # all that the source asks of a host


def test_files_that_the_ledger_could_not_take_at_the_start_are_taken_at_a_look(path: Path) -> None:
    orders = Orders(busy=2)
    files = source(path, orders)
    with pytest.raises(LedgerBusy):
        files.begin()
    with pytest.raises(LedgerBusy):
        files.look()

    found = files.look()

    assert found is not None
    assert orders.taken == [["one"]]
    assert files.look() is None, "and they are taken once"


def test_a_change_that_the_ledger_could_not_take_is_taken_at_the_next_look(path: Path) -> None:
    orders = Orders(busy=0)
    files = source(path, orders)
    files.begin()
    path.write_text(ONE + ONE.replace("one", "two"))
    orders.busy = 1
    with pytest.raises(LedgerBusy):
        files.look()

    files.look()

    assert orders.taken == [["one"], ["one", "two"]]
