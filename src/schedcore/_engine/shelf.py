"""A plugin's shelf: small JSON by key, in the ledger, in place of tables of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from schedcore._ledger import shelves
from schedcore._ledger.json_text import json_text
from schedcore.domain.errors import Refused

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Ledger

__all__ = ["LARGEST", "Shelf"]

LARGEST = 256 * 1024


class Shelf:
    """The shelf of one plugin. Each call is a transaction of its own."""

    def __init__(self, ledger: Ledger, plugin: str) -> None:
        self._ledger = ledger
        self._plugin = plugin

    def get(self, key: str, default: Any = None) -> Any:
        """What stands under a key, or ``default``."""
        with self._ledger.read() as c:
            text = shelves.get(c, self._plugin, key)
        return default if text is None else orjson.loads(text)

    def put(self, key: str, value: Any) -> None:
        """Put JSON under a key (at most 256 KiB); ``None`` takes it off. Raises ``Refused`` when too large."""
        text = None if value is None else json_text(value)
        if text is not None and len(text) > LARGEST:
            raise Refused(
                f"{len(text)} bytes do not fit on a shelf",
                code="length",
                field=key,
                hint=f"at most {LARGEST}",
            )
        self._ledger.run(lambda c: shelves.put(c, self._plugin, key, text, self._ledger.times.now(c)))
