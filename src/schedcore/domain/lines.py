"""One record, one line: what would forge, break or reorder a line is written as an escape (T11).

Escaped are C0, DEL and C1 (NEL among them), the line and paragraph separators, the bidirectional controls,
and lone surrogates. Anything else passes as it is; the backslash too, so that paths stay readable.
"""

from __future__ import annotations

import re

__all__ = ["cut", "escape", "one_line"]

_BAD = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str) -> str:
    """The text as a single line that shows what it holds."""
    return _BAD.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def one_line(text: str, limit: int) -> str:
    """The text on one line of at most ``limit`` bytes of UTF-8: escaped, then cut with a mark."""
    return cut(escape(text), limit)


def cut(text: str, bytes_limit: int) -> str:
    """The text within ``bytes_limit`` bytes of UTF-8; what is cut ends in ``…[+N bytes]``, inside the limit.

    No character is broken, and a lone surrogate is replaced, so the result can always be encoded. Where the
    mark itself does not fit, nothing but the text's start is left.
    """
    if len(text) * 4 <= bytes_limit and text.isascii():
        return text
    data = text.encode("utf-8", "replace")
    if len(data) <= bytes_limit:
        return data.decode("utf-8")
    room = bytes_limit - len(f"…[+{len(data)} bytes]".encode())
    if room < 0:
        return _start(data, bytes_limit)
    kept = _start(data, room)
    return f"{kept}…[+{len(data) - len(kept.encode())} bytes]"


def _start(data: bytes, size: int) -> str:
    return data[: max(size, 0)].decode("utf-8", "ignore")
