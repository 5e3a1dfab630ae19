"""Several host processes on one ledger, and the hand that orders and reads from outside."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from schedcore._ledger import events
from schedcore._ledger import runs as run_rows
from schedcore.domain.run import RunState
from schedcore.testing import HostProcess, Told, read_record, unstarted_host, until

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

    def runs(self, key: str | None = None) -> list[dict[str, Any]]:
        """Runs, oldest slot first, with ``word`` for their state and their ``lines`` of attempts."""
        with self.hand.ledger.read() as c:
            found = run_rows.listed(c, limit=100_000)
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
        with self.hand.ledger.read() as c:
            return run_rows.attempts_of(c, run_id)

    def actions(self, action: str) -> list[dict[str, Any]]:
        """Events of that kind."""
        with self.hand.ledger.read() as c:
            return [e for e in events.tail(c, limit=100_000) if e["action"] == action]

    def record(self, *what: str) -> list[dict[str, Any]]:
        """Lines of the outside record."""
        return [line for line in read_record(self.record_path) if not what or line["what"] in what]

    def final(self, count: int, seconds: float = 20.0, key: str | None = None) -> list[str]:
        """Wait until there are ``count`` runs and all are final; their states."""
        until(lambda: len(w := self.words(key)) >= count and all(x in FINAL for x in w), seconds)
        return self.words(key)

    def logs(self) -> str:
        """All logs."""
        return "\n".join(host.log() for host in self.hosts)


def ahead(seconds: float) -> str:
    """An instant of the wall clock that far ahead, in whole milliseconds."""
    return f"{(datetime.now(UTC) + timedelta(seconds=seconds)):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def no_lock_error(logs: str) -> bool:
    """Is there no word of locks, busy files or deadlocks in these logs?"""
    return not any(word in logs.lower() for word in ("locked", "busy", "held by another", "deadlock"))


__all__ = ["FINAL", "Fleet", "ahead", "no_lock_error", "time"]
