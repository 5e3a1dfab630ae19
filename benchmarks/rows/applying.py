"""``apply`` of 100,000 declared jobs."""

from __future__ import annotations

from benchmarks.bench import Bench

__all__ = ["apply"]


def apply(bench: Bench) -> None:
    """New ones, then the same unchanged."""
    n = 20_000 if bench.quick else 100_000
    found = []
    for _ in range(1 if bench.quick else bench.rounds):
        with bench.place("sqlite") as (url, folder):
            found.append(bench.child("benchmarks.applying:applied", url=url, folder=str(folder), n=n))
        bench.say(f"apply {found[-1]}")
    bench.figures.add("apply of new jobs", [a["new"] for a in found], "/s", f"{n:,} jobs")
    bench.figures.add("apply of unchanged jobs", [a["unchanged"] for a in found], "/s")
    bench.figures.add("rows written by an unchanged apply", [a["wrote"] for a in found], "rows")
