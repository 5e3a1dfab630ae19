"""kill -9 in the middle of a backup and of a restore, at every step: what is left is whole, or it is not there."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from schedcore._host.backing_up import backups
from schedcore._host.drilling import drill
from schedcore._host.settings import Settings
from schedcore._ledger.backups import manifest, on_sqlite
from schedcore.domain.errors import LedgerError, NotFound
from tests.auditing import untrue
from tests.host.backing import ANNA, backup, everything, into, ledger_url, left, of, restore

__all__ = ["into", "ledger_url", "of"]

_FORK = multiprocessing.get_context("fork")
WHEN = ("before", "after")
BACKUP = [
    *(f"{place}:{when}" for place in ("making.way_of", "making.settle", "manifest.put_in_place") for when in WHEN),
    "making.checksum:after", "copying:0", "counting:9",
]  # fmt: skip
RESTORE = ["restoring.require_same:before", "restored.mark:before", "restored.mark:after", "restoring:0"]
BACKUPS = [
    *(("sqlite", at) for at in BACKUP),
    ("postgresql", "copying:0"),
    ("postgresql", "making.settle:after"),
]
RESTORES = [
    *(("sqlite", at) for at in [*RESTORE, "restoring.discard:before", "restoring.discard:after"]),
    *(("postgresql", at) for at in [*RESTORE, "migrate.build:after", "restoring.into_postgresql:after"]),
]
INTO_NOTHING = [
    ("sqlite", "restoring.settle:before"),
    ("sqlite", "restoring.settle:after"),
    ("sqlite", "restored.mark:after"),
    ("postgresql", "restored.mark:after"),
]
DONE = ("restoring.discard", "restoring.into_postgresql", "restoring.settle:after")


def killed(deed: Callable[..., Any], *given: Any, at: str, **named: Any) -> None:
    """Do a deed in a process that dies before or after a function, or when so much of a stage is done."""

    def body() -> None:
        on_sqlite._PAGES = 8  # so that a small ledger takes many steps
        place, _, when = at.rpartition(":")
        if when in WHEN:
            _deadly(place, when)
            deed(*given, **named)
        else:
            deed(*given, **named, progress=_deadly_progress(place, int(when)))

    process = _FORK.Process(target=body)
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL, f"it never came to {at}"


def _deadly(place: str, when: str) -> None:
    module, _, name = place.rpartition(".")
    room = "schedcore._ledger" if module in {"restored", "migrate"} else "schedcore._ledger.backups"
    owner: Any = import_module(f"{room}.{module}")
    real = getattr(owner, name)

    def deadly(*given: Any, **named: Any) -> Any:
        if when == "after":
            real(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, deadly)
    host = import_module("schedcore._host.restoring")
    if hasattr(host, name):
        setattr(host, name, deadly)


def _deadly_progress(stage: str, times: int) -> Callable[[str, int, int], None]:
    left = times

    def progress(now: str, done: int, of: int) -> None:
        nonlocal left
        left -= now == stage
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return progress


@pytest.mark.parametrize(("ledger_url", "at"), BACKUPS, indirect=["ledger_url"])
def test_a_backup_that_is_killed_leaves_a_whole_one_or_none(of: Settings, at: str) -> None:
    before = everything(of.ledger)

    killed(backup, of, at=at)

    there = backups(of)
    assert all(drill(of, ANNA, file)["ok"] for file, _ in there)
    assert len(there) == (at == "manifest.put_in_place:after")
    again = backup(of)
    assert drill(of, ANNA, again)["ok"]
    assert left(of.backup_folder) == []
    assert everything(of.ledger, but=frozenset({"events"})) == {
        name: rows for name, rows in before.items() if name != "events"
    }


@pytest.mark.parametrize(("ledger_url", "at"), RESTORES, indirect=["ledger_url"])
def test_a_restore_that_is_killed_has_restored_all_or_nothing(of: Settings, at: str) -> None:
    file = backup(of)
    before = everything(of.ledger)

    killed(restore, of, file, replace=True, at=at)

    after = everything(of.ledger)
    if at.startswith(DONE):
        assert after["ledger"][0][2] == 2
    else:
        assert after == before
    assert untrue(of.ledger) == []
    assert restore(of, file, replace=True)["incarnation"] == after["ledger"][0][2] + 1
    if of.ledger.startswith("sqlite"):
        assert left(Path(of.ledger.removeprefix("sqlite:///")).parent) == []


@pytest.mark.parametrize(("ledger_url", "at"), INTO_NOTHING, indirect=["ledger_url"])
def test_a_restore_into_nothing_that_is_killed_leaves_nothing_or_the_ledger(
    of: Settings, into: Settings, at: str
) -> None:
    file = backup(of)

    killed(restore, into, file, at=at)

    if at.startswith(DONE):
        assert untrue(into.ledger) == []
    else:
        with pytest.raises(LedgerError) as caught:
            backup(into)
        assert caught.value.code == "no_ledger"
    restore(into, file, replace=at.startswith(DONE))
    assert untrue(into.ledger) == []
    assert at.startswith(DONE) or everything(into.ledger)["ledger"][0][2] == 2


def test_what_was_cut_short_is_no_backup(of: Settings) -> None:
    killed(backup, of, at="making.settle:after")

    assert list(of.backup_folder.glob("*.backup"))
    with pytest.raises(NotFound):
        drill(of, ANNA)
    assert manifest.found(of.backup_folder) == []
