"""``docs/hooks.md`` has every hook, what it returns with all its fields, and a whole plugin that works."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest
from tests.house.pages import blocks, text_of

from schedcore._host.plugin_declarations import TYPES
from schedcore._host.plugins import gather
from schedcore._host.settings import load
from schedcore.spec import hooks

PAGE = "docs/hooks.md"
SECTIONS = re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", text_of(PAGE), re.MULTILINE | re.DOTALL)
EXAMPLES = dict(zip([name for name, _ in SECTIONS], blocks(PAGE, "python"), strict=True))


def test_every_hook_has_a_section_and_no_other_name_has():
    assert sorted(name for name, _ in SECTIONS) == sorted(hooks.__all__)


@pytest.mark.parametrize(("hook", "section"), SECTIONS, ids=[name for name, _ in SECTIONS])
def test_a_section_names_what_the_hook_returns_and_all_its_fields(hook: str, section: str):
    declared = TYPES[hook]

    assert f"`{declared.__name__}`" in section
    assert [one.name for one in fields(declared) if f"`{one.name}`" not in section] == []


@pytest.mark.parametrize("hook", EXAMPLES)
def test_the_plugin_of_a_section_is_admitted_and_answers_its_hook(hook: str, tmp_path: Path):
    plugin = ModuleType(f"example_of_{hook}")
    exec(compile(EXAMPLES[hook], PAGE, "exec"), plugin.__dict__)
    settings = load(None, {}, {"state_folder": str(tmp_path)})

    gathered = gather(settings, [plugin], {"SCHEDCORE_LOAD_PLUGINS": ""})

    (report,) = (one for one in gathered.report if one.name == plugin.__name__)
    assert (report.state, report.error, report.hooks) == ("ok", None, (hook,))


def test_the_trigger_of_its_section_gives_slots():
    plugin = ModuleType("example")
    exec(compile(EXAMPLES["schedcore_triggers"], PAGE, "exec"), plugin.__dict__)
    (kind,) = plugin.schedcore_triggers()

    assert kind.parse("5", "UTC").next(1) == 5 * plugin.MINUTE
