"""What was measured: named figures, one value a round, with median and range; and the contenders behind them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Curve", "Figure", "Figures", "Rate"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: a value a round. ``worst`` figures are judged by their worst round, others by the median."""

    name: str
    values: tuple[float, ...]
    unit: str = "x"
    note: str = ""

    @property
    def median(self) -> float:
        """The middle value."""
        return float(statistics.median(self.values))


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast one contender was: runs a second, a value a round, and how many runs the last round had."""

    name: str
    values: tuple[float, ...]
    n: int
    note: str = ""
    link: str = ""

    @property
    def median(self) -> float:
        """The middle value."""
        return float(statistics.median(self.values))


@dataclass(frozen=True, slots=True)
class Curve:
    """How a cost grows with a size: (size, value) pairs for the picture."""

    name: str
    size: str
    unit: str
    points: tuple[tuple[float, float], ...]


@dataclass(slots=True)
class Figures:
    """Everything of one run, in the order in which it was measured."""

    figures: dict[str, Figure] = field(default_factory=dict)
    rates: list[Rate] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)

    def add(self, name: str, values: Iterable[float], unit: str = "x", note: str = "") -> None:
        """One more figure."""
        self.figures[name] = Figure(name, tuple(values), unit, note)

    def ratio(self, name: str, above: Sequence[float], below: Sequence[float], note: str = "") -> None:
        """A ratio, round by round."""
        self.add(name, (a / b for a, b in zip(above, below, strict=True)), "x", note)

    def as_json(self) -> dict[str, Any]:
        """For the result file."""
        return {
            "figures": [{**asdict(one), "median": one.median} for one in self.figures.values()],
            "rates": [{**asdict(one), "median": one.median} for one in self.rates],
            "curves": [asdict(one) for one in self.curves],
        }
