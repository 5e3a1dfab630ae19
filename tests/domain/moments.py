"""Instants in tests, as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

from schedcore.domain.clock import to_us


def utc(value: str) -> int:
    """Microseconds of ``2026-03-08T07:00:00Z``, or of shorter forms taken for UTC."""
    there = datetime.fromisoformat(value)
    return to_us(there if there.tzinfo else there.replace(tzinfo=UTC))


def firings(rule: object, after: int, n: int) -> list[int]:
    """The next ``n`` slots of a rule, fewer if it ends."""
    found: list[int] = []
    while len(found) < n and (slot := rule.next(after)) is not None:  # type: ignore[attr-defined]  # any rule will do
        found.append(slot)
        after = slot
    return found
