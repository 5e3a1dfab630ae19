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
    front = Front.of(ctx)
    found: list[str] = []

    def look() -> None:
        try:
            from schedcore._host.completing import job_keys

            with redirect_stderr(StringIO()):
                found.extend(job_keys(front.settings(), incomplete))
        except Exception:  # whatever it is, a shell that completes must not hear of it
            return

    thread = Thread(target=look, daemon=True)
    thread.start()
    thread.join(_PATIENCE_S)
    return list(found)
