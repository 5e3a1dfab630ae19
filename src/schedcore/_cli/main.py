"""The command ``schedcore``."""

from __future__ import annotations

import click

__all__ = ["main"]


@click.group()
def main() -> None:
    """Durable scheduled work."""
