"""Every error code that the sources raise, found by reading them: what is on no page cannot hide."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.house.repository import PROJECTS

__all__ = ["raised"]

_ROOT = "SchedcoreError"


@cache
def raised() -> dict[str, frozenset[str]]:
    """Error codes, each with the classes it is raised as."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in _sources()]
    parents = {node.name: _bases(node) for tree in trees for node in ast.walk(tree) if _is_class(node)}
    errors = {name for name in parents if _ROOT in _line(name, parents)}
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name in errors:
                for code in _defaults(node):
                    found.setdefault(code, set()).add(node.name)
    makers: dict[str, tuple[int, str]] = {}
    for tree in trees:
        makers |= dict(_makers(tree, errors))
    for tree in trees:
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = _name(call.func)
            if name in errors:
                given, made = _keyword(call), name
            elif name in makers:
                place, made = makers[name]
                given = call.args[place] if len(call.args) > place else _keyword(call)
            else:
                continue
            for code in _texts(given):
                found.setdefault(code, set()).add(made)
    for code in _of_the_command_line():
        found.setdefault(code, set()).add("the command line")
    return {code: frozenset(classes) for code, classes in sorted(found.items())}


def _sources() -> list[Path]:
    return [path for project in PROJECTS for path in sorted((project / "src").rglob("*.py"))]


def _is_class(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef)


def _bases(node: ast.ClassDef) -> list[str]:
    return [_name(base) for base in node.bases]


def _line(name: str, parents: dict[str, list[str]]) -> set[str]:
    above = {name}
    new = [name]
    while new:
        new = [base for known in new for base in parents.get(known, []) if base not in above]
        above |= set(new)
    return above


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _defaults(node: ast.ClassDef) -> Iterator[str]:
    for part in node.body:
        targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
        if any(isinstance(at, ast.Name) and at.id == "default_code" for at in targets):
            yield from _texts(part.value)


def _makers(tree: ast.Module, errors: set[str]) -> Iterator[tuple[str, tuple[int, str]]]:
    """Functions that take a code and give an error with it: the place of the code, and the class."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        names = [arg.arg for arg in node.args.posonlyargs + node.args.args]
        if "code" not in names:
            continue
        for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
            given = _keyword(call)
            if _name(call.func) in errors and isinstance(given, ast.Name) and given.id == "code":
                yield node.name, (names.index("code"), _name(call.func))


def _keyword(call: ast.Call) -> ast.AST | None:
    return next((part.value for part in call.keywords if part.arg == "code"), None)


def _texts(node: ast.AST | None) -> Iterator[str]:
    """The texts an expression may be; the keys of a table, and what is asked of one, are none."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp():
            yield from _texts(node.body)
            yield from _texts(node.orelse)
        case ast.BoolOp():
            for part in node.values:
                yield from _texts(part)
        case ast.Call(func=ast.Attribute(value=ast.Dict() as table, attr="get"), args=[_, default]):
            for value in [*table.values, default]:
                yield from _texts(value)


def _of_the_command_line() -> Iterator[str]:
    (path,) = (path for path in _sources() if path.parts[-2:] == ("_cli", "ending.py"))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "code":
                    yield from (text for text in _texts(value) if text)
