"""How far long work has come, for whoever watches it. Nothing is decided by it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

__all__ = ["Progress", "counted"]

T = TypeVar("T")
_EACH = 64

Progress = Callable[[str, int, int], None]
"""``progress(stage, done, of)``: what is being done, how much of it is done, and how much there is."""


def counted(items: Collection[T], stage: str, progress: Progress | None, each: int = _EACH) -> Iterator[T]:
    """The items one by one; ``progress`` is told before every so many of them, and when all are done."""
    of = len(items)
    for done, item in enumerate(items):
        if progress is not None and done % each == 0:
            progress(stage, done, of)
        yield item
    if progress is not None and of:
        progress(stage, of, of)
