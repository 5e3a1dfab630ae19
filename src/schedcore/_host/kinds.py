"""What a host announces of itself: its kinds of work (T-18), and the versions of all it is made of (T-22)."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedcore._engine.toolbox import Toolbox
from schedcore._host.payload_schema import payload_schema
from schedcore._version import __version__
from schedcore.domain.zones import tz_version

if TYPE_CHECKING:
    from schedcore._host.plugins import PluginReport

__all__ = ["kinds_rows", "stamp", "versions"]


def kinds_rows(toolbox: Toolbox) -> list[dict[str, Any]]:
    """The rows of the ledger's table of kinds, without ``seen_at``."""
    return [
        {
            "kind": kind,
            "version": one.version,
            "schema": json.dumps(payload_schema(one), sort_keys=True, ensure_ascii=False),
            "limit_s": one.limit,
            "attempts": one.attempts,
            "retry_lost": int(one.retry_lost),
        }
        for kind, (_, one) in sorted(toolbox.executors.items())
    ]


def versions(report: Iterable[PluginReport] = ()) -> dict[str, Any]:
    """Code, schema of the ledger, zone data, Python, plugins, and a stamp of the installed files.

    Two hosts whose answers differ run different code; a host whose own stamp differs from the one it
    announced was upgraded under its feet.
    """
    from schedcore._ledger.migrate import HEAD

    plugins = {one.name: one.version for one in report if one.state == "ok"}
    return {
        "code": __version__,
        "schema": HEAD,
        "tz": tz_version(),
        "python": platform.python_version(),
        "plugins": plugins,
        "stamp": stamp(),
    }


def stamp(packages: Iterable[str] | None = None) -> int:
    """The newest change of a source file of schedcore and of its loaded plugins, in microseconds since 1970.

    Only sources count: what Python compiles beside them at the first import is no upgrade.
    """
    names = packages if packages is not None else _ours(sys.modules)
    roots = {
        Path(file).parent for name in names if (file := getattr(sys.modules.get(name), "__file__", None))
    }
    return max((_newest(str(root)) for root in roots), default=0) // 1_000


def _ours(modules: Mapping[str, Any]) -> list[str]:
    return [name for name in list(modules) if name.startswith("schedcore") and "." not in name]


def _newest(folder: str) -> int:
    newest = 0
    with os.scandir(folder) as entries:
        for one in entries:
            if one.is_dir(follow_symlinks=False):
                newest = max(newest, 0 if one.name == "__pycache__" else _newest(one.path))
            elif one.name.endswith(".py"):
                newest = max(newest, one.stat().st_mtime_ns)
    return newest
