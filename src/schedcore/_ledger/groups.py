"""Named groups: limits that hold across all hosts, as rows (P-19).

A claim locks the rows of the groups it needs in name order, counts their places and takes some; a place is
tied to its run, so a killed holder frees it when its run is taken from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from schedcore._ledger.schema import groups, places, starts
from schedcore._ledger.upsert import upsert

__all__ = ["declare", "free", "give", "listed", "rate_ends", "take"]


def declare(c: sa.Connection, limits: Mapping[str, tuple[int, int | None, int | None]]) -> None:
    """Write (places, rate, window in microseconds) of each group; the newest word of any host holds."""
    for name, (size, rate, window) in sorted(limits.items()):
        values = {"places": size, "rate": rate, "rate_window": window}
        query = upsert(c, groups).values(name=name, **values)
        c.execute(query.on_conflict_do_update(index_elements=["name"], set_=values))


def free(c: sa.Connection, names: Sequence[str], now: int) -> dict[str, int]:
    """How many runs each group lets start now, its row locked; a group nobody declared has one place."""
    if not names:
        return {}
    query = sa.select(groups).where(groups.c.name.in_(names)).order_by(groups.c.name).with_for_update()
    rows = {r["name"]: r for r in c.execute(query).mappings()}
    missing = [n for n in names if n not in rows]
    if missing:
        declare(c, dict.fromkeys(missing, (1, None, None)))
        return free(c, names, now)
    counted = sa.select(places.c.group_name, sa.func.count()).where(places.c.group_name.in_(names))
    used = {row[0]: row[1] for row in c.execute(counted.group_by(places.c.group_name))}
    left = {}
    for name, row in rows.items():
        left[name] = max(0, row["places"] - used.get(name, 0))
        if row["rate"]:
            since = now - row["rate_window"]
            c.execute(sa.delete(starts).where(starts.c.group_name == name, starts.c.at <= since))
            n = c.execute(sa.select(sa.func.count()).select_from(starts).where(starts.c.group_name == name))
            left[name] = min(left[name], max(0, row["rate"] - n.scalar_one()))
    return left


def rate_ends(c: sa.Connection, names: Sequence[str]) -> list[int]:
    """When the window of each of these groups that has used up its rate lets one more start, in microseconds."""
    if not names:
        return []
    rated = sa.select(groups.c.name, groups.c.rate, groups.c.rate_window).where(groups.c.rate.is_not(None))
    ends = []
    for name, rate, window in c.execute(rated.where(groups.c.name.in_(names))).all():
        newest = sa.select(starts.c.at).where(starts.c.group_name == name).order_by(starts.c.at.desc())
        first = c.execute(newest.offset(rate - 1).limit(1)).scalar()  # of the newest so many that it allows
        if first is not None:
            ends.append(first + window)
    return ends


def take(c: sa.Connection, pairs: Sequence[tuple[str, int]], now: int) -> None:
    """Runs take places: (group, run id)."""
    if not pairs:
        return
    c.execute(sa.insert(places), [{"group_name": g, "run_id": r} for g, r in pairs])
    rated = set(
        c.execute(
            sa.select(groups.c.name).where(
                groups.c.name.in_({g for g, _ in pairs}), groups.c.rate.is_not(None)
            )
        ).scalars()
    )
    given = [{"group_name": g, "at": now} for g, _ in pairs if g in rated]
    if given:
        c.execute(sa.insert(starts), given)


def give(c: sa.Connection, run_ids: Sequence[int]) -> None:
    """Runs give their places back."""
    if run_ids:
        c.execute(sa.delete(places).where(places.c.run_id.in_(run_ids)))


def listed(c: sa.Connection) -> list[dict[str, Any]]:
    """Each group: its places, those taken, its rate and window in seconds."""
    used = sa.select(sa.func.count()).where(places.c.group_name == groups.c.name).scalar_subquery()
    query = sa.select(groups, used.label("taken")).order_by(groups.c.name)
    return [
        {
            "name": row["name"],
            "places": row["places"],
            "taken": row["taken"],
            "rate": row["rate"],
            "window_s": None if row["rate_window"] is None else row["rate_window"] / 1_000_000,
        }
        for row in c.execute(query).mappings()
    ]
