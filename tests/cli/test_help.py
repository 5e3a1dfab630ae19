"""Every command has its place, its line, and a text that a person can read."""

from __future__ import annotations

import re

import click
import pytest
from tests.cli.conftest import Cli

from schedcore._cli.command import Command
from schedcore._cli.groups import Group
from schedcore._cli.main import main
from schedcore._cli.table import SECTIONS, children

PATHS = [path for lines in SECTIONS.values() for path in lines]
PROMISED = [
    "init",
    "add",
    "list",
    "show",
    "edit",
    "pause",
    "resume",
    "run",
    "remove",
    "next",
    "why",
    "history",
    "backfill",
    "apply",
    "export",
    "runs-list",
    "runs-show",
    "runs-logs",
    "runs-attempts",
    "runs-trace",
    "runs-wait",
    "runs-cancel",
    "runs-retry",
    "runs-release",
    "serve",
    "tick",
    "status",
    "doctor",
    "halt",
    "engine-list",
    "engine-drain",
    "db-upgrade",
    "db-check",
    "db-stats",
    "db-backup",
    "db-restore",
    "db-drill",
    "fsck",
    "events-tail",
    "plugins-list",
    "plugins-check",
    "plugins-hooks",
    "config-show",
    "config-check",
    "config-path",
    "config-schema",
    "completion",
    "version",
]
ORDERS = [
    "add",
    "edit",
    "pause",
    "resume",
    "run",
    "remove",
    "backfill",
    "apply",
    "init",
    "export",
    "halt",
    "runs-cancel",
    "runs-retry",
    "runs-release",
    "engine-drain",
    "db-upgrade",
    "db-backup",
    "db-restore",
    "tick",
]


def found(path: str) -> click.Command:
    """The command of a path."""
    command: click.Command = main
    for name in path.split():
        assert isinstance(command, Group)
        below = command.get_command(click.Context(command), name)
        assert below is not None, path
        command = below
    return command


def test_every_promised_command_is_there_and_no_other():
    assert sorted(path.replace(" ", "-") for path in PATHS) == sorted(PROMISED)


def test_help_names_every_command(cli: Cli):
    told = cli("--help").out

    for path in PATHS:
        assert re.search(rf"^  {path}  ", told, re.MULTILINE), path


@pytest.mark.parametrize("group", sorted({path.split()[0] for path in PATHS if " " in path}))
def test_the_help_of_a_group_names_its_commands(cli: Cli, group: str):
    told = cli(group, "--help")

    assert told.code == 0
    for name in children(group):
        assert re.search(rf"^  {name} ", told.out, re.MULTILINE)


@pytest.mark.parametrize("path", PATHS)
def test_a_command_says_in_help_what_the_list_says_of_it(cli: Cli, path: str):
    line = next(lines[path] for lines in SECTIONS.values() if path in lines)

    told = cli(*path.split(), "--help")

    assert told.code == 0
    assert line in " ".join(told.out.split())


@pytest.mark.parametrize("path", PATHS)
def test_every_option_says_what_it_is_for(path: str):
    command = found(path)

    assert isinstance(command, Command)
    assert command.name == path.rsplit(maxsplit=1)[-1]
    for param in command.params:
        if isinstance(param, click.Option) and param.name not in {"limit", "n"}:
            assert param.help, f"{path} {param.opts}"
            assert param.help[0].isupper() or param.help.startswith("…"), f"{path} {param.opts}"


@pytest.mark.parametrize("path", PATHS)
def test_every_command_takes_json_before_and_after_its_name(path: str):
    assert "--json" in [name for param in found(path).params for name in param.opts]


@pytest.mark.parametrize("path", ORDERS)
def test_every_order_can_be_tried_without_being_done(path: str):
    assert "--dry-run" in [name for param in found(path.replace("-", " ")).params for name in param.opts]


@pytest.mark.parametrize("path", ["list", "runs list"])
def test_lists_take_the_same_options(path: str):
    names = {name for param in found(path).params for name in param.opts}

    assert {"--since", "--until", "--limit", "--state", "--tag"} <= names


def test_the_version_is_that_of_the_distribution(cli: Cli):
    from schedcore._version import __version__

    assert cli("version").out == f"schedcore {__version__}\n"
    assert cli("version", "--json").json == {"v": 1, "version": __version__}
    assert cli("--json", "version").json == {"v": 1, "version": __version__}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_the_completion_script_calls_back(cli: Cli, shell: str):
    told = cli("completion", shell)

    assert told.code == 0
    assert f"{shell}_complete" in told.out
