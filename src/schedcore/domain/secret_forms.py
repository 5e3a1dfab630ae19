"""How a secret value may be written: as it is, in base64, URL-quoted, JSON-escaped (T12)."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

__all__ = ["SHORTEST", "forms"]

SHORTEST = 4
"""Values with fewer characters are left alone: they would be found everywhere."""

_LINE_SHORTEST = 12
_CORE_SHORTEST = 8


def forms(value: str) -> set[bytes]:
    """The written forms of a value, as bytes; empty for one that is too short.

    Base64 is known at each offset within a longer encoded text, from 8 characters on. Of a value with several
    lines, each line of 12 or more characters that is no ``-----`` fence is a form of its own.
    """
    if len(value) < SHORTEST:
        return set()
    raw = _bytes(value)
    found = {raw, *(_bytes(json.dumps(value, ensure_ascii=a)[1:-1]) for a in (True, False))}
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        lower = re.sub("%[0-9A-F]{2}", lambda m: m[0].lower(), quoted)
        found |= {quoted.encode(), lower.encode()}
    found |= _base64(raw)
    if "\n" in value:
        lines = (line.strip() for line in value.splitlines())
        found |= {_bytes(n) for n in lines if len(n) >= _LINE_SHORTEST and not n.startswith("-----")}
    return found


def _base64(raw: bytes) -> set[bytes]:
    """The whole encoding, and what is the same in every longer encoding that holds the value."""
    found = set()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw)
        spilled = (0, 3, 2)[(offset + len(raw)) % 3]
        found.add(encoded[(0, 2, 3)[offset] : len(encoded) - spilled])
    found.add(base64.b64encode(raw))
    found |= {form.replace(b"+", b"-").replace(b"/", b"_") for form in found}
    return {form for form in found if len(form) >= _CORE_SHORTEST}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
