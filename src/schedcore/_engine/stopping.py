"""The order to stop work: given once, by the loop, seen by the work (the ``Stop`` of the plugin door)."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["StopOrder"]


class StopOrder:
    """One order per attempt. The event behind it is made only when somebody waits."""

    __slots__ = ("_calls", "_event", "reason")

    _guard = threading.Lock()

    def __init__(self) -> None:
        self.reason: str | None = None
        self._event: threading.Event | None = None
        self._calls: list[Callable[[str], None]] | None = None

    def give(self, reason: str) -> bool:
        """Give the order; the first reason stays. Answers whether this call gave it."""
        with self._guard:
            if self.reason is not None:
                return False
            self.reason = reason
            calls, self._calls = self._calls, None
            if self._event is not None:
                self._event.set()
        for call in calls or ():
            call(reason)
        return True

    def is_set(self) -> bool:
        """True once the work should stop."""
        return self.reason is not None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the work should stop, at most ``timeout`` seconds."""
        with self._guard:
            if self.reason is not None:
                return True
            if self._event is None:
                self._event = threading.Event()
            event = self._event
        return event.wait(timeout)

    def then(self, call: Callable[[str], None]) -> None:
        """Call ``call(reason)`` when the order comes; at once if it has come."""
        with self._guard:
            if self.reason is None:
                self._calls = [*(self._calls or ()), call]
                return
            reason = self.reason
        call(reason)
