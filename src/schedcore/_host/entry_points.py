"""Entry points of a group, as the metadata of installed distributions tell them; nothing is imported.

One distribution whose metadata cannot be read, related to schedcore or not, must not hide all the others.
"""

from __future__ import annotations

import importlib_metadata

__all__ = ["points", "source"]


def points(group: str) -> tuple[list[importlib_metadata.EntryPoint], list[str]]:
    """The entry points of a group by name and distribution, and a warning for each one that cannot be read.

    Reads the metadata of all distributions from disk: ask once per process.
    """
    faults: list[str] = []
    try:
        found = list(importlib_metadata.entry_points(group=group))
    except Exception:
        found, faults = _one_by_one(group)
    return sorted(found, key=lambda point: (point.name, source(point)[0] or "")), faults


def source(point: importlib_metadata.EntryPoint) -> tuple[str | None, str | None]:
    """Name and version of the distribution an entry point is of, as far as it tells."""
    try:
        return (point.dist.name, point.dist.version) if point.dist else (None, None)
    except Exception:  # metadata may be missing or in pieces
        return None, None


def _one_by_one(group: str) -> tuple[list[importlib_metadata.EntryPoint], list[str]]:
    found: list[importlib_metadata.EntryPoint] = []
    faults: list[str] = []
    seen: set[str] = set()
    for distribution in importlib_metadata.distributions():
        name = f"at {getattr(distribution, '_path', '?')}"
        try:
            name = distribution.name
            if name not in seen:
                found += [point for point in distribution.entry_points if point.group == group]
            seen.add(name)
        except Exception as error:
            faults.append(f"the entry points of the distribution {name} cannot be read: {error}")
    return found, faults
