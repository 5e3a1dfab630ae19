"""Idle ticks beside many jobs, and ticks and reads beside many runs; the curves of both."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from benchmarks.bench import Bench
from benchmarks.figures import Curve

__all__ = ["jobs", "runs"]


def jobs(bench: Bench) -> None:
    """A tick when nothing is due, from 1,000 jobs on."""
    sizes = [1_000, 10_000, 100_000] if bench.quick else [1_000, 10_000, 100_000, 1_000_000]
    for database in ("sqlite", "postgresql"):
        if bench.quick and database == "postgresql":
            sizes = [1_000, 100_000]
        ledgers = [{"jobs": size, "runs": 0} for size in sizes]
        took = _asked(bench, database, ledgers, reads=False)
        ticks = [each["tick"] for each in took]
        ratios = [each[-1] / each[0] for each in ticks]
        note = f"{sizes[-1]:,} jobs: {ticks[-1][-1]:,.0f} us, {sizes[0]:,}: {ticks[-1][0]:,.0f} us"
        bench.figures.add(f"{database} idle tick, most jobs / 1,000", ratios, "x", note)
        _curve(bench, f"{database} idle tick", "jobs", sizes, ticks)


def runs(bench: Bench) -> None:
    """A tick, and what a person asks for, from 10,000 finished runs of 1,000 jobs on."""
    sizes = [50_000, 500_000] if bench.quick else [10_000, 50_000, 500_000, 5_000_000]
    base = sizes.index(50_000)
    took = _asked(bench, "sqlite", [{"jobs": 1_000, "runs": size} for size in sizes], reads=True)
    for deed in ("tick", "list", "runs list", "why"):
        each = [answer[deed] for answer in took]
        note = f"{sizes[-1]:,} runs: {each[-1][-1]:,.0f} us, {sizes[base]:,}: {each[-1][base]:,.0f} us"
        ratios = [values[-1] / values[base] for values in each]
        bench.figures.add(f"sqlite {deed}, most runs / 50,000", ratios, "x", note)
        _curve(bench, f"sqlite {deed}", "runs", sizes, each)


def _asked(
    bench: Bench, database: str, ledgers: list[dict[str, Any]], *, reads: bool
) -> list[dict[str, list[float]]]:
    """One answer a round, on ledgers that are filled once: the rounds are within one child."""
    with ExitStack() as stack:
        places = [stack.enter_context(bench.place(database)) for _ in ledgers]
        given = [{"url": url, **ledger} for (url, _), ledger in zip(places, ledgers, strict=True)]
        folder = str(places[0][1])
        answer = bench.child(
            "benchmarks.costs:asked",
            places=given,
            folder=folder,
            reads=reads,
            rounds=bench.rounds,
            repeats=60 if bench.quick else 200,
            slow_repeats=4 if bench.quick else 10,
        )
    for each in answer["rounds"]:
        bench.say(f"{database} {each}")
    found: list[dict[str, list[float]]] = answer["rounds"]
    return found


def _curve(bench: Bench, name: str, size: str, sizes: list[int], took: list[list[float]]) -> None:
    middle = [sorted(values)[len(took) // 2] for values in zip(*took, strict=True)]
    points = tuple((float(n), us) for n, us in zip(sizes, middle, strict=True))
    bench.figures.curves.append(Curve(name, size, "us", points))
