"""Telling listeners what has happened: each reads the outbox with a mark, a lease and failures of its own (F-05).

One thread per host serves its listeners in turn; a listener that raises is named, waits, and is told again from
where it was, while the others go on. Every event is told at least once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any

from schedcore._engine.state import Engine
from schedcore._ledger import hosts, listeners
from schedcore.domain.clock import MINUTE, SECOND, text
from schedcore.domain.errors import SchedcoreError
from schedcore.domain.run import RunState
from schedcore.spec.declarations import Listener

__all__ = ["Teller"]

log = logging.getLogger("schedcore.tell")
_FIRST_WAIT = 5 * SECOND
_LONGEST_WAIT = 10 * MINUTE
_FAILED = {RunState.FAILED.value, RunState.INTERRUPTED.value}


class Teller:
    """Serves the listeners of one host. ``tell_all`` is one round; the thread repeats it when woken."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._woken = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, if anybody listens."""
        if self._engine.toolbox.listeners:
            self._thread = self._engine.loops.start("tell", self._run)

    def wake(self) -> None:
        """There may be something to tell."""
        self._woken.set()

    def close(self, timeout_s: float = 5.0) -> None:
        """Tell what is there, then end."""
        self._closing = True
        self._woken.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            last = self._closing
            try:
                more = self.tell_all()
            except SchedcoreError as error:
                log.warning("listeners wait: %s", error)
                more = False
            except Exception as error:
                self._engine.loops.fault("tell", error, "telling failed; it goes on")
                more = False
            if last:
                return
            if not more:
                self._woken.wait(min(self._engine.settings.beat, 5.0))
                self._woken.clear()

    def tell_all(self) -> bool:
        """One round over all listeners; answers whether any has more to hear."""
        more = False
        for plugin, listener in self._engine.toolbox.listeners:
            more |= self._serve(plugin, listener)
        with self._engine.ledger.write() as c:
            listeners.trim(c)
        return more

    def _serve(self, plugin: str, listener: Listener) -> bool:
        e = self._engine
        with e.ledger.write() as c:
            lease_now = e.ledger.times.lease(c)
            name = f"listener:{listener.name}"
            if (
                hosts.take_lease(c, name, e.host_id, lease_now, lease_now + e.lease_us, e.ledger.boot_id)
                is None
            ):
                return False
        with e.ledger.read() as c:
            now = e.ledger.times.now(c)
            found = listeners.unread(c, listener.name, now)
            failures = next((m["failures"] for m in listeners.listed(c) if m["listener"] == listener.name), 0)
        through = None
        for row in found:
            try:
                for topic in _topics(row, listener):
                    listener.tell(_event(row, topic))
            except (Exception, SystemExit) as error:
                wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(failures, 10))
                log.exception("listener %s of plugin %s raised", listener.name, plugin)
                with e.ledger.write() as c:
                    if through is not None:
                        listeners.advance(c, listener.name, through)
                    listeners.fault(c, listener.name, f"{type(error).__name__}: {error}", now + wait)
                return False
            through = row["id"]
        if through is not None:
            with e.ledger.write() as c:
                listeners.advance(c, listener.name, through)
        return len(found) >= 100


def _topics(row: Mapping[str, Any], listener: Listener) -> list[str]:
    topics = [row["topic"]]
    if row["topic"] == "run.final" and row["state"] in _FAILED:
        topics.append("run.failed")
    return [t for t in topics if t in listener.topics]


def _event(row: Mapping[str, Any], topic: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "number": row["id"],
        "topic": topic,
        "at": text(row["at"]),
        "job": {"id": row["uid"], "key": row["key"]},
    }
    if row["run_id"] is not None:
        told["run"] = {
            "id": row["run_id"],
            "scheduled_for": text(row["scheduled_for"]) if row["scheduled_for"] is not None else None,
            "state": RunState(row["state"]).word if row["state"] is not None else None,
            "outcome": row["outcome"],
            "reason": row["reason"],
        }
    return told
