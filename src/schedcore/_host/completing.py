"""What a shell may complete: keys of jobs, read only, for whoever has no time to open a ledger whole."""

from __future__ import annotations

from schedcore._host.settings import Settings
from schedcore._ledger.completing import keys_beginning

__all__ = ["job_keys"]


def job_keys(settings: Settings, begins: str) -> list[str]:
    """Keys that begin like this; none, whatever is wrong with the ledger."""
    try:
        return keys_beginning(settings.ledger, begins)
    except Exception:  # a missing driver, a ledger that is held, damaged or not there: nothing to propose
        return []
