"""Texts: bounded, without what may not stand in them, and without secrets (I18, I19). One scan per table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from schedcore._audit.columns import TABLES, Column, Table
from schedcore._audit.report import Notebook
from schedcore._audit.snapshot import Snapshot

__all__ = ["audit_texts"]

_CONTROL = "\x01-\x1f\x7f-\x9f"
_WHAT = {
    "long": "is longer than {longest} characters",
    "control": "holds a control character",
    "nul": "holds a NUL",
}


def audit_texts(
    snapshot: Snapshot,
    note: Notebook,
    firsts: Mapping[str, int],
    canaries: Sequence[str],
    tick: Callable[[int], None],
) -> None:
    """Scan every table, from the numbers in ``firsts`` on. ``canaries`` are texts that stand nowhere."""
    if not canaries:
        note.leaves("I18", "no canary was given to look for")
    for table in TABLES:
        first = firsts.get(table.name)
        where, values = ("", ()) if first is None else (f" where {table.number}>=?", (first,))
        rows = int(snapshot.value(f"select count(*) from {{s}}{table.name}{where}", *values))
        note.checks("I19", rows)
        bounds = _Question(snapshot.is_sqlite)
        for column in table.columns:
            bounds.ask(column)
        for number, job_id, slot, run, found in _found(
            snapshot, table, where, bounds.cases, bounds.values, values
        ):
            name, _, fault = found.partition(":")
            longest = next(column.longest for column in table.columns if column.name == name)
            what = f"{table.name}.{name} (number {number}) {_WHAT[fault].format(longest=longest)}"
            note.finds("I19", what, job=job_id or None, slot=slot, run=run)
        if canaries:
            note.checks("I18", rows * len(table.columns))
            _secrets(snapshot, note, table, where, values, canaries)
        tick(rows)


class _Question:
    """The cases of one ``case when …`` over the columns of a table, the first that holds is the answer."""

    def __init__(self, is_sqlite: bool) -> None:
        self._sqlite = is_sqlite
        self.cases: list[str] = []
        self.values: list[Any] = []

    def ask(self, column: Column) -> None:
        """Is it too long, and does it hold what it may not?"""
        name = column.name
        self.cases.append(f"when length({name})>{column.longest} then '{name}:long'")
        if self._sqlite:
            if column.line:
                self._pattern(f"{name} glob ?", f"*[{_CONTROL}]*", f"{name}:control")
            self.cases.append(f"when instr(cast({name} as blob),x'00')>0 then '{name}:nul'")
        elif column.line:
            self._pattern(f"{name} ~ ?", f"[{_CONTROL}]", f"{name}:control")

    def _pattern(self, condition: str, pattern: str, answer: str) -> None:
        self.cases.append(f"when {condition} then '{answer}'")
        self.values.append(pattern)


def _found(
    snapshot: Snapshot,
    table: Table,
    where: str,
    cases: Sequence[str],
    asked: Sequence[Any],
    values: Sequence[Any],
) -> Iterable[tuple[Any, ...]]:
    if not cases:
        return ()
    named = f"{table.number} as number,{table.job} as job,{table.slot} as slot,{table.run} as run"
    inner = f"select {named},case {' '.join(cases)} end as bad from {{s}}{table.name}{where}"
    return snapshot.stream(
        f"select number,job,slot,run,bad from ({inner}) q where bad is not null", *asked, *values
    )


def _secrets(
    snapshot: Snapshot,
    note: Notebook,
    table: Table,
    where: str,
    values: Sequence[Any],
    canaries: Sequence[str],
) -> None:
    """Look for each canary in each column; the finding never repeats it."""
    look = "instr({name},?)>0" if snapshot.is_sqlite else "strpos({name},?)>0"
    cases = [
        f"when {look.format(name=column.name)} then '{column.name}'"
        for column in table.columns
        for _ in canaries
    ]
    asked = [canary for _ in table.columns for canary in canaries]
    for number, job_id, slot, run, name in _found(snapshot, table, where, cases, asked, values):
        what = f"{table.name}.{name} (number {number}) holds a value that stands for a secret"
        note.finds("I18", what, job=job_id or None, slot=slot, run=run)
