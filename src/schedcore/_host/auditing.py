"""The audit of a ledger, for the command line and for Control alike: nothing is opened but a view to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedcore._audit import audit
from schedcore.domain.policy import Policies

__all__ = ["fsck"]


def fsck(
    url: str,
    policies: Policies,
    *,
    since: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Is what the ledger at ``url`` says true? The report as JSON has it (``docs/fsck.md``).

    ``policies`` are the host's, which hold where jobs say nothing and are not in the ledger; ``since`` leaves
    out what lies before an instant; ``progress`` is told of rows read, and of how many there are about. Raises
    ``LedgerError`` for a ledger that cannot be read.
    """
    return audit(url, since=since, policies=policies.to_dict(), progress=progress).as_dict()
