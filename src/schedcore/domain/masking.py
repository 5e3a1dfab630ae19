"""Masking: no known secret reaches a stored or logged text, whole or in pieces (E-25, T12, R-15).

A :class:`Masker` knows values by name and writes ``[masked:NAME]`` for them in every form of
:mod:`schedcore.domain.secret_forms`; what looks like a secret is masked by
:mod:`schedcore.domain.secret_shapes`. A :class:`MaskStream` does the same to bytes that come in chunks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from schedcore.domain.secret_forms import forms
from schedcore.domain.secret_shapes import WORDS, has_word, mask_bytes, mask_text

__all__ = ["MaskStream", "Masker"]

_LONGEST_LINE = 4_096
_CONTEXT = 64


class _Words:
    """Byte strings, and whether the end of some data may be the start of one of them."""

    __slots__ = ("_first", "_sorted", "longest")

    def __init__(self, words: Iterable[bytes]) -> None:
        self._sorted = sorted(words)
        self.longest = max(map(len, self._sorted), default=0)
        first = b"".join(re.escape(bytes([byte])) for byte in sorted({word[0] for word in self._sorted}))
        self._first = re.compile(b"[" + first + b"]") if first else None

    def begun_at(self, data: bytes, start: int) -> int:
        """The first position from ``start`` on at which all that is left is a part of a word, or the end."""
        if self._first is None:
            return len(data)
        for found in self._first.finditer(data, max(start, len(data) - self.longest + 1)):
            rest = data[found.start() :]
            at = bisect_left(self._sorted, rest)
            for word in self._sorted[at : at + 2]:
                if len(word) > len(rest) and word.startswith(rest):
                    return found.start()
        return len(data)


_SHAPE_WORDS = _Words(WORDS)


class Masker:
    """Masks known values by name, and secrets by shape. Values under 4 characters are left alone.

    ``values`` maps a name to its value. Immutable; :meth:`with_values` gives a wider one.
    """

    __slots__ = ("_bytes", "_masks", "_text", "_values", "_words")

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})
        names: dict[bytes, str] = {}
        for name, value in self._values.items():
            for form in forms(value):
                names.setdefault(form, name)
        self._masks = {form: f"[masked:{name}]" for form, name in names.items()}
        self._words = _Words(names)
        longest_first = sorted(names, key=lambda form: (-len(form), form))
        self._bytes = re.compile(b"|".join(map(re.escape, longest_first))) if names else None
        self._text = (
            re.compile("|".join(re.escape(_decoded(form)) for form in longest_first)) if names else None
        )

    def with_values(self, values: Mapping[str, str]) -> Masker:
        """A masker that knows these values too; the same object where it already does."""
        if all(self._values.get(name) == value for name, value in values.items()):
            return self
        return Masker({**self._values, **values})

    def text(self, text: str) -> str:
        """The text with everything masked; the same object where there is nothing to mask."""
        if self._text is not None:
            text = self._text.sub(lambda found: self._masks[_encoded(found[0])], text)
        return mask_text(text)

    def data(self, data: bytes) -> bytes:
        """As :meth:`text`, for bytes."""
        return mask_bytes(self.known(data))

    def stream(self) -> MaskStream:
        """A new stream that masks with this masker."""
        return MaskStream(self)

    def known(self, data: bytes) -> bytes:
        """The data with known values masked, shapes left alone."""
        if self._bytes is None or not self._holds(data):
            return data
        return self._bytes.sub(lambda found: self._masks[found[0]].encode(), data)

    def split(self, data: bytes) -> tuple[bytes, bytes]:
        """The data with known values masked, and apart from it an end that may be the start of one."""
        if self._bytes is None:
            return data, b""
        hold = self._words.begun_at(data, 0)
        if not self._holds(data):
            return data[:hold], data[hold:]
        done: list[bytes] = []
        at = 0
        while (found := self._bytes.search(data, at)) is not None and found.start() < hold:
            done += (data[at : found.start()], self._masks[found[0]].encode())
            at = found.end()
            if at > hold:
                hold = self._words.begun_at(data, at)
        done.append(data[at:hold])
        return b"".join(done), data[hold:]

    def _holds(self, data: bytes) -> bool:
        """Is there anything to mask? Many plain searches are faster than one pattern of many words."""
        return any(form in data for form in self._masks)


class MaskStream:
    """Masks bytes that come in chunks, so that no border between two of them lets a secret through.

    Of known values at most the longest form less one byte is held back, and only while it may be the start of
    one. A line in which a word of a shape has been seen is held until it ends, at most 4 KiB of it. Not safe
    for several threads.
    """

    __slots__ = ("_before", "_held", "_hot", "_line", "_masker")

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._held = b""
        self._line = b""
        self._hot = False
        self._before = b""

    def use(self, masker: Masker) -> None:
        """Mask with another masker from now on; what is held back is judged by it too."""
        self._masker = masker

    def feed(self, data: bytes) -> bytes:
        """Take a chunk; return what can be shown of it and of what was held back."""
        known, self._held = self._masker.split(self._held + data if self._held else data)
        return self._shaped(known)

    def flush(self) -> bytes:
        """The end: everything that is still held back, masked as far as it is whole."""
        known, self._held = self._masker.known(self._held), b""
        shown = self._show(self._line + known)
        self._line = self._before = b""
        return shown

    def _shaped(self, data: bytes) -> bytes:
        """Mask by shape; from the last line that has not ended on, hold what may become one."""
        ends = _line_end(data)
        if self._hot and not ends and len(self._line) + len(data) < _LONGEST_LINE:
            self._line += data
            return b""
        data = self._line + data
        ends = _line_end(data)
        last = data[ends:].lower()
        self._hot = len(last) < _LONGEST_LINE and has_word(last)
        keep = ends if self._hot else ends + _SHAPE_WORDS.begun_at(last, 0)
        self._line = data[keep:]
        return self._show(data[:keep])

    def _show(self, data: bytes) -> bytes:
        """Mask with what was shown before on the same line in view, since a shape may have begun there."""
        before, whole = self._before, self._before + data
        self._before = whole[max(_line_end(whole), len(whole) - _CONTEXT) :]
        masked = mask_bytes(whole)
        return masked[len(before) :] if masked.startswith(before) else mask_bytes(data)


def _line_end(data: bytes) -> int:
    return max(data.rfind(b"\n"), data.rfind(b"\r")) + 1


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(form: bytes) -> str:
    return form.decode("utf-8", "surrogatepass")
