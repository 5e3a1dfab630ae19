from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedcore.domain.lines import cut, escape, one_line

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
FORGERIES = [
    "a\r\nb", "a\nb", "a\rb", "a\x0bb", "a\x0cb", "a\x1cb", "a\x1db", "a\x1eb", "a\x85b", "a\u2028b",
    "a\u2029b", "a\x1b[2Kb", "a\x1b]0;title\x07b", "a\x9bb", "a\x00b", "a\x7fb", "a\x08\x08b", "a\tb", *BIDI,
]  # fmt: skip


@pytest.mark.parametrize("text", FORGERIES, ids=ascii)
def test_fault_S43_a_forged_line_stays_one_line(text: str):
    line = escape(f"job {text} failed")

    assert len(line.splitlines()) == 1
    assert not [c for c in line if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}]
    assert "\\" in line


@pytest.mark.parametrize("text", FORGERIES, ids=ascii)
def test_threat_T11_every_record_is_one_line(text: str):
    log = "\n".join(one_line(f"{i} {text}", 200) for i in range(3))

    assert len(log.splitlines()) == 3


def test_what_was_there_can_be_read():
    assert escape("a\r\n\t\x1b[0m\x85\u2028\u202e") == "a\\r\\n\\t\\x1b[0m\\x85\\u2028\\u202e"


@pytest.mark.parametrize("text", ["", "plain", "Größe 中文 🎉 C:\\temp", "nbsp\xa0", "zwj 👩\u200d🚀"])
def test_ordinary_text_passes_as_it_is(text: str):
    assert escape(text) == text


def test_a_lone_surrogate_can_be_written():
    assert escape("\ud800x") == "\\ud800x"
    assert cut("\ud800" * 9, 5).encode()


@given(st.text())
def test_escaping_twice_changes_nothing_more(text: str):
    assert escape(escape(text)) == escape(text)


@pytest.mark.parametrize("echo", ["${7*7}", "{{7*7}}", "{0.__class__}", "%(x)s", "%s %d"])
def test_fault_S3_what_looks_like_an_expression_is_only_text(echo: str):
    assert one_line(echo, 200) == echo


def test_a_cut_shows_how_much_is_missing():
    assert cut("x" * 100, 40) == "x" * 25 + "…[+75 bytes]"


@given(st.text(), st.integers(0, 60))
def test_a_cut_text_is_within_its_bytes_and_whole_characters(text: str, limit: int):
    done = cut(text, limit)

    assert len(done.encode()) <= limit or (not text and not done)
    if len(text.encode("utf-8", "replace")) <= limit:
        assert done == text.encode("utf-8", "replace").decode()


@given(st.text(max_size=300), st.integers(20, 100))
def test_one_line_is_one_line_within_its_bytes(text: str, limit: int):
    done = one_line(text, limit)

    assert len(done.splitlines()) <= 1
    assert len(done.encode()) <= limit
