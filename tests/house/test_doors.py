"""What a public module says it has is what it has. The order of its list is ruff's affair."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest
from tests.house.repository import PROJECTS, ROOT, name_of

SOURCE = ROOT / "src"


def public_modules() -> list[str]:
    rooms = [SOURCE / "schedcore" / room for room in ("domain", "spec", "testing")]
    files = [path for room in rooms for path in sorted(room.rglob("*.py")) if path.name != "__init__.py"]
    names = [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in files]
    return [name for name in names if "._" not in name]


def defined(tree: ast.Module) -> set[str]:
    """The names without an underscore that a module makes itself; it may also list what it imports."""
    names: set[str] = set()
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Assign():
                names |= {
                    part.id for at in node.targets for part in ast.walk(at) if isinstance(part, ast.Name)
                }
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("name", public_modules())
def test_a_public_module_lists_what_it_defines(name: str):
    path = SOURCE.joinpath(*name.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))

    module = import_module(name)

    listed = set(module.__all__)
    assert sorted(defined(tree) - listed) == [], "not listed: list it, or put an underscore before"
    assert sorted(name for name in listed if not hasattr(module, name)) == [], "listed and not there"


@pytest.mark.parametrize("name", ["schedcore", "schedcore.domain", "schedcore.spec", "schedcore.testing"])
def test_a_door_has_everything_that_it_lists(name: str):
    door = import_module(name)
    listed = getattr(door, "__all__", [])

    assert len(set(listed)) == len(listed)
    assert [name for name in listed if not hasattr(door, name)] == []


@pytest.mark.parametrize("project", PROJECTS, ids=name_of)
def test_a_type_checker_may_trust_every_distribution(project: Path):
    (package,) = (path for path in (project / "src").iterdir() if path.is_dir())

    assert (package / "py.typed").exists()
