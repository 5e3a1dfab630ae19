"""Lateness at fifty jobs a second, alone and beside a busy thread; nothing starts early."""

from __future__ import annotations

from benchmarks.bench import Bench

__all__ = ["lateness"]


def lateness(bench: Bench) -> None:
    """Both databases."""
    seconds = 2.0 if bench.quick else 10.0
    early: list[float] = [0.0] * bench.rounds
    for database in ("sqlite", "postgresql"):
        for neighbour in (False, True):
            found = []
            for number in range(bench.rounds):
                answer = bench.fresh(
                    "benchmarks.timing:lateness", database, rate=50, seconds=seconds, neighbour=neighbour
                )
                early[number] += answer["early"]
                found.append(answer)
                bench.say(f"{database} {'busy ' * neighbour}p50 {answer['p50']} p99 {answer['p99']} us")
            with_busy = ", busy thread" if neighbour else ""
            for name in ("p50", "p99", "most"):
                values = [answer[name] / 1000 for answer in found]
                bench.figures.add(f"{database} lateness {name}{with_busy}", values, "ms")
    bench.figures.add("runs that started early", early, "runs")
