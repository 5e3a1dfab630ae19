"""Commands of plugins: listed by name, imported when called, and a broken one loses itself only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from schedcore._cli import plugged

MODULE = """
import click

@click.command()
def greet():
    "Say hello."
    click.echo("hello from a plugin")

nothing = 42
"""
POINTS = """
[schedcore.commands]
greet = outside_commands:greet
broken = outside_nowhere:greet
nothing = outside_commands:nothing
list = outside_commands:greet
"""


@pytest.fixture
def outside(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A distribution with four commands, one of which works."""
    site = tmp_path / "site"
    info = site / "outside_commands-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside-commands\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (site / "outside_commands.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    plugged._found.cache_clear()
    yield site
    plugged._found.cache_clear()
    sys.modules.pop("outside_commands", None)


def test_help_lists_them_and_imports_none(outside: Path, cli: Cli):
    told = cli("--help")

    assert told.code == 0
    assert "By plugins:" in told.out
    assert "From outside-commands." in told.out
    assert "outside_commands" not in sys.modules


def test_one_is_imported_when_it_is_called(outside: Path, cli: Cli):
    assert cli("greet").out == "hello from a plugin\n"


@pytest.mark.parametrize("name", ["broken", "nothing"])
def test_a_broken_one_is_named_and_the_others_work(outside: Path, cli: Cli, name: str):
    told = cli(name)

    assert told.code == 1
    assert "outside-commands" in told.err
    assert cli("greet").code == 0
    assert cli("version").code == 0


def test_a_command_of_our_own_cannot_be_taken_over(outside: Path, cli: Cli):
    assert "hello from a plugin" not in cli("list").out


def test_plugins_check_names_the_broken_ones(outside: Path, cli: Cli):
    told = cli("plugins", "check", "--json")

    assert told.code == 1
    said = [fault["what"] for fault in told.json["faults"] if fault["plugin"] == "outside-commands"]
    assert len(said) == 2
