"""When a test is over, the auditor reads its ledger: whatever it did, what the ledger says is true.

A test that leaves something untrue on purpose, or shows a fault that is not mended yet, says so with
``@pytest.mark.untrue("I4", why="…")``; then exactly those rules are broken, and the day they are not, the mark
goes.
"""

from __future__ import annotations

import pytest

from schedcore._audit import audit

__all__ = ["judge", "untrue"]

_DEAD = frozenset({"L4"})
"""Hosts die in many tests, and nobody marks a dead host of this boot as dead: it stays ``live`` for ever."""


def untrue(url: str, *, but: frozenset[str] = frozenset()) -> list[tuple[str, str | None, str]]:
    """What the auditor finds in a ledger: rule, job, what. ``but`` are further rules that are not asked about."""
    return [(f.rule, f.job, f.what) for f in audit(url).findings if f.rule not in _DEAD | but]


def judge(request: pytest.FixtureRequest, url: str) -> None:
    """Compare what is found with what the test's marks say."""
    allowed = {rule for mark in request.node.iter_markers("untrue") for rule in mark.args}
    found = untrue(url)
    told = [f"{rule} {job or ''}: {what}" for rule, job, what in found if rule not in allowed]
    told += [f"{rule} is kept: take the mark away" for rule in sorted(allowed - {line[0] for line in found})]
    if told:
        pytest.fail("\n".join(["fsck", *told]), pytrace=False)
