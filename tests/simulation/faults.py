"""What may go wrong with one call to the ledger, before it or after it, at every call there is."""

from __future__ import annotations

import gc
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from schedcore.testing import DyingLedger, HostDied, ManualClock

__all__ = ["MODES", "FaultyLedger", "Mode", "Tally"]


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to fail: at a statement or a commit, before or after it."""

    name: str
    what: str
    after: bool
    error: Callable[[], BaseException] | None
    """``None`` is slow: time passes, and the call goes through."""


def _lost() -> BaseException:
    return sa.exc.OperationalError("", None, ConnectionError("the connection was lost"))


def _busy() -> BaseException:
    locked = sqlite3.OperationalError("database is locked")
    locked.sqlite_errorname = "SQLITE_BUSY"
    return sa.exc.OperationalError("", None, locked)


def _full() -> BaseException:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorname = "SQLITE_FULL"
    return sa.exc.OperationalError("", None, full)


MODES = (
    Mode("refused", "statement", False, _lost),
    Mode("dead connection", "statement", True, _lost),
    Mode("deadlock", "statement", False, _busy),
    Mode("disk full", "statement", False, _full),
    Mode("crash before", "statement", False, HostDied),
    Mode("crash after", "statement", True, HostDied),
    Mode("fail before commit", "commit", False, _lost),
    Mode("commit then fail", "commit", True, _lost),
    Mode("disk full at commit", "commit", False, _full),
    Mode("crash before commit", "commit", False, HostDied),
    Mode("crash after commit", "commit", True, HostDied),
    Mode("slow", "commit", False, None),
)


class Tally:
    """Which calls there were, and which failed in which way."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.fired: Counter[tuple[str, str]] = Counter()
        self.committed = 0

    @property
    def faults(self) -> Counter[str]:
        """Faults by mode."""
        told: Counter[str] = Counter()
        for (mode, _), n in self.fired.items():
            told[mode] += n
        return told


class FaultyLedger(DyingLedger):
    """A ledger every call of which may fail. ``choose(mode names possible, point)`` answers the mode, or ``None``."""

    def __init__(
        self, url: str, clock: ManualClock, tally: Tally, choose: Callable[[str, bool, str], Mode | None]
    ) -> None:
        super().__init__(url, clock)
        self._tally, self._choose, self._clock = tally, choose, clock
        self.quiet = self.gone = False
        self._open: list[Any] = []
        sa.event.listen(self.engine, "connect", lambda connection, record: self._open.append(connection))

    def forsake(self) -> None:
        """The process is gone: the system closes what it had open, and what was not committed never was."""
        self.quiet = self.gone = True
        for connection in self._open:
            with suppress(sqlite3.Error):  # it was closed before
                connection.rollback()  # a statement that somebody still has in hand would keep it open
                connection.close()
        self._open.clear()
        gc.collect()  # what SQLAlchemy closed itself stays open for as long as a dead frame has a statement in hand

    def _meet(self, what: str, *, after: bool) -> None:
        if self.quiet:
            return
        point = _point()
        if not after:
            self._tally.calls[point] += 1
        mode = self._choose(what, after, point)
        if mode is None:
            return
        self._tally.fired[mode.name, point] += 1
        self._tally.committed += what == "commit" and after
        if mode.error is None:
            self._clock.advance(seconds=3)
            return
        raise mode.error()


def _point() -> str:
    """The function of the ledger's room that speaks to the database."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("schedcore._ledger") and not module.endswith((".driver", "._ledger.ledger")):
            return f"{module.rpartition('.')[2]}.{frame.f_code.co_name}"
        if module.startswith("schedcore._engine"):
            return f"{module.rpartition('.')[2]}.{frame.f_code.co_name}"
        frame = frame.f_back
    return "somebody"
