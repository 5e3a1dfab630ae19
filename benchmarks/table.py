"""The one table that is printed: what was measured, its range, the target, and PASS or MISS."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.figures import Figures
from benchmarks.targets import Target

__all__ = ["table"]

_UNITS = {"x": " x", "/s": "/s"}


def table(figures: Figures, targets: Sequence[Target], *, whole: bool) -> tuple[str, bool]:
    """The text, and whether nothing is missed without a page; of a ``whole`` run nothing may be left out."""
    rows = []
    judged = set()
    fine = True
    for target in targets:
        figure = figures.figures.get(target.figure)
        if figure is None:
            if whole:
                fine = False
                rows.append((target.figure, "not measured", "", target.bound, "MISS"))
            continue
        judged.add(target.figure)
        verdict = target.says(figure)
        fine = fine and verdict != "MISS"
        rows.append(
            (target.figure, _value(figure.median, figure.unit), _range(figure.values), target.bound, verdict)
        )
    for name, figure in figures.figures.items():
        if name not in judged:
            rows.append((name, _value(figure.median, figure.unit), _range(figure.values), "", ""))
    lines = _set(("figure", "median", "range", "target (stretch)", ""), rows)
    lines += [
        "",
        "PASS +: the stretch too; MISS (page): a page of docs/decisions says why; x: median of the ratios",
    ]
    notes = [f"  {figure.name}: {figure.note}" for figure in figures.figures.values() if figure.note]
    if notes:
        lines += ["", *notes]
    if figures.rates:
        of = [
            (rate.name, f"{rate.median:,.0f}", _range(rate.values), f"{rate.n:,}") for rate in figures.rates
        ]
        lines += ["", *_set(("contender", "runs/s", "range", "N"), of), ""]
        lines += [
            f"  {r.name}: {r.note}" + (f" [{r.link}]" if r.link else "") for r in figures.rates if r.note
        ]
    return "\n".join(lines), fine


def _value(value: float, unit: str) -> str:
    return f"{_number(value)}{_UNITS.get(unit, ' ' + unit)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _range(values: Sequence[float]) -> str:
    if len(values) < 2:
        return ""
    return f"{_number(min(values))} - {_number(max(values))}"


def _set(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if i in {0, len(head) - 1} else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    ]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]
