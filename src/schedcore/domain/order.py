"""Orders in Python: ``Job`` and the three triggers, as what :class:`schedcore.domain.job.JobOrder` reads.

They check nothing but what only Python can get wrong (a naive instant); everything else is refused by the one
reader of all orders, with its field path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from schedcore.domain.clock import text, to_us
from schedcore.domain.errors import Refused

__all__ = ["Job", "at", "cron", "every"]


class Job(Mapping[str, Any]):
    """A job to be ordered: a mapping of fields, as in a job file.

    ``trigger`` is what :func:`cron`, :func:`every` or :func:`at` gives; without one the job runs once, at once.
    ``fields`` are the other fields and policies (``attempts=3``, ``overlap="queue_one"``, ``timeout="2m"`` …).
    """

    def __init__(
        self,
        key: str,
        kind: str,
        payload: Mapping[str, Any] | None = None,
        *,
        trigger: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        self._fields: dict[str, Any] = {"key": key, "kind": kind, "payload": dict(payload or {}), **fields}
        if trigger is not None:
            self._fields["trigger"] = dict(trigger)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"Job({self._fields!r})"


def cron(expression: str, **more: Any) -> dict[str, Any]:
    """A cron trigger: five fields; ``zone``, ``gap``, ``fold``, ``jitter``, bounds and ``count`` as keywords."""
    return {"cron": expression, **more}


def every(period: str | timedelta, **more: Any) -> dict[str, Any]:
    """An interval on a grid that never moves: ``"90s"``, ``"1h30m"``, or a ``timedelta`` of whole seconds.

    Raises :class:`Refused` for a ``timedelta`` with a fraction of a second.
    """
    if isinstance(period, timedelta):
        if period.microseconds:
            raise Refused(
                f"{period} has a fraction of a second", code="bad_duration", field="every", value=str(period)
            )
        period = f"{period.days * 86_400 + period.seconds}s"
    return {"every": period, **more}


def at(instant: str | datetime, **more: Any) -> dict[str, Any]:
    """A one-shot: an aware ``datetime``, an RFC 3339 text, or a wall clock of the job's zone as text.

    Raises :class:`Refused` (``naive_instant``) for a naive ``datetime``.
    """
    return {"at": text(to_us(instant)) if isinstance(instant, datetime) else instant, **more}
