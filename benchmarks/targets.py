"""The targets of ``targets.toml``, and what is said of a figure beside them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure

__all__ = ["Target", "targets"]

_KEYS = {"figure", "at_least", "at_most", "stretch", "page"}


@dataclass(frozen=True, slots=True)
class Target:
    """A bound for one figure."""

    figure: str
    at_least: float | None = None
    at_most: float | None = None
    stretch: float | None = None
    page: str | None = None

    @property
    def bound(self) -> str:
        """The target in words."""
        sign, value = ("≥", self.at_least) if self.at_least is not None else ("≤", self.at_most)
        return f"{sign} {value:g}" + (f" ({self.stretch:g})" if self.stretch is not None else "")

    def says(self, figure: Figure | None) -> str:
        """PASS, PASS with the stretch reached, MISS, MISS with its page, or nothing where nothing was measured."""
        if figure is None:
            return "-"
        if self._holds(figure.median, self.at_least, self.at_most):
            reached = self.stretch is not None and self._holds(
                figure.median, *((self.stretch, None) if self.at_most is None else (None, self.stretch))
            )
            return "PASS +" if reached else "PASS"
        return f"MISS ({self.page})" if self.page else "MISS"

    @staticmethod
    def _holds(value: float, least: float | None, most: float | None) -> bool:
        return (least is None or value >= least) and (most is None or value <= most)


def targets() -> list[Target]:
    """All of them, in the order of the file."""
    path = Path(__file__).with_name("targets.toml")
    found = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["target"]:
        if set(entry) - _KEYS or ("at_least" in entry) == ("at_most" in entry):
            raise ValueError(f"not a target: {entry}")
        found.append(Target(**entry))
    return found
