"""Keys for a shell that completes: asked with the driver alone, because a press of TAB has no time for more.

The connection cannot write, so that its close copies nothing back, even as the last one.
"""

from __future__ import annotations

import sqlite3
from urllib.parse import quote, unquote

__all__ = ["keys_beginning"]

_WAIT_S = 0.1
_MOST = 200


def keys_beginning(url: str, begins: str) -> list[str]:
    """Keys of live jobs that begin like this, at most 200. Raises whatever the driver raises."""
    pattern = begins.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    scheme, _, rest = url.partition("://")
    if scheme.split("+")[0] == "sqlite":
        return _sqlite(unquote(rest[1:].partition("?")[0]), pattern)
    return _postgresql(f"postgresql://{rest}", pattern)


def _sqlite(path: str, pattern: str) -> list[str]:
    connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=_WAIT_S)
    try:
        found = connection.execute(
            "select key from jobs where state <> 'retired' and key like ? escape '\\' order by key limit ?",
            (pattern, _MOST),
        )
        return [row[0] for row in found]
    finally:
        connection.close()


def _postgresql(url: str, pattern: str) -> list[str]:
    import psycopg

    with psycopg.connect(url, connect_timeout=2, options="-c statement_timeout=100") as connection:
        found = connection.execute(
            "select key from schedcore.jobs where state <> 'retired' and key like %s order by key limit %s",
            (pattern, _MOST),
        )
        return [row[0] for row in found]
