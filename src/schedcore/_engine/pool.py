"""The bounded pool: worker threads fed through one queue, one item per run (``docs/decisions/0006``).

``SimpleQueue`` costs a fiftieth of ``ThreadPoolExecutor.submit``. A worker whose work does not end at its
limit is given up and replaced, so that the pool keeps its size; the thread ends when the work lets it. A worker
that dies is started again, as any loop (:mod:`schedcore._engine.loops`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from schedcore._engine.loops import Loops

__all__ = ["Pool"]


class Pool:
    """``size`` daemon threads that do ``deed(item)``. A deed must not raise: that is the death of its worker."""

    def __init__(self, size: int, deed: Callable[[Any], None], name: str, loops: Loops) -> None:
        self.size = size
        self._deed = deed
        self._name = name
        self._loops = loops
        self._items: SimpleQueue[Any] = SimpleQueue()
        self._given_up: set[int] = set()
        self._threads: list[threading.Thread] = []
        self._made = 0

    def start(self) -> None:
        """Start the threads."""
        for _ in range(self.size):
            self._add()

    def put(self, item: Any) -> None:
        """Hand one item over; it begins as soon as a worker is free."""
        self._items.put(item)

    def give_up(self, thread_id: int) -> None:
        """A worker that does not come back counts no longer; another takes its place."""
        self._given_up.add(thread_id)
        self._add()

    def close(self) -> None:
        """Tell the workers to end after what they do now; does not wait."""
        for _ in self._threads:
            self._items.put(None)

    def take_back(self) -> list[Any]:
        """Items handed over that no worker has begun."""
        items: list[Any] = []
        try:
            while True:
                items.append(self._items.get_nowait())
        except Empty:
            return [item for item in items if item is not None]

    def join(self, timeout_s: float) -> None:
        """Wait for those that still count."""
        for thread in self._threads:
            if thread.ident not in self._given_up:
                thread.join(timeout_s)

    def _add(self) -> None:
        self._made += 1
        thread = f"schedcore-{self._name}-{self._made}"
        self._threads.append(self._loops.start(self._name, self._work, thread=thread))

    def _work(self) -> None:
        get, deed, given_up, me = self._items.get, self._deed, self._given_up, threading.get_ident()
        while (item := get()) is not None:
            deed(item)
            item = None
            if me in given_up:
                given_up.discard(me)
                return
