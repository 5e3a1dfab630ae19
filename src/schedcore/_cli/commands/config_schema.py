"""``schedcore config schema``."""

from __future__ import annotations

import json

import click

from schedcore._cli.command import command as make
from schedcore._cli.front import Front

__all__ = ["command"]


@make("schema")
def command(front: Front) -> None:
    """Print the JSON Schema of the settings.

    Editors that know TOML complete and check a settings file with it.
    """
    from schedcore._host.setting_views import schema

    click.echo(json.dumps(schema(), indent=None if front.json else 2))
