"""The command ``greet``."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
def greet(name: str) -> None:
    """Say hello."""
    click.echo(f"hello {name}")
