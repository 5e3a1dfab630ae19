"""The vault: values of secrets while this process lives, and the masker that hides them (F-08, E-25).

A value is asked for at spawn, kept only to be masked, and never written anywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any

from schedcore._engine.toolbox import Toolbox
from schedcore.domain.masking import Masker
from schedcore.spec.secrets import SecretRefused

__all__ = ["Vault"]


class Vault:
    """Secrets by name, services by name. ``known`` are values to mask from the start (settings' own)."""

    def __init__(self, toolbox: Toolbox, known: dict[str, str] | None = None) -> None:
        self._toolbox = toolbox
        self._values = dict(known or {})
        self._masker = Masker(self._values)
        self._services: dict[str, Any] = {}
        self._lock = threading.Lock()

    def masker(self) -> Masker:
        """The masker of every value known now."""
        return self._masker

    def granted(self, name: str, grants: Collection[str]) -> str:
        """The value of a granted secret; from now on it is masked.

        Raises :class:`SecretRefused` when it was not granted, or nobody knows it.
        """
        if name not in grants:
            raise SecretRefused(
                f"the secret {name!r} is not granted to this job",
                field="secrets",
                value=name,
                hint=f'add secrets = ["{name}"] to the job',
            )
        value = self._toolbox.secret(name)
        if value is None:
            raise SecretRefused(
                f"no resolver knows the secret {name!r}",
                field="secrets",
                value=name,
                hint=f"set it in [secrets] or the environment as SCHEDCORE_SECRET_{name.upper()}",
            )
        with self._lock:
            if self._values.get(name) != value:
                self._values = {**self._values, name: value}
                self._masker = Masker(self._values)
        return value

    def service(self, name: str) -> Any:
        """The object a plugin offers by this name, made at the first request; ``None`` when none does."""
        with self._lock:
            if name not in self._services:
                make = self._toolbox.services.get(name)
                self._services[name] = make() if make is not None else None
            return self._services[name]
