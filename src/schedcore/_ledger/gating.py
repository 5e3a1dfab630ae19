"""What a gate's answer does to a queued run (A-17)."""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger.schema import runs
from schedcore.domain.run import RunState

__all__ = ["ask_again", "nearest_ask", "veto"]

_WAITING = sa.and_(runs.c.state == sa.literal_column("2"), runs.c.state < sa.literal_column("3"))


def veto(c: sa.Connection, run_id: int, now: int, why: str, again_at: int | None, asks: int) -> bool:
    """Leave a queued run ``waiting`` until ``again_at``, or end it ``blocked`` when its asks are used up.

    Answers whether it has ended.
    """
    mine = (runs.c.id == run_id, runs.c.state == sa.literal_column("0"))
    if again_at is not None:
        more = (*mine, sa.func.coalesce(runs.c.asks, 0) < asks)
        values = {
            "state": RunState.WAITING.value,
            "reason": "blocked",
            "text": why,
            "next_attempt_at": again_at,
        }
        query = sa.update(runs).where(*more).values(**values, asks=sa.func.coalesce(runs.c.asks, 0) + 1)
        if c.execute(query).rowcount:
            return False
    final = {"state": RunState.BLOCKED.value, "outcome": "blocked", "reason": "gate", "text": why}
    query = sa.update(runs).where(*mine).values(**final, finished_at=now, next_attempt_at=None)
    return c.execute(query).rowcount > 0


def ask_again(c: sa.Connection, now: int) -> int:
    """Waiting runs whose time to be asked again has come are queued; answers how many."""
    query = sa.update(runs).where(_WAITING, runs.c.reason == "blocked", runs.c.next_attempt_at <= now)
    return c.execute(query.values(state=0, next_attempt_at=None)).rowcount


def nearest_ask(c: sa.Connection) -> int | None:
    """When the next waiting run is to be asked again."""
    return c.execute(sa.select(sa.func.min(runs.c.next_attempt_at)).where(_WAITING)).scalar()
