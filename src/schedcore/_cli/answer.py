"""Answers on stdout: JSON with its version, or lines and tables for people. Nothing else goes there."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from schedcore.domain.lines import escape

__all__ = ["colored", "emit", "fields", "line", "note", "table"]

_COLORS = {
    "active": "green",
    "ok": "green",
    "succeeded": "green",
    "running": "cyan",
    "queued": "cyan",
    "waiting": "cyan",
    "paused": "yellow",
    "pending": "yellow",
    "findings": "yellow",
    "skipped": "yellow",
    "blocked": "red",
    "failed": "red",
    "interrupted": "red",
    "error": "red",
    "warning": "yellow",
}


def emit(answer: Mapping[str, Any]) -> None:
    """One object on one line."""
    click.echo(json.dumps({"v": 1, **answer}, default=str))


def line(text: str) -> None:
    """One line, whatever is in the text."""
    click.echo(escape(text))


def note(text: str) -> None:
    """One line for people, on stderr."""
    click.echo(escape(text), err=True)


def colored(word: str) -> str:
    """A state in its colour. The word is there in any case."""
    color = _COLORS.get(word)
    return click.style(word, fg=color) if color else word


def fields(pairs: Iterable[tuple[str, Any]]) -> None:
    """Names and values, one pair a line; what is None is left out."""
    shown = [(name, str(value)) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{name.rjust(width)}: {escape(value)}")


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]], *, states: Sequence[int] = ()) -> None:
    """Columns as wide as what is in them; those of ``states`` are coloured."""
    cells = [[escape("-" if cell in {None, ""} else str(cell)) for cell in row] for row in rows]
    widths = [max(_width(row[at]) for row in [titles, *cells]) for at in range(len(titles))]
    for number, row in enumerate([list(titles), *cells]):
        parts = []
        for at, cell in enumerate(row):
            blank = " " * (widths[at] - _width(cell))
            parts.append((colored(cell) if number and at in states else cell) + blank)
        click.echo("  ".join(parts).rstrip())


def _width(text: str) -> int:
    """Columns of a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in {"F", "W"} else 1
        for c in text
    )
