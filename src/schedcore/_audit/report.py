"""What an audit found: for each rule how much was checked, what is wrong, and what could not be checked and why.

Every finding is counted; of each rule the first hundred are kept, so that a ledger in ruins fits into memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schedcore._audit.rules import RULES
from schedcore.domain.clock import text

__all__ = ["KEPT", "Finding", "Notebook", "Report", "Result"]

KEPT = 100
"""How many findings of one rule are kept; the others are counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. ``slot`` is an instant in microseconds, ``job`` a key, ``run`` a number."""

    rule: str
    what: str
    job: str | None = None
    slot: int | None = None
    run: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it; the slot is the 24 characters, and the remedy is the rule's."""
        slot = None if self.slot is None else text(self.slot)
        told = {"rule": self.rule, "job": self.job, "slot": slot, "run": self.run, "what": self.what}
        return {**told, "remedy": RULES[self.rule].remedy}


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one rule: ``checked`` rows (of ``unit``), findings, and what was left, each with why."""

    rule: str
    checked: int
    findings: int
    left: tuple[tuple[str, int], ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        rule = RULES[self.rule]
        left = [{"why": why, "count": n} for why, n in self.left]
        return {
            "rule": self.rule,
            "says": rule.says,
            "checked": self.checked,
            "of": rule.unit,
            "findings": self.findings,
            "not_checked": left,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The whole. ``clock`` is the instant of the ledger at which liveness was judged, if a host lives."""

    ledger: str
    since: int | None
    clock: int | None
    results: tuple[Result, ...]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Is nothing wrong?"""
        return not any(result.findings for result in self.results)

    @property
    def found(self) -> int:
        """How many findings there are, those included that were only counted."""
        return sum(result.findings for result in self.results)

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "v": 1,
            "ledger": self.ledger,
            "ok": self.ok,
            "since": None if self.since is None else text(self.since),
            "clock": None if self.clock is None else text(self.clock),
            "found": self.found,
            "findings": [finding.as_dict() for finding in self.findings],
            "rules": [result.as_dict() for result in self.results],
        }


class Notebook:
    """Where the checks write down what they did. ``key_of`` gives the key of a job by its number."""

    def __init__(self, key_of: Callable[[int], str | None] = lambda job_id: None) -> None:
        self._key_of = key_of
        self._checked: Counter[str] = Counter()
        self._found: Counter[str] = Counter()
        self._left: dict[str, Counter[str]] = {rule: Counter() for rule in RULES}
        self._kept: list[Finding] = []

    def checks(self, rule: str, count: int = 1) -> None:
        """So many rows were checked."""
        self._checked[rule] += count

    def finds(
        self,
        rule: str,
        what: str,
        *,
        job: int | str | None = None,
        slot: int | None = None,
        run: int | None = None,
    ) -> None:
        """Something is wrong. ``job`` is a number or a key."""
        self._found[rule] += 1
        if self._found[rule] <= KEPT:
            key = self._key_of(job) if isinstance(job, int) else job
            self._kept.append(Finding(rule, what, key, slot, run))

    def leaves(self, rule: str, why: str, count: int = 1) -> None:
        """So much could not be checked, for this reason."""
        self._left[rule][why] += count

    def results(self) -> tuple[Result, ...]:
        """What became of every rule, in their order."""
        return tuple(
            Result(rule, self._checked[rule], self._found[rule], tuple(self._left[rule].items()))
            for rule in RULES
        )

    def findings(self) -> tuple[Finding, ...]:
        """Those that were kept, by rule."""
        order = list(RULES)
        return tuple(sorted(self._kept, key=lambda finding: order.index(finding.rule)))
