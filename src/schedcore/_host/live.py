"""Onlookers: functions that see runs start and end in this host, as they happen."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from schedcore._engine.state import Claimed, Finish
from schedcore.domain.clock import text
from schedcore.domain.run import RunState, RunTrigger

__all__ = ["Onlookers"]

log = logging.getLogger("schedcore.host")


class Onlookers:
    """Those who look on. What they raise is logged and stops nothing."""

    def __init__(self) -> None:
        self._looks: list[Callable[[dict[str, Any]], None]] = []
        self.beats: list[Callable[[], None]] = []

    def __bool__(self) -> bool:
        return bool(self._looks)

    def add(self, look: Callable[[dict[str, Any]], None]) -> None:
        """One more."""
        self._looks.append(look)

    def beaten(self) -> None:
        """A beat is complete."""
        for call in self.beats:
            try:
                call()
            except Exception:
                log.exception("an onlooker of beats raised")

    def tell(self, what: str, about: dict[str, Any]) -> None:
        """Tell what the loop says."""
        if not self._looks:
            return
        event = _finished(about["finish"]) if what == "finished" else _about(about["claimed"])
        event["what"] = what
        for look in self._looks:
            try:
                look(event)
            except Exception:
                log.exception("an onlooker raised")


def _about(item: Claimed) -> dict[str, Any]:
    return {
        "job": item.job.key,
        "run": item.run_id,
        "scheduled_for": text(item.slot),
        "attempt": item.attempt,
        "trigger": RunTrigger(item.trigger).word,
        "late": bool(item.late),
    }


def _finished(finish: Finish) -> dict[str, Any]:
    decided = finish.decided
    state = decided.state if decided is not None else RunState.SUCCEEDED
    again = decided.next_attempt_at if decided is not None else None
    return {
        **_about(finish.claimed),
        "state": state.word,
        "outcome": finish.outcome.kind,
        "reason": decided.reason if decided is not None else None,
        "text": finish.outcome.text,
        "duration_ms": (finish.finished_at - finish.started_at) // 1000,
        "again_at": text(again) if again is not None else None,
    }
