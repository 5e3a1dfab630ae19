"""Texts that people and machines get wrong: near to what is right, or far from it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["JSON", "NASTY", "TEXT", "near"]

NASTY = (
    "", " ", "\n", "\t", "\0", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ud800", "\ufeff", "\u0661",
    "\uff11", "é", "\U0001f600", "e\u0301", "null", "nan", "-1", "0", "00", "1e9", "9" * 40, "*", "*/0", "1-",
    "-", "#", "L", "W", "?", "{{", "}}", "{{run_key}}", "{{DSH_SCHED_RUNKEY}}", "%", "%s", "'", '"', "\\", "/",
    "../", ";", "|", "$(id)", "`id`", "@reboot", "@daily", "Z", "+00:00", "+25:00", "T", "W53", "24:00", "60",
    "feb", "30 2 *", "P1M", "PT", "1h1h", "1.5h",
)  # fmt: skip
TEXT = (
    st.text(max_size=60) | st.sampled_from(NASTY) | st.lists(st.sampled_from(NASTY), max_size=6).map("".join)
)


def near(*right: str) -> st.SearchStrategy[str]:
    """Texts that are right but for a few places: something is cut out, doubled, or put in between."""

    @st.composite
    def made(draw: st.DrawFn) -> str:
        text = draw(st.sampled_from(right))
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(text)))
            how = draw(st.integers(0, 3))
            if how == 0:
                text = text[:at] + text[at + 1 :]
            elif how == 1:
                text = text[:at] + text[max(0, at - 3) :]
            else:
                text = text[:at] + draw(st.sampled_from(NASTY) | st.characters()) + text[at:]
        return text

    return made() | TEXT


_LEAVES: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.binary(max_size=4)
    | st.dates()
    | st.datetimes()
)
JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT | st.integers(), inner, max_size=4),
    max_leaves=12,
)
"""Values as a program may hand them over: JSON, and what is none."""
