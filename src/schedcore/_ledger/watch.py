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
    """Calls ``woken()`` whenever another connection has committed a notice."""

    def __init__(self, ledger: Ledger, woken: Callable[[], None]) -> None:
        self._ledger = ledger
        self._woken = woken
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="schedcore-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread; it notices within half a second."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(5)

    def _run(self) -> None:
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
