"""What a shell may complete: keys of jobs, read only, for whoever has no time to open a ledger whole."""

from __future__ import annotations

from schedcore._host.settings import Settings

__all__ = ["job_keys"]


def job_keys(settings: Settings, begins: str) -> list[str]:
    """Keys that begin like this. Raises whatever is wrong: the caller is silent about it."""
    from schedcore._ledger.completing import keys_beginning

    return keys_beginning(settings.ledger, begins)
