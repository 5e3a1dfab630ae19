"""A gate: some are left alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedcore.spec import Veto


class QuietHours:
    """Vetoes greetings of those who want none."""

    names: frozenset[str] = frozenset()

    def ask(self, run: Mapping[str, Any]) -> Veto | None:
        """Let it through, or say why not."""
        name = run["payload"].get("name")
        return Veto(f"{name} wants to be left alone", passing=False) if name in self.names else None
