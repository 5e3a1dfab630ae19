"""The named loops of one host: what goes wrong in one stays with it, and one that dies is started again (T-19).

A loop contains its own errors, names them here, and goes on. What escapes it (an exit, no memory, a fault of its
own) ends it: it begins again in the same thread, after a growing pause, at most :data:`RESTARTS` times within
:data:`WITHIN`. Then it is given up: whoever asks for the host's state is told, and the others go on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from schedcore.domain.clock import MINUTE

__all__ = ["FIRST_PAUSE_S", "RESTARTS", "WITHIN", "Deaths", "Loops"]

log = logging.getLogger("schedcore.loops")
RESTARTS = 5
"""So often a loop that died is started again within :data:`WITHIN`."""
WITHIN = 10 * MINUTE
"""Microseconds."""
FIRST_PAUSE_S = 0.5
"""Seconds before the first restart; each further one within :data:`WITHIN` waits twice as long."""
_TEXT = 500


class Deaths:
    """When one loop has died, as far as it still counts."""

    def __init__(self) -> None:
        self._at: list[int] = []

    def another(self, at: int) -> float | None:
        """It died at this instant (microseconds): after how many seconds it is started again, ``None`` for never."""
        self._at = [one for one in self._at if at - one < WITHIN]
        if len(self._at) >= RESTARTS:
            return None
        self._at.append(at)
        return FIRST_PAUSE_S * 2.0 ** (len(self._at) - 1)


@dataclass(slots=True)
class _Loop:
    """What is known of the loops of one name."""

    faults: int = 0
    restarts: int = 0
    last: str | None = None
    given_up: bool = False
    deaths: Deaths = field(default_factory=Deaths)


class Loops:
    """The threads that keep doing something in one host, by name. Loops of one name count together.

    ``boot`` is the boot-time clock, in microseconds; ``told(text)`` hears of every fault. ``lost(name)`` is called,
    in the thread that dies, when a loop is given up.
    """

    def __init__(self, boot: Callable[[], int], told: Callable[[str], None] = lambda text: None) -> None:
        self._boot = boot
        self._told = told
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._known: dict[str, _Loop] = {}
        self.lost: Callable[[str], None] = lambda name: None

    def start(self, name: str, deed: Callable[[], None], *, thread: str | None = None) -> threading.Thread:
        """Do ``deed`` in a daemon thread of its own until it returns; an end by raising is a death."""
        started = threading.Thread(
            target=self._keep, args=(name, deed), name=thread or f"schedcore-{name}", daemon=True
        )
        started.start()
        return started

    def fault(self, name: str, error: BaseException, what: str) -> None:
        """Log and count an error that the loop of this name, or whoever acts for it, has contained."""
        with self._lock:
            loop = self._known.setdefault(name, _Loop())
            loop.faults += 1
            loop.last = self._named(error)
        log.error("%s: %s", name, what, exc_info=error)

    @contextmanager
    def contained(self, name: str, what: str) -> Iterator[None]:
        """One round of a loop: what it raises is named and counted, and the loop goes on."""
        try:
            yield
        except Exception as error:
            self.fault(name, error, what)

    @property
    def given_up(self) -> tuple[str, ...]:
        """The names of the loops that are not started again."""
        return tuple(sorted(name for name, loop in self._known.items() if loop.given_up))

    @property
    def faults(self) -> int:
        """How many errors all loops have contained."""
        return sum(loop.faults for loop in list(self._known.values()))

    def shown(self) -> dict[str, Any]:
        """For ``status``: what has gone wrong in which loop, and a sentence for those that are given up."""
        with self._lock:
            known = sorted(self._known.items())
        names = ", ".join(self.given_up)
        return {
            "loop_faults": self.faults,
            "loops": {
                name: {"faults": loop.faults, "restarts": loop.restarts, "last": loop.last}
                for name, loop in known
            },
            "given_up": f"given up after {RESTARTS} restarts in {WITHIN // MINUTE} min: {names}"
            if names
            else None,
        }

    def close(self) -> None:
        """What dies from now on is not started again."""
        self._closing.set()

    def _named(self, error: BaseException) -> str:
        text = f"{type(error).__name__}: {error}"[:_TEXT]
        self._told(text)
        return text

    def _keep(self, name: str, deed: Callable[[], None]) -> None:
        while True:
            try:
                return deed()
            except BaseException as error:  # whatever it is, the thread is ours
                if not self._again(name, error):
                    return None

    def _again(self, name: str, error: BaseException) -> bool:
        with self._lock:
            loop = self._known.setdefault(name, _Loop())
            loop.last = self._named(error)
            pause = None if loop.given_up else loop.deaths.another(self._boot())
            loop.given_up = pause is None
            loop.restarts += pause is not None
        if pause is None:
            log.error("%s died and is given up; restart this host", name, exc_info=error)
            self.lost(name)
            return False
        log.error("%s died and is started again in %g s", name, pause, exc_info=error)
        return not self._closing.wait(pause)
