"""How each policy is read: one line per field, with its exact range.

Both ends of a range are allowed; outside it a value is refused, never clamped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from schedcore.domain.assertion import Assertion
from schedcore.domain.keys import check_template
from schedcore.domain.overlap import OVERLAPS
from schedcore.domain.reading import choice, flag, plain, seconds, texts, whole, wrong
from schedcore.domain.retry import BACKOFFS, LONGEST_DELAY, RETRIED

__all__ = ["CATCH_UPS", "READERS", "name_text"]

CATCH_UPS = ("run_once", "skip", "all")

_MINUTE, _DAY = 60, 86_400
_MISSING_PROGRAM = (126, 127)
_LONGEST_LIST = 32
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,99}", re.ASCII)

_Reader = Callable[[Any, str], Any]


def name_text(value: Any, field: str) -> str:
    """A name of 1 to 100 letters, digits or ``. _ : -`` that does not begin with a dash or a dot."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise wrong(f"{value!r} is not a name", field, value, "name", "1 to 100 of A-Z a-z 0-9 . _ : -")
    return value


def _one_of(*words: str) -> _Reader:
    return lambda value, field: choice(value, field, words)


def _whole(low: int, high: int) -> _Reader:
    return lambda value, field: whole(value, field, low, high)


def _seconds(low: int, high: int, *, or_zero: bool = False) -> _Reader:
    return lambda value, field: seconds(value, field, low, high, or_zero=or_zero)


def _names(at_most: int = _LONGEST_LIST) -> _Reader:
    return lambda value, field: texts(value, field, at_most, name_text)


def _retried(value: Any, field: str) -> str:
    """A failed reason that may be retried, or a plugin's, which carries its name and a dot."""
    if isinstance(value, str) and "." in value:
        return name_text(value, field)
    return choice(value, field, RETRIED)


def _retry_on(value: Any, field: str) -> tuple[str, ...]:
    return texts(value, field, _LONGEST_LIST, _retried)


def _findings_exit(value: Any, field: str) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= 255:
        raise wrong(f"{value!r} is not a list of exit codes", field, value, "bad_type", "e.g. [1, 3]")
    for i, code in enumerate(value):
        if whole(code, f"{field}[{i}]", 1, 255) in _MISSING_PROGRAM:
            raise wrong(
                f"exit {code} is a program that is not there, never a finding",
                f"{field}[{i}]",
                code,
                "out_of_range",
            )
    return tuple(sorted(set(value)))


READERS: Mapping[str, _Reader] = {
    "catch_up": _one_of(*CATCH_UPS),
    "catch_up_max": _whole(1, 1_000),
    "late_limit": _seconds(1, 366 * _DAY, or_zero=True),
    "overlap": _one_of(*OVERLAPS),
    "overlap_max": _whole(2, 32),
    "attempts": _whole(1, 10),
    "retry_delay": _seconds(5, LONGEST_DELAY),
    "retry_backoff": _one_of(*BACKOFFS),
    "retry_on": _retry_on,
    "timeout": _seconds(1, _DAY),
    "soft_fail": flag,
    "findings_exit": _findings_exit,
    "breaker": _whole(0, 100),
    "breaker_cooldown": _seconds(_MINUTE, 30 * _DAY, or_zero=True),
    "on_lost": _one_of("stop", "retry"),
    "stop_when_cut": flag,
    "on_full": _one_of("wait", "skip"),
    "groups": _names(8),
    "tags": _names(),
    "environments": _names(),
    "block_sensitive": _one_of("no", "unapproved", "always"),
    "assert": Assertion.parse,
    "unchecked": lambda value, field: plain(value, field, 1_000),
    "secrets": _names(),
    "gate_asks": _whole(0, 10),
    "delivery_key": check_template,
}
