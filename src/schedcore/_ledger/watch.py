"""Being woken by other processes on PostgreSQL: one connection that listens (T-08). The beat stands behind it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from schedcore._ledger.dialects.postgresql import CHANNEL
from schedcore._ledger.ledger import Ledger

__all__ = ["Watch"]

log = logging.getLogger("schedcore.watch")


class Watch:
    """Calls ``woken()`` whenever another connection has committed a notice; ``run`` is the deed of a thread."""

    def __init__(self, ledger: Ledger, woken: Callable[[], None]) -> None:
        self._ledger = ledger
        self._woken = woken
        self._closing = threading.Event()

    def close(self) -> None:
        """Let ``run`` return; it notices within half a second."""
        self._closing.set()

    def run(self) -> None:
        """Listen until closed; a connection that was cut off is made again."""
        import psycopg

        url = self._ledger.url.set(drivername="postgresql").render_as_string(hide_password=False)
        while not self._closing.is_set():
            try:
                with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
                    connection.execute(f"listen {CHANNEL}")
                    self._woken()  # what was sent while nobody listened
                    while not self._closing.is_set():
                        for _ in connection.notifies(timeout=0.5, stop_after=1):
                            self._woken()
            except psycopg.Error as error:
                log.info("listening was cut off (%s); the beat stands behind it", error)
                self._closing.wait(1.0)
