"""A bar on stderr while long work goes on, where a person looks at it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from schedcore._cli.front import Front

if TYPE_CHECKING:
    from schedcore._host.progress import Progress

__all__ = ["bar"]

AFTER_S = 0.5
"""Work that is over sooner shows none."""


@contextmanager
def bar(
    front: Front, *, beside: bool = True, clock: Callable[[], float] = time.monotonic
) -> Iterator[Progress | None]:
    """What work is to tell how far it has come; ``None`` where nobody looks, or wants to.

    Nobody looks where stderr is no terminal, with ``--json`` and with ``--quiet``. A stage has a bar of its own.
    With ``beside=False`` the answer itself is written meanwhile: no bar stands among its lines on a terminal.
    """
    alone = beside or not sys.stdout.isatty()
    if front.json or front.quiet or not alone or not sys.stderr.isatty():
        yield None
        return
    shown = _Bar(clock)
    try:
        yield shown
    finally:
        shown.close()


class _Bar:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._since = clock, clock()
        self._stage: str | None = None
        self._bar: Any = None

    def __call__(self, stage: str, done: int, of: int) -> None:
        if self._bar is not None and stage != self._stage:
            self.close()
        if self._bar is None:
            if self._clock() - self._since < AFTER_S:
                return
            self._stage = stage
            self._bar = click.progressbar(length=of, label=stage, file=sys.stderr)
            self._bar.__enter__()
        self._bar.update(done - self._bar.pos)

    def close(self) -> None:
        """Leave the bar as it is, and its line."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None
