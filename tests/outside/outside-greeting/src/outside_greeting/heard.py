"""A check of finished work: was everybody greeted who should have been?"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from schedcore.spec import CheckContext


class Heard(BaseModel):
    """What a job says under ``assert.options``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str


def heard(context: CheckContext) -> str | None:
    """Nothing to say when the run greeted that name."""
    said = context.outcome.text or ""
    name = context.options.name
    return None if said.endswith(f" {name}") else f"{name} was not greeted: {said!r}"
