"""One command: a function of the front and its own options. Its answer is the exit code, 0 for none."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from schedcore._cli.front import Front, shared_options

__all__ = ["Command", "command", "write_options"]


class Command(click.Command):
    """A command that also takes the options of all commands, listed apart."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.params += shared_options()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(self, ctx, formatter)


def command(
    name: str, *, cls: type[Command] = Command, **attributes: Any
) -> Callable[[Callable[..., int | None]], Command]:
    """Make a command of a function whose first argument is the :class:`Front`."""

    def make(function: Callable[..., int | None]) -> Command:
        @functools.wraps(function)
        def callback(*args: Any, **given: Any) -> int | None:
            return function(Front.of(click.get_current_context()), *args, **given)

        return click.command(name, cls=cls, **attributes)(callback)

    return make


def write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """The options in two sections: the command's own, and those of all commands."""
    own: list[tuple[str, str]] = []
    shared: list[tuple[str, str]] = []
    for param in command.get_params(ctx):
        if isinstance(param, click.Argument):
            continue
        record = param.get_help_record(ctx)
        if record is not None:
            (shared if (param.name or "").startswith("shared_") else own).append(record)
    for title, records in (("Options", own), ("Options of every command", shared)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)
