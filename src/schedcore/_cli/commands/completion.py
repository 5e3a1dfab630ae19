"""``schedcore completion``: the shell's side; the other side is click's, with :mod:`job_argument`."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from schedcore._cli.command import command as make
from schedcore._cli.front import Front

__all__ = ["command"]


@make("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
def command(front: Front, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    For bash, from version 4.4 on:
      schedcore completion bash > ~/.local/share/bash-completion/completions/schedcore
    """
    made = get_completion_class(shell)
    assert made is not None
    script = made(click.get_current_context().find_root().command, {}, "schedcore", "_SCHEDCORE_COMPLETE")
    click.echo(ShellComplete.source(script))  # not the shell's own, which starts a bash to ask its version
