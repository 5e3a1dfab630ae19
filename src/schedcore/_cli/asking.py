"""Orders that take something away ask first; where nobody can be asked, they need ``--yes``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from schedcore._cli.front import Front
from schedcore.domain.errors import Refused
from schedcore.domain.lines import escape

__all__ = ["asked_first", "sure"]

Order = Callable[..., dict[str, Any]]


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


def asked_first(
    front: Front, order: Order, what: Callable[[dict[str, Any]], str], *, dry_run: bool
) -> dict[str, Any] | None:
    """The answer of an order that is first given as a dry run, which says what to ask about; ``None`` on a no."""
    found = order(dry_run=True)
    if dry_run:
        return found
    return order() if sure(front, what(found)) else None
