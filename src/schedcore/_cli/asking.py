"""Orders that take something away ask first; where nobody can be asked, they need ``--yes``."""

from __future__ import annotations

import sys

import click

from schedcore._cli.front import Front
from schedcore.domain.errors import Refused
from schedcore.domain.lines import escape

__all__ = ["sure"]


def sure(front: Front, what: str) -> bool:
    """May this be done? Raises ``Refused`` where nobody can be asked and nobody said so."""
    if front.yes:
        return True
    if front.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Refused(
            f"to {what} needs a yes, and nobody can be asked here",
            code="needs_yes",
            field="--yes",
            hint="add --yes, or --dry-run to see what would be done",
        )
    if click.confirm(escape(f"{what[0].upper()}{what[1:]}?"), err=True):
        return True
    click.echo("nothing was done", err=True)
    return False
