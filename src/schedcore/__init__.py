"""schedcore: durable scheduled work, embedded.

``Host`` is the engine an application holds; everything heavy is imported when it is first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._version import __version__

if TYPE_CHECKING:
    from schedcore._host.control import Control
    from schedcore._host.host import Host
    from schedcore._ledger.events import Actor
    from schedcore.domain.order import Job, at, cron, every

__all__ = ["Actor", "Control", "Host", "Job", "__version__", "at", "cron", "every"]

_ROOMS = {
    "Actor": "schedcore._ledger.events",
    "Control": "schedcore._host.control",
    "Host": "schedcore._host.host",
    "Job": "schedcore.domain.order",
    "at": "schedcore.domain.order",
    "cron": "schedcore.domain.order",
    "every": "schedcore.domain.order",
}


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module 'schedcore' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(room), name)
    globals()[name] = value
    return value
