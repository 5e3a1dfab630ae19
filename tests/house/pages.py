"""The pages of the repository, read as what they are: blocks of code, rows of tables, links."""

from __future__ import annotations

import re
from pathlib import Path

from tests.house.repository import ROOT

__all__ = ["PAGES", "blocks", "named_blocks", "rows", "text_of", "toml_blocks"]

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "changes/*.md", "plugins/*/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CELLS = re.compile(r"(?<!\\)\|")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """The blocks of one language, in order."""
    return [body for found, body in _BLOCK.findall(text_of(page)) if found == language]


def toml_blocks(page: str) -> list[str]:
    return blocks(page, "toml")


def named_blocks(page: str, language: str = "python") -> dict[str, tuple[str, str | None]]:
    """Blocks whose first line is a comment with a file's name, each with the text block right behind it."""
    found: dict[str, tuple[str, str | None]] = {}
    everything = _BLOCK.findall(text_of(page))
    for at, (language_of, body) in enumerate(everything):
        head, _, _ = body.partition("\n")
        if language_of == language and head.startswith("# ") and Path(head[2:]).suffix:
            behind = everything[at + 1] if at + 1 < len(everything) else ("", "")
            found[head[2:].strip()] = (body, behind[1] if behind[0] == "text" else None)
    return found


def rows(page: str, title: str) -> list[list[str]]:
    """The rows of all tables of a page whose first column has this title; bars in code are written ``\\|``."""
    found: list[list[str]] = []
    inside = False
    for line in text_of(page).splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in _CELLS.split(line)[1:-1]]
        if not cells:
            inside = False
        elif cells[0] == title:
            inside = True
        elif inside and set(cells[0]) - set("-: "):
            found.append(cells)
    return found
