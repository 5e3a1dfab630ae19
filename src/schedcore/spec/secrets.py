"""Secrets are names: a payload or a setting holds ``{"secret": "NAME"}``, never a value (F-08)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedcore.domain.errors import Refused

__all__ = ["SecretRefused", "secret_name"]


class SecretRefused(Refused):
    """A secret that was not granted to the job, or that no resolver knows; the run ends ``blocked: secret``."""

    default_code = "secret"


def secret_name(value: Any) -> str | None:
    """The name in ``{"secret": "NAME"}``, or ``None`` for anything else."""
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(value.get("secret"), str):
        return str(value["secret"])
    return None
