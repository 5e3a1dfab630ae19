"""Several host processes on one ledger, and the hand that orders and reads from outside."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from schedcore._ledger import events
from schedcore._ledger import runs as run_rows
from schedcore._ledger.schema import runs
from schedcore.domain.errors import LedgerError
from schedcore.domain.run import RunState
from schedcore.testing import HostProcess, Told, read_record, unstarted_host, until

T = TypeVar("T")
FINAL = ("succeeded", "no_op", "findings", "failed", "blocked", "interrupted", "skipped", "cancelled")


class Fleet:
    """Hosts on one ledger with one outside record; everything is gone after :meth:`close`."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.record_path = folder / "record"
        self.hosts: list[HostProcess] = []
        self._hand: Any = None

    def host(self, name: str, *, folder: str | None = None, **told: Any) -> HostProcess:
        """One more host, not started; ``folder`` where it shares another's."""
        more = {"record": self.record_path, "url": self.url, **told}
        made = HostProcess(Told(folder=self.folder / (folder or name), name=name, **more))
        made.log_path = self.folder / f"{name}.log"
        self.hosts.append(made)
        return made

    def start(self, name: str, **told: Any) -> HostProcess:
        """One more host that has beaten."""
        return self.host(name, **told).start()

    def together(self, *names: str, **told: Any) -> list[HostProcess]:
        """Several hosts, started in the same instant."""
        begun = [self.host(name, **told).begin() for name in names]
        assert all(host.ready() for host in begun), "\n".join(host.log() for host in begun)
        return begun

    def close(self) -> None:
        """Kill everything."""
        for host in self.hosts:
            host.close()
        if self._hand is not None:
            self._hand.stop()

    # -- orders and reads from outside ----------------------------------------------------------------

    @property
    def hand(self) -> Any:
        """A host in this process that never starts, to order and to read with."""
        if self._hand is None:
            told = Told(self.url, self.folder / "hand", "hand", plugins=("schedcore_script.plugin",))
            self._hand = unstarted_host(told)
        return self._hand

    def add(
        self, key: str, *, kind: str = "record", payload: Mapping[str, Any] | None = None, **job: Any
    ) -> str:
        """Create a job; answers its key."""
        self.hand.control().add({"key": key, "kind": kind, "payload": dict(payload or {}), **job})
        return key

    def add_many(self, keys: list[str], **job: Any) -> None:
        """Create many jobs at once."""
        payload = job.pop("payload", {})
        declared = {key: {"key": key, "kind": "record", "payload": payload, **job} for key in keys}
        told = self.hand.control().apply(declared, source="test")
        assert not told["rejects"], told["rejects"]

    def read(self, ask: Callable[[Any], T]) -> T:
        """Read from the ledger; a connection that a restart has cut is no answer."""
        for _ in range(20):
            try:
                with self.hand.ledger.read() as c:
                    return ask(c)
            except LedgerError:
                time.sleep(0.02)
        with self.hand.ledger.read() as c:
            return ask(c)

    def runs(self, key: str | None = None) -> list[dict[str, Any]]:
        """Runs, oldest slot first, with ``word`` for their state and their ``lines`` of attempts."""
        found = self.read(lambda c: run_rows.listed(c, limit=100_000))
        for run in found:
            run["word"] = RunState(run["state"]).word
        return sorted(
            (r for r in found if key in (None, r["key"])), key=lambda r: (r["scheduled_for"], r["id"])
        )

    def words(self, key: str | None = None) -> list[str]:
        """The states of those runs."""
        return [run["word"] for run in self.runs(key)]

    def attempts(self, run_id: int) -> list[dict[str, Any]]:
        """The attempts of a run."""
        return self.read(lambda c: run_rows.attempts_of(c, run_id))

    def lost(self) -> list[str | None]:
        """How the first attempt of each run ended, so far as it has."""
        first = [self.attempts(run["id"])[0] for run in self.runs()]
        return [attempt["reason"] for attempt in first]

    def actions(self, action: str) -> list[dict[str, Any]]:
        """Events of that kind."""
        return [e for e in self.read(lambda c: events.tail(c, limit=100_000)) if e["action"] == action]

    def pause(self, host: HostProcess) -> None:
        """Stop a host outside of any writing transaction: within one it would stop all others too (2.5)."""
        host.pause()
        path = self.hand.ledger.path
        while path is not None and not _free(path):
            host.go_on()
            time.sleep(0.005)
            host.pause()

    def hurry(self) -> bool:
        """A further attempt that waits for its time is due now; answers whether there was one."""
        with self.hand.ledger.write() as c:
            again = sa.update(runs).where(runs.c.state == 0, runs.c.next_attempt_at.is_not(None))
            return bool(c.execute(again.values(next_attempt_at=None, start_at=runs.c.scheduled_for)).rowcount)

    def record(self, *what: str) -> list[dict[str, Any]]:
        """Lines of the outside record."""
        return [line for line in read_record(self.record_path) if not what or line["what"] in what]

    def final(self, count: int, seconds: float = 20.0, key: str | None = None) -> list[str]:
        """Wait until there are ``count`` runs and all are final; their states."""
        until(lambda: len(w := self.words(key)) >= count and all(x in FINAL for x in w), seconds)
        return self.words(key)

    def shown(self) -> list[tuple[Any, ...]]:
        """Runs in short, for the message of a test that fails."""
        return [
            (r["id"], r["key"], r["word"], r["reason"], r["host"], r["late"], r["alone"]) for r in self.runs()
        ]

    def logs(self) -> str:
        """All logs."""
        return "\n".join(host.log() for host in self.hosts)


class Fleets:
    """Makes fleets by name, each on a fresh ledger of its own."""

    def __init__(self, database: str, make: Callable[[str], Fleet]) -> None:
        self.database, self._make = database, make

    def __call__(self, name: str) -> Fleet:
        """One more fleet."""
        return self._make(name)


def _free(path: Path) -> bool:
    with closing(sqlite3.connect(path, timeout=0.1)) as c:
        try:
            c.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
    return True


def ahead(seconds: float) -> str:
    """An instant of the wall clock that far ahead, in whole milliseconds."""
    return f"{(datetime.now(UTC) + timedelta(seconds=seconds)):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def no_lock_error(fleet: Fleet) -> bool:
    """Is there no word of locks, busy files or deadlocks in the logs, and did no host meet a fault of its ledger?"""
    logs = fleet.logs().lower()
    said = [word for word in ("locked", "busy", "held by another", "deadlock") if word in logs]
    met = [host["faults"] for host in fleet.hand.control().hosts() if host["faults"]]
    return not said and not met


__all__ = ["FINAL", "Fleet", "Fleets", "ahead", "no_lock_error"]
