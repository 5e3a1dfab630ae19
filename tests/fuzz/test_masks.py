"""No canary gets through a mask, in whatever form and wherever it is cut; no control character into a line."""

from __future__ import annotations

import json
import logging
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from schedcore._host.logs import JsonLines, TextLines
from schedcore.domain.lines import cut, escape, one_line
from schedcore.domain.masking import Masker
from schedcore.domain.secret_forms import forms
from tests.fuzz.hostile import TEXT

CANARY = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=8, max_size=40).filter(
    lambda value: len(set(value)) > 4
)
_FORMS = range(64)


@st.composite
def spoken(draw: st.DrawFn) -> tuple[str, bytes]:
    """A canary, and bytes in which it stands in some of its written forms among other things."""
    canary = draw(CANARY)
    written = sorted(forms(canary))
    parts = draw(st.lists(st.binary(max_size=30) | st.sampled_from(_FORMS), min_size=1, max_size=8))
    data = b"".join(part if isinstance(part, bytes) else written[part % len(written)] for part in parts)
    return canary, data


@given(spoken(), st.lists(st.integers(0, 20), max_size=20), st.booleans())
def test_a_canary_is_never_shown_wherever_its_bytes_are_cut(
    said: tuple[str, bytes], sizes: list[int], known_late: bool
):
    canary, data = said
    masker = Masker({"CANARY": canary})
    stream = Masker().stream() if known_late else masker.stream()
    stream.use(masker)
    out, at = [], 0
    for size in sizes:
        out.append(stream.feed(data[at : at + size]))
        at += size
    shown = b"".join([*out, stream.feed(data[at:]), stream.flush()])

    leaked = [form for form in forms(canary) if form in shown.replace(b"[masked:CANARY]", b"")]
    assert leaked == []


@given(CANARY, TEXT, TEXT)
def test_a_canary_is_in_no_line_of_a_log(canary: str, before: str, after: str):
    text = Masker({"CANARY": canary}).text(f"{before}{canary}{after}")

    assert canary not in text.replace("[masked:CANARY]", "")
    for record in (text, json.dumps(text)):
        assert canary not in logged(record).replace("[masked:CANARY]", "")


@given(TEXT, TEXT)
def test_a_line_of_a_log_is_one_line_without_control_characters(message: str, job: str):
    for line in (logged(message, job), logged(message, job, form=JsonLines)):
        assert line.encode("utf-8", "strict")
        bad = [c for c in line if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} or c in "\u202e\u2066"]
        assert bad == []


@given(TEXT, st.integers(0, 80))
def test_what_is_cut_fits_and_can_be_printed(text: str, size: int):
    assert len(cut(text, size).encode("utf-8", "strict")) <= size
    assert len(one_line(text, size).encode()) <= size
    assert escape(escape(text)) == escape(text)


def logged(message: str, job: str = "a", *, form: type[logging.Formatter] = TextLines) -> str:
    record = logging.LogRecord("schedcore.test", logging.INFO, "x.py", 1, message, None, None)
    record.job = job
    return form("host-1").format(record)
