"""Completion of JOB: keys from the ledger, read only, silent, and given up when it takes long."""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO
from threading import Thread

import click

from schedcore._cli.front import Front

__all__ = ["complete_job"]

_PATIENCE_S = 0.15


def complete_job(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Keys that begin like this; none where the ledger does not answer within 150 ms."""
    found: list[str] = []
    try:
        with redirect_stderr(StringIO()):
            from schedcore._host import completing

            settings = Front.of(ctx).settings()
            thread = Thread(
                target=lambda: found.extend(completing.job_keys(settings, incomplete)), daemon=True
            )
            thread.start()
            thread.join(_PATIENCE_S)
    except Exception:  # whatever it is, a shell that completes must not hear of it
        return []
    return list(found)
