"""``docs/commands.md`` has every command with its arguments and options, as the command line itself tells them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest
from tests.house.pages import text_of

from schedcore._cli.front import shared_options
from schedcore._cli.main import main
from schedcore._cli.table import GROUPS, SECTIONS

PAGE = "docs/commands.md"
TEXT = text_of(PAGE)
PATHS = [path for section in SECTIONS.values() for path in section]
SAID = dict(re.findall(r"^### `schedcore ([^`\n]+)`\n\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL))


def command(path: str) -> tuple[click.Command, click.Context]:
    found: click.Command = main
    ctx = click.Context(main, info_name="schedcore")
    for name in path.split():
        assert isinstance(found, click.Group)
        inner = found.get_command(ctx, name)
        assert inner is not None
        found, ctx = inner, click.Context(inner, parent=ctx, info_name=name)
    return found, ctx


def heading(path: str) -> str:
    found, ctx = command(path)
    arguments = [one.make_metavar(ctx) for one in found.params if isinstance(one, click.Argument)]
    return " ".join([path, *arguments])


def bullets(options: list[click.Option], ctx: click.Context) -> Iterator[str]:
    for one in options:
        record = one.get_help_record(ctx)
        if record is not None:
            yield f"- `{record[0]}`" + (f": {' '.join(record[1].split())}" if record[1] else "")


def own_options(path: str) -> list[str]:
    found, ctx = command(path)
    own = [one for one in found.params if isinstance(one, click.Option) and not shared(one)]
    return list(bullets(own, ctx))


def shared(one: click.Parameter) -> bool:
    return (one.name or "").startswith("shared_")


def expected(path: str) -> str:
    """What the page says of a command, before what was written by hand."""
    line = next(section[path] for section in SECTIONS.values() if path in section)
    return "\n".join([line, *(["", *own] if (own := own_options(path)) else [])])


def test_every_command_has_a_section_and_no_other_has():
    assert list(SAID) == [heading(path) for path in PATHS]


@pytest.mark.parametrize("path", PATHS)
def test_a_section_begins_with_the_commands_own_words(path: str):
    assert SAID[heading(path)].rstrip("\n").startswith(expected(path))


@pytest.mark.parametrize("path", PATHS)
def test_a_section_names_no_option_that_the_command_has_not(path: str):
    found, _ = command(path)
    known = {name for one in [*found.params, *shared_options()] for name in one.opts} | {"--help"}
    written = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", re.sub(r" -- .*", "", SAID[heading(path)])))

    assert {name for name in written if name.startswith("--")} - known == set()


def test_the_options_of_every_command_are_told_once():
    told = TEXT.partition("## Options of every command")[2].partition("\n## ")[0]
    wanted = list(bullets(shared_options(), click.Context(main)))

    assert [line for line in told.splitlines() if line.startswith("- ")] == wanted


def test_a_group_is_explained_by_its_own_line():
    assert [line for line in GROUPS.values() if line not in TEXT] == []
