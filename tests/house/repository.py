"""Where things are in the repository, for the tests that look after it."""

from __future__ import annotations

import sys
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
PROJECTS = [ROOT, *PLUGINS]


def declared(project: Path) -> dict[str, Any]:
    """The table ``project`` of a distribution's ``pyproject.toml``."""
    return read_toml(project)["project"]


def read_toml(project: Path) -> dict[str, Any]:
    return tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))


def name_of(project: Path) -> str:
    return project.name if project != ROOT else "core"


def dev_script() -> ModuleType:
    """``dev`` as a module; nothing of it is left on the disk."""
    loader = SourceFileLoader("dev", str(ROOT / "dev"))
    module = module_from_spec(spec_from_loader("dev", loader))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module
