"""One version, one name, one licence: what the distributions of the repository have in common."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from tests.house.repository import PLUGINS, PROJECTS, ROOT, declared, name_of, read_toml

from schedcore._version import DISTRIBUTION, __version__

MAJOR, MINOR = (int(part) for part in __version__.split(".")[:2])
LOCKSTEP = SpecifierSet(f">={MAJOR}.{MINOR},<{MAJOR}.{MINOR + 1}")
LINTER = read_toml(ROOT)["tool"]["importlinter"]
CONTRACTS = {contract["name"]: contract for contract in LINTER["contracts"]}

each_plugin = pytest.mark.parametrize("plugin", PLUGINS, ids=name_of)
each_project = pytest.mark.parametrize("project", PROJECTS, ids=name_of)


def ours(name: str) -> bool:
    return name == DISTRIBUTION or name.startswith("schedcore-")


def test_the_core_has_the_name_that_the_constant_says():
    assert declared(ROOT)["name"] == DISTRIBUTION


def test_uv_takes_the_distributions_from_here_and_not_from_an_index():
    told = read_toml(ROOT)["tool"]["uv"]

    assert told["workspace"]["members"] == ["plugins/*"]
    assert told["sources"] == {declared(project)["name"]: {"workspace": True} for project in PROJECTS}


@each_plugin
def test_a_plugin_is_named_after_its_folder_and_has_one_package_of_that_name(plugin: Path):
    (package,) = (path for path in (plugin / "src").iterdir() if path.is_dir())

    assert declared(plugin)["name"] == f"schedcore-{plugin.name}"
    assert package.name == f"schedcore_{plugin.name}"


@each_project
def test_every_distribution_takes_its_version_from_the_one_file(project: Path):
    told = read_toml(project)

    assert told["project"]["dynamic"] == ["version"]
    assert (
        project / told["tool"]["hatch"]["version"]["path"]
    ).resolve() == ROOT / "src/schedcore/_version.py"


@each_project
def test_distributions_of_this_repository_require_one_another_in_lockstep(project: Path):
    told = declared(project)
    extras = told.get("optional-dependencies", {})
    lines = [*told.get("dependencies", []), *(line for extra in extras.values() for line in extra)]
    wrong = [
        line
        for line in lines
        if ours((wanted := Requirement(line)).name)
        and wanted.specifier != LOCKSTEP
        and wanted.name != told["name"]  # an extra may name extras of its own distribution
    ]

    assert wrong == []


@each_plugin
def test_a_plugin_requires_the_core_and_no_other_plugin(plugin: Path):
    required = {Requirement(line).name for line in declared(plugin)["dependencies"]}

    assert {name for name in required if ours(name)} == {DISTRIBUTION}


@each_plugin
def test_the_core_offers_every_plugin_as_an_extra_and_in_all(plugin: Path):
    extras = declared(ROOT)["optional-dependencies"]
    (all_of_them,) = extras["all"]

    assert [Requirement(line).name for line in extras[plugin.name]] == [f"schedcore-{plugin.name}"]
    assert Requirement(all_of_them).extras == extras.keys() - {"all"}


@each_project
def test_every_distribution_carries_the_licence(project: Path):
    assert (project / "LICENSE").read_text(encoding="utf-8") == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert declared(project)["license"] == "MIT"


@each_project
def test_every_distribution_wants_the_same_pythons(project: Path):
    assert declared(project)["requires-python"] == ">=3.11"


def test_the_core_requires_nothing_but_what_the_design_says():
    required = {Requirement(line).name for line in declared(ROOT)["dependencies"]}

    assert required == {
        "alembic",
        "click",
        "croniter",
        "importlib-metadata",
        "orjson",
        "pluggy",
        "pydantic",
        "sqlalchemy",
        "tzdata",
    }


def test_the_contracts_know_every_plugin():
    packages = {f"schedcore_{plugin.name}" for plugin in PLUGINS}

    assert set(LINTER["root_packages"]) == {"schedcore"} | packages
    assert set(CONTRACTS["The core never imports a plugin"]["forbidden_modules"]) == packages
    assert set(CONTRACTS["A plugin sees schedcore.spec only"]["source_modules"]) == packages
    assert set(CONTRACTS["No plugin imports another"]["modules"]) == packages


def test_the_contracts_know_every_room_that_is_closed_to_plugins():
    closed = set(CONTRACTS["A plugin sees schedcore.spec only"]["forbidden_modules"])
    rooms = {
        f"schedcore.{re.sub(r'[.]py$', '', path.name)}"
        for path in (ROOT / "src/schedcore").iterdir()
        if path.name not in ("__init__.py", "__main__.py", "__pycache__", "py.typed", "spec")
    }

    assert closed == rooms
