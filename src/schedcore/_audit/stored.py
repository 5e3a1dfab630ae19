"""The stored text of a trigger, read to a grid; whatever is not understood is said, never guessed.

A field or a kind that is not known here (a plugin's, or one of a newer schedcore) makes the slots of a
definition something that cannot be enumerated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any

from schedcore._audit.closed import ClosedTime, MovedGrid
from schedcore._audit.cron_text import read_cron
from schedcore._audit.grids import AtGrid, Bounded, CronGrid, EveryGrid, Grid
from schedcore._audit.zone_clock import VERSION, zone_clock
from schedcore.domain.clock import MILLISECOND, SECOND, text

__all__ = ["Stored", "made_elsewhere", "read_trigger", "seconds_of"]

_FIELDS = {
    "kind", "text", "zone", "gap", "fold", "not_before", "not_after", "count", "jitter", "anchor", "anchor_given",
    "calendar", "on_closed",
}  # fmt: skip
_STILL = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT"})
_UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_SHORT = re.compile(
    r"(?:([0-9]{1,9})w)?(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?"
)
_ISO = re.compile(
    r"P(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})S)?)?"
)
_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))?"
)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 the wall's own zero; an offset is taken off afterwards


@dataclass(frozen=True, slots=True)
class Stored:
    """A trigger as a definition holds it.

    ``grid`` is ``None`` where its slots cannot be enumerated, for the reason ``why``. ``moves`` says that the
    zone's data move its slots: with other data they were others. ``count`` is how many slots it has at most.
    ``drops`` is the closed time whose slots get no run, if its calendar drops them.
    """

    grid: Grid | None
    why: str = ""
    moves: bool = False
    count: int | None = None
    jitter: int = 0
    drops: ClosedTime | None = None

    def put_off(self, uid: str, slot: int, following: int | None) -> int:
        """By how many microseconds the start of a slot is put off: a hash of job and slot (T-11)."""
        if not self.jitter:
            return 0
        span = self.jitter * SECOND
        if following is not None:
            span = min(span, following - slot)
        digest = sha256(f"{uid}|{text(slot)}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % span


@lru_cache(maxsize=4_096)
def read_trigger(stored: str) -> Stored:
    """The trigger of a definition's text. Never raises."""
    try:
        data = json.loads(stored)
    except ValueError:
        return Stored(None, "its trigger cannot be read")
    if data is None:
        return Stored(None, "it has no trigger")
    if not isinstance(data, dict):
        return Stored(None, "its trigger cannot be read")
    if data.get("kind") not in _GRIDS:
        return Stored(
            None, f"slots of a trigger {str(data.get('kind'))[:60]!r} are its plugin's to enumerate"
        )
    if strange := sorted(set(data) - _FIELDS):
        return Stored(None, f"its trigger has a field that is not known here: {strange[0][:60]!r}")
    try:
        return _read(data)
    except (AttributeError, ValueError, TypeError, KeyError, LookupError, OSError, OverflowError):
        return Stored(None, "its trigger cannot be read")


def _read(data: Mapping[str, Any]) -> Stored:
    zone = data.get("zone", "UTC")
    grid = _GRIDS[data["kind"]](data, zone)
    bounds = (data.get("not_before"), data.get("not_after"))
    first, last = (None if bound is None else _instant(bound, zone) for bound in bounds)
    if first is not None or last is not None:
        grid = Bounded(grid, first, last)
    drops = None
    if (calendar := data.get("calendar")) is not None:
        closed, word = ClosedTime(calendar, zone_clock(zone)), data["on_closed"]
        if word not in {"drop", "move", "keep"}:
            raise ValueError(word)
        grid, drops = MovedGrid(grid, closed) if word == "move" else grid, closed if word == "drop" else None
    moves = zone not in _STILL and (data["kind"] != "every" or calendar is not None)
    count, jitter = data.get("count"), data.get("jitter", 0)
    if not all(type(n) is int for n in (count or 0, jitter)):
        raise ValueError("a number")
    return Stored(grid, moves=moves, count=count, jitter=jitter, drops=drops)


def _cron(data: Mapping[str, Any], zone: str) -> Grid:
    text = read_cron(data["text"])
    return CronGrid(text, zone_clock(zone), data.get("gap", "at_once"), data.get("fold", "first"))


def _every(data: Mapping[str, Any], zone: str) -> Grid:
    anchor = _instant(data["anchor"], zone)
    return EveryGrid(anchor, _length(data["text"]) * SECOND, given=data.get("anchor_given") is True)


def _at(data: Mapping[str, Any], zone: str) -> Grid:
    return AtGrid(_instant(data["text"], zone))


_GRIDS = {"cron": _cron, "every": _every, "at": _at}


def _length(value: str) -> int:
    """Seconds of ``1h30m`` or ``PT1H30M``."""
    found = _SHORT.fullmatch(value) or _ISO.fullmatch(value)
    if found is None or not any(found.groups()):
        raise ValueError(value)
    return sum(int(n or 0) * size for n, size in zip(found.groups(), _UNITS.values(), strict=True))


def _instant(value: str, zone: str) -> int:
    """An RFC 3339 instant; without an offset the first instant at which the zone's clock has reached it."""
    found = _INSTANT.fullmatch(value)
    if found is None:
        raise ValueError(value)
    day, clock, seconds, fraction, zulu, sign, hours, minutes = found.groups()
    there = datetime.fromisoformat(f"{day}T{clock}:{seconds or '00'}")
    wall = (there - _EPOCH) // timedelta(microseconds=1)
    wall += int((fraction or "0")[:3].ljust(3, "0")) * MILLISECOND
    if zulu:
        return wall
    if sign:
        offset = (int(hours) * 60 + int(minutes)) * 60 * SECOND
        return wall + offset if sign == "-" else wall - offset
    read = zone_clock(zone).readings(wall)
    return read.instants[0] if read.instants else int(read.reached or 0)


def made_elsewhere(stored: Stored, version: str) -> bool:
    """Was the definition made with zone data that are not those here, and would they matter?"""
    return stored.moves and version != VERSION


def seconds_of(value: object) -> int | None:
    """Seconds of a number, or of a text such as ``1h30m``; ``None`` for anything else."""
    if type(value) is int:
        return value
    try:
        return _length(value) if isinstance(value, str) else None
    except ValueError:
        return None
