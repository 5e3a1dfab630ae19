"""The picture: who drains how fast, how costs grow with a ledger, how a burst goes. Plain SVG, no library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from benchmarks.figures import Curve, Figures, Rate

__all__ = ["picture"]

_WIDTH, _LEFT, _RIGHT, _ROW = 960, 210, 110, 20
_OURS, _FLOOR, _PEER = "#1f6f8b", "#9aa5ab", "#d98e32"
_LINES = ("#1f6f8b", "#d98e32", "#6a4c93", "#3c8d40", "#b23a48", "#555555")
_INK, _FAINT = "#22282b", "#d8dee1"
_PANEL_W, _PANEL_H = 400, 230


def picture(figures: Figures, title: str) -> str:
    """The whole document."""
    parts: list[str] = [_text(16, 28, title, size=16, weight="600")]
    y = 48
    for database, name in (("sqlite", "SQLite"), ("postgresql", "PostgreSQL")):
        rates = [rate for rate in figures.rates if rate.name.startswith(database + " ")]
        if rates:
            drawn, height = _bars(rates, f"No-op drain on {name}, runs a second", database, y)
            parts += drawn
            y += height
    panels = _panels(figures.curves)
    for i, (name, curves, logarithmic) in enumerate(panels):
        x = 16 + (i % 2) * (_PANEL_W + 80)
        parts += _panel(name, curves, x, y + (i // 2) * (_PANEL_H + 70), logarithmic=logarithmic)
    y += -(-len(panels) // 2) * (_PANEL_H + 70)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 16}" width="{_WIDTH}" height="{y + 16}"'
        ' font-family="system-ui, sans-serif" role="img">'
    )
    back = f'<rect width="{_WIDTH}" height="{y + 16}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", back, *parts, "</svg>"]) + "\n"


def _bars(rates: Sequence[Rate], title: str, database: str, y: int) -> tuple[list[str], int]:
    parts = [_text(16, y + 16, title, weight="600")]
    most = max(max(rate.values) for rate in rates)
    across = (_WIDTH - _LEFT - _RIGHT) / most
    y += 28
    for i, rate in enumerate(rates):
        name = rate.name.removeprefix(database + " ")
        top = y + i * _ROW
        peer = any(name.startswith(each) for each in ("huey", "APS", "PgQ", "Proc", "DBOS"))
        fill = _FLOOR if name.startswith("floor") else _PEER if peer else _OURS
        parts.append(_text(_LEFT - 8, top + 13, name, anchor="end"))
        parts.append(_rect(_LEFT, top + 2, max(1.0, rate.median * across), _ROW - 5, fill))
        low, high = (_LEFT + value * across for value in (min(rate.values), max(rate.values)))
        middle = top + _ROW / 2 - 0.5
        parts.append(_line([(low, middle), (high, middle)], _INK, 1))
        parts.append(_text(high + 6, top + 13, f"{rate.median:,.0f}"))
    legend = ((_OURS, "schedcore"), (_FLOOR, "the same writes by hand"), (_PEER, "peers"))
    x = _LEFT
    y += len(rates) * _ROW + 6
    for colour, word in legend:
        parts += [_rect(x, y, 10, 10, colour), _text(x + 15, y + 9, word, size=11)]
        x += 40 + 7 * len(word)
    parts.append(_text(x, y + 9, "line: from the slowest round to the fastest", size=11))
    return parts, len(rates) * _ROW + 62


def _panels(curves: Iterable[Curve]) -> list[tuple[str, list[Curve], bool]]:
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.size, []).append(curve)
    titles = {
        "jobs": "An idle tick beside so many jobs, microseconds",
        "runs": "A tick and reads beside so many runs, microseconds",
        "seconds": "100,000 jobs due at once: done after so many seconds",
    }
    return [(titles.get(size, size), found, size != "seconds") for size, found in groups.items()]


def _panel(title: str, curves: Sequence[Curve], x: int, y: int, *, logarithmic: bool) -> list[str]:
    left, top, right, bottom = x + 60, y + 30, x + _PANEL_W, y + _PANEL_H
    points = [point for curve in curves for point in curve.points]
    across = _Scale([p[0] for p in points], left, right, logarithmic=logarithmic)
    up = _Scale([p[1] for p in points], bottom, top, logarithmic=logarithmic)
    parts = [_text(x, y + 14, title, weight="600")]
    for value in up.marks():
        at = up(value)
        parts += [
            _line([(left, at), (right, at)], _FAINT, 1),
            _text(left - 6, at + 4, _short(value), anchor="end", size=11),
        ]
    for value in across.marks():
        parts.append(_text(across(value), bottom + 16, _short(value), anchor="middle", size=11))
    for i, curve in enumerate(curves):
        colour = _LINES[i % len(_LINES)]
        parts.append(_line([(across(px), up(py)) for px, py in curve.points], colour, 2))
        if logarithmic:
            parts += [
                f'<circle cx="{across(a):.1f}" cy="{up(b):.1f}" r="3" fill="{colour}"/>'
                for a, b in curve.points
            ]
        parts += [
            _rect(left + (i % 2) * 170, bottom + 24 + (i // 2) * 15, 10, 10, colour),
            _text(left + 15 + (i % 2) * 170, bottom + 33 + (i // 2) * 15, curve.name, size=11),
        ]
    return parts


class _Scale:
    """From values to pixels."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, logarithmic: bool) -> None:
        self._log = logarithmic
        self._low, self._high = 0.0, max(values)
        if logarithmic:
            self._low, self._high = (
                float(f(math.log10(v))) for f, v in ((math.floor, min(values)), (math.ceil, max(values)))
            )
            self._high = max(self._high, self._low + 1)
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        at = math.log10(value) if self._log else value
        return self._start + (at - self._low) / (self._high - self._low) * (self._end - self._start)

    def marks(self) -> list[float]:
        """Values worth a line."""
        if self._log:
            return [10.0**power for power in range(int(self._low), int(self._high) + 1)]
        step = 10 ** math.floor(math.log10(self._high))
        step = next(s for s in (step / 5, step / 2, step, step * 2) if self._high / s <= 6)
        return [step * i for i in range(int(self._high / step) + 1)]


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _text(
    x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", weight: str = "400"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
        f' fill="{_INK}">{escape(words)}</text>'
    )


def _rect(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>'


def _line(points: Sequence[tuple[float, float]], colour: str, width: int) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
