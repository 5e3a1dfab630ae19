"""The audit of a ledger, for the command line and for Control alike: nothing is opened but a view to read."""

from __future__ import annotations

from functools import partial
from typing import Any

from schedcore._audit import audit
from schedcore._host.progress import Progress
from schedcore.domain.policy import Policies

__all__ = ["fsck"]


def fsck(
    url: str,
    policies: Policies,
    *,
    since: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Is what the ledger at ``url`` says true? The report as JSON has it (``docs/fsck.md``).

    ``policies`` are the host's, which hold where jobs say nothing and are not in the ledger; ``since`` leaves
    out what lies before an instant; ``progress`` is told of rows read, and of how many there are about. Raises
    ``LedgerError`` for a ledger that cannot be read.
    """
    told = None if progress is None else partial(progress, "reading")
    return audit(url, since=since, policies=policies.to_dict(), progress=told).as_dict()
