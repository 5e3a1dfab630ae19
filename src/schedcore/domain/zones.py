"""IANA zones, read from the ``tzdata`` package and from nowhere else (T-05, P-28).

``zoneinfo.ZoneInfo(key)`` asks the machine's own files first, so two hosts could disagree about one
morning. Turning that off (``reset_tzpath``) would change the embedding program too. Here the bytes come
from the installed ``tzdata`` package and go through ``ZoneInfo.from_file``: every host with the same package
has the same slots, :func:`tz_version` names it truly, and nothing outside this module changes.

What this costs: a zone from here is another object than ``ZoneInfo(key)`` of the same name, and cannot be
pickled. Keep the key, not the object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from io import BytesIO
from zoneinfo import ZoneInfo

import tzdata  # type: ignore[import-untyped]  # it ships no types

from schedcore.domain.errors import Refused, nearest, shown

__all__ = ["hold", "on_new_data", "replaced_data", "tz_version", "zone", "zone_bytes", "zone_names"]

#: Keys of the data that name no place: a placeholder, or whatever the machine happens to be set to.
_NO_PLACE = frozenset({"Factory", "localtime", "posixrules", "posix", "right"})
_OFFSET = re.compile(r"(?:UTC|GMT|Z)?[+-][0-9]{1,2}(?::?[0-9]{2})?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Data:
    """One set of zone files: the package's, or the one a test put over it."""

    version: str
    over: Mapping[str, bytes] = field(default_factory=dict)


#: The package's files as they were when they were held, by key; empty where they are read as they are needed.
_held: dict[str, bytes] = {}

#: The data in use is the last one; the list is longer than one only inside :func:`replaced_data`.
_in_use = [_Data(tzdata.IANA_VERSION)]
_forget: list[Callable[[], None]] = []


def tz_version() -> str:
    """The version of the zone data in use, as IANA names it, e.g. ``2026f`` (P-28)."""
    return _in_use[-1].version


@cache
def zone_names() -> frozenset[str]:
    """All keys that :func:`zone` takes."""
    listed = files("tzdata").joinpath("zones").read_text(encoding="ascii").split()
    return frozenset(listed) - _NO_PLACE


def zone(name: str) -> ZoneInfo:
    """The zone of an IANA key such as ``Europe/Berlin``.

    Raises :class:`Refused` (``unknown_zone``) for anything else: unknown names, offsets, ``localtime``,
    ``posixrules``, ``Factory``, ``right/…`` and paths. The caller adds the field. (T-05)
    """
    if not _known(name):
        raise _unknown(name)
    return _opened(name)


def zone_bytes(name: str) -> bytes:
    """The compiled file of a zone that :func:`zone` takes."""
    over = _in_use[-1].over
    return over[name] if name in over else _held.get(name) or _read(name)


def hold() -> None:
    """Read all zones now and keep them, so that an upgrade of the package under a process that lives on cannot mix
    old data and new: its triggers, and :func:`tz_version`, stay what they are until it is started again (P-28).

    350 kB and some 25 ms, once for a process; a host does it when it comes in.
    """
    if not _held:
        _held.update({name: _read(name) for name in zone_names()})


def on_new_data(forget: Callable[[], None]) -> None:
    """Register a cache that must be emptied when the zone data are replaced."""
    _forget.append(forget)


@contextmanager
def replaced_data(version: str, over: Mapping[str, bytes]) -> Iterator[None]:
    """Rehearse an update of the zone data: ``over`` holds compiled files by key, ``version`` their name.

    For tests (P-28). It concerns the whole process, but only schedcore; triggers parsed before keep the
    data that they were parsed with.
    """
    _in_use.append(_Data(version, dict(over)))
    _empty_caches()
    try:
        yield
    finally:
        _in_use.pop()
        _empty_caches()


def _read(name: str) -> bytes:
    return files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()


@cache
def _opened(name: str) -> ZoneInfo:
    return ZoneInfo.from_file(BytesIO(zone_bytes(name)), key=name)


def _known(name: object) -> bool:
    return isinstance(name, str) and name in zone_names()


def _empty_caches() -> None:
    _opened.cache_clear()
    for forget in _forget:
        forget()


def _unknown(name: object) -> Refused:
    if not isinstance(name, str):
        return Refused("a zone is a text", code="unknown_zone", value=name, hint="such as 'Europe/Berlin'")
    if _OFFSET.fullmatch(name):
        hint = "an offset is no zone; write a place such as 'Europe/Berlin', or 'UTC'"
    elif name[:20].lower() in ("localtime", "posixrules", "factory", "local"):
        hint = "that is whatever the machine is set to; write a place such as 'Europe/Berlin', or 'UTC'"
    else:
        hint = nearest(name, set(zone_names())) or "write an IANA name such as 'Europe/Berlin', or 'UTC'"
    return Refused(f"there is no zone {shown(name)}", code="unknown_zone", value=name, hint=hint)
