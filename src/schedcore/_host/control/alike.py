"""Reading many declarations: what differs in key, name and payload alone is read once (``docs/decisions/0018``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._host.control.reading import Offer, check_payload, read_order
from schedcore.domain.job import JobOrder
from schedcore.domain.job_form import IN_PAYLOAD
from schedcore.domain.names import JOB_FIELDS, fold

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker

__all__ = ["Readings"]

_OWN = ("key", "name", "payload")
_PLAIN = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATETIME
"""A date is not the text of it: what JSON cannot say is read each time."""


class Readings:
    """The declarations that were read at one instant, for one actor."""

    def __init__(self, control: Asker, now: int, known: Offer) -> None:
        self._control, self._now, self._known = control, now, known
        self._read: dict[tuple[bytes, bool], JobOrder] = {}
        self._names: dict[tuple[Any, ...], tuple[str, str, str] | None] = {}

    def order(self, data: Mapping[str, Any], *, past_ok: bool) -> JobOrder:
        """As :func:`reading.read_order`, and with the same refusals."""
        names = tuple(data)
        if names not in self._names:
            self._names[names] = _named(names)
        named = self._names[names]
        rest = None if named is None else _rest(data, named)
        if rest is None or named is None:
            return self._whole(data, past_ok)
        first = self._read.get((rest, past_ok))
        if first is None:
            first = self._read[rest, past_ok] = self._whole(data, past_ok)
            return first
        key, name, payload = named
        order = first.like(data[key], data.get(name), data.get(payload), named)
        check_payload(self._control, order.kind, order.payload, self._known)
        return order

    def _whole(self, data: Mapping[str, Any], past_ok: bool) -> JobOrder:
        return read_order(self._control, data, self._now, self._known, past_ok=past_ok)


def _named(names: tuple[Any, ...]) -> tuple[str, str, str] | None:
    """Under which of these names key, name and payload stand; ``None`` where that takes a whole reading."""
    found: dict[str, str] = {}
    for name in names:
        own = JOB_FIELDS.find(str(name))
        if own in found or (own is None and fold(str(name)) in IN_PAYLOAD):
            return None
        if own in _OWN:
            found[own] = name
    if "key" not in found:
        return None
    return found["key"], found.get("name", "name"), found.get("payload", "payload")


def _rest(data: Mapping[str, Any], named: tuple[str, str, str]) -> bytes | None:
    if data[named[0]] is None:
        return None
    try:
        return orjson.dumps({name: value for name, value in data.items() if name not in named}, option=_PLAIN)
    except TypeError:
        return None
