"""Groups that know their commands by name and import one only when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from schedcore._cli import plugged
from schedcore._cli.command import Command
from schedcore._cli.front import color_of
from schedcore._cli.table import GROUPS, SECTIONS, children

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["Group", "Top"]


class Group(click.Group):
    """The commands of ``path``, imported on demand."""

    def __init__(self, path: str = "", **attributes: Any) -> None:
        super().__init__(name=path or None, **attributes)
        self.path = path
        self.children = children(path)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.children)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.children:
            return None
        if not self.path and cmd_name in GROUPS:
            return Group(cmd_name, help=GROUPS[cmd_name])
        path = f"{self.path} {cmd_name}".lstrip().replace(" ", "_")
        command: Command = import_module(f"schedcore._cli.commands.{path}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        found = [CompletionItem(name, help=self.children.get(name)) for name in names]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.children.items()))


class Top(Group):
    """``schedcore`` itself: sections, commands of plugins, and one place where errors become exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.children, *(name for name in plugged.names() if name not in self.children)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or plugged.command(cmd_name)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        extra.setdefault("color", color_of("auto", os.environ))
        return super().make_context(*args, **extra)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(path) for lines in SECTIONS.values() for path in lines)
        for section, lines in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(path.ljust(width), line) for path, line in lines.items()])
        by_plugins = plugged.names()
        if others := {name: who for name, who in by_plugins.items() if name not in self.children}:
            with formatter.section("By plugins"):
                formatter.write_dl([(name.ljust(width), f"From {who}.") for name, who in others.items()])

    def main(self, args: Any = None, *rest: Any, **extra: Any) -> Any:
        from schedcore._cli import ending

        given = sys.argv[1:] if args is None else list(args)
        extra["standalone_mode"] = False
        extra.setdefault("prog_name", "schedcore")
        try:
            answer = super().main(given, *rest, **extra)
        except BaseException as error:
            sys.exit(ending.report(error, given))
        sys.exit(answer if isinstance(answer, int) else 0)
