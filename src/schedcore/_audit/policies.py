"""The few policies that the rules speak of, read from definitions, with what a host says of those left unset.

A host's own policies are not in the ledger: whoever asks for the audit hands them in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from schedcore._audit.snapshot import Snapshot
from schedcore._audit.stored import seconds_of

__all__ = ["Policies"]

_LONGEST_S = 86_400
_DEFINITION = (
    "select d.policies,d.payload,k.limit_s,k.retry_lost from {s}definitions d left join {s}kinds k on k.kind=d.kind"
    " where d.job_id=? and d.number=?"
)


class Policies:
    """What holds for a definition: its own word, else the host's, else the default."""

    def __init__(self, snapshot: Snapshot, host: Mapping[str, Any]) -> None:
        self._snapshot, self._host = snapshot, dict(host)
        self._read = lru_cache(maxsize=4_096)(self._definition)

    def retries_lost(self, job_id: int, number: int) -> bool | None:
        """Is a lost run tried again? ``None`` where the definition cannot be read."""
        own, _, _, allowed = self._read(job_id, number)
        if own is None:
            return None
        return self._value(own, "on_lost", "stop") == "retry" and allowed != 0

    def overlap(self, job_id: int, number: int) -> tuple[str, int]:
        """The overlap rule, and how many runs it lets live at once."""
        own = self._read(job_id, number)[0] or {}
        rule = str(self._value(own, "overlap", "skip"))
        return rule, int(self._value(own, "overlap_max", 2)) if rule == "parallel" else 1

    def limit_s(self, job_id: int, number: int) -> int:
        """The longest that one attempt may take, in seconds: of the payload, the policies or the kind."""
        own, payload, of_kind, _ = self._read(job_id, number)
        if own is None:
            return _LONGEST_S
        limit = int(self._value(own, "timeout", of_kind or _LONGEST_S))
        said = payload.get("timeout") if isinstance(payload, dict) else None
        return limit if said is None else max(limit, seconds_of(said) or _LONGEST_S)

    def _value(self, own: Mapping[str, Any], name: str, default: Any) -> Any:
        return own.get(name) or self._host.get(name) or default

    def _definition(
        self, job_id: int, number: int
    ) -> tuple[dict[str, Any] | None, Any, int | None, int | None]:
        found = self._snapshot.rows(_DEFINITION, job_id, number)
        if not found:
            return None, None, None, None
        policies, payload, limit, retry_lost = found[0]
        try:
            own = json.loads(policies)
            return own if isinstance(own, dict) else None, json.loads(payload), limit, retry_lost
        except ValueError:
            return None, None, limit, retry_lost
