"""JSON as it stands in the ledger: a text that we dump ourselves (``docs/decisions/0004``)."""

from __future__ import annotations

from typing import Any

import orjson

__all__ = ["json_text"]


def json_text(value: Any) -> str:
    """The value as compact JSON, its keys in the order given."""
    return orjson.dumps(value).decode()
