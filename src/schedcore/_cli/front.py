"""What one call of the command was told before anything else: the options that every command takes.

They may stand before or after the command's name; each is kept here when it is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedcore.domain.words import LANGUAGES

if TYPE_CHECKING:
    from schedcore._host.callers import Actor
    from schedcore._host.control import Control
    from schedcore._host.settings import Settings

__all__ = ["Front", "color_of", "shared_options"]


@dataclass
class Front:
    """The options of all commands, and the doors they lead to."""

    ledger: str | None = None
    config: str | None = None
    json: bool = False
    tz: str | None = None
    lang: str | None = None
    color: str = "auto"
    quiet: bool = False
    verbose: int = 0
    yes: bool = False
    _settings: Any = None

    @classmethod
    def of(cls, ctx: click.Context) -> Front:
        """The front of this call."""
        return ctx.find_root().ensure_object(cls)

    def config_path(self) -> Path | None:
        """The settings file that is read, if there is one."""
        if self.config is not None:
            return Path(self.config)
        from schedcore._host.settings import default_config_path

        return default_config_path(os.environ)

    def overrides(self) -> dict[str, Any]:
        """The settings that were given by options."""
        given = {"ledger": self.ledger, "language": self.lang}
        return {name: value for name, value in given.items() if value}

    def settings(self) -> Settings:
        """The settings, read once. Raises ``Refused`` for a file that cannot be read or holds a bad value."""
        if self._settings is None:
            from schedcore._host.settings import load

            self._settings = load(self.config_path(), os.environ, self.overrides())
        settings: Settings = self._settings
        return settings

    def zone(self) -> str:
        """The zone of clock times that name none."""
        return self.tz or self.settings().timezone

    def language(self) -> str:
        """The language of triggers in words."""
        return self.settings().language

    def actor(self) -> Actor:
        """Who gives the orders of this call."""
        from schedcore._host.callers import caller

        return caller(os.environ)

    @contextmanager
    def control(self, *, plugins: bool = False) -> Iterator[Control]:
        """Control on the ledger, without an engine; ``plugins`` where what they declare is needed."""
        from schedcore._host.doors import open_control

        with open_control(self.settings(), self.actor(), load_plugins=plugins) as control:
            yield control


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is None or value is False or value == 0:
        return
    front = Front.of(ctx)
    name = param.name.removeprefix("shared_") if param.name else ""
    setattr(front, name, value)
    if name == "color":
        ctx.find_root().color = ctx.color = color_of(value, os.environ)


def color_of(asked: str, env: Mapping[str, str]) -> bool | None:
    """May output be coloured: yes, no, or only on a terminal."""
    if asked != "auto":
        return asked == "always"
    if env.get("NO_COLOR"):
        return False
    if env.get("FORCE_COLOR"):
        return True
    return False if env.get("TERM") == "dumb" else None


def shared_options() -> list[click.Option]:
    """New options, for one command."""

    def option(*names: str, **how: Any) -> click.Option:
        long = max(names, key=len).removeprefix("--")
        return click.Option([*names, f"shared_{long}"], expose_value=False, callback=_keep, **how)

    return [
        option("--ledger", metavar="URL", help="The ledger, instead of the settings' one."),
        option("--config", metavar="FILE", type=click.Path(), help="The settings file."),
        option("--json", is_flag=True, help="Answer in JSON."),
        option("--tz", metavar="ZONE", help="Read and show times in this zone, such as Europe/Berlin."),
        option("--lang", type=click.Choice(LANGUAGES), help="The language of triggers in words."),
        option("--color", type=click.Choice(["auto", "always", "never"]), help="Colour; auto by default."),
        option("-q", "--quiet", is_flag=True, help="Nothing but the answer."),
        option("-v", "--verbose", count=True, help="More about what is done; twice for all of it."),
        option("--yes", is_flag=True, help="Answer yes where a person would be asked."),
    ]
