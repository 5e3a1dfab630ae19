"""100,000 jobs due at once, 30,000 when quick: the pace holds, memory does not grow, nobody else waits for them."""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.figures import Curve

__all__ = ["burst"]


def burst(bench: Bench) -> None:
    """Both databases, default settings."""
    rounds = 1 if bench.quick else bench.rounds
    n = 30_000 if bench.quick else 100_000
    for database in ("sqlite", "postgresql"):
        found = []
        for _ in range(rounds):
            answer = bench.fresh("benchmarks.timing:burst", database, n=n)
            found.append(answer)
            bench.say(f"{database} burst { ({k: v for k, v in answer.items() if k != 'curve'}) }")
        add = bench.figures.add
        pace = f"last round {found[-1]['first']:,.0f}/s, then {found[-1]['last']:,.0f}/s"
        add(f"{database} burst, last second / first", [a["last"] / a["first"] for a in found], "x", pace)
        add(f"{database} burst, memory growth", [a["growth"] / 2**20 for a in found], "MiB")
        note = f"last round {found[-1]['later_s']:.2f} s of {found[-1]['seconds']:.2f} s"
        ratios = [a["later_s"] / a["seconds"] for a in found]
        add(f"{database} burst, wait of a later job / drain", ratios, "x", note)
        add(f"{database} burst, wait of another group", [a["apart_s"] for a in found], "s")
        points = tuple((float(t), float(done)) for t, done in found[-1]["curve"])
        bench.figures.curves.append(Curve(f"{database} burst", "seconds", "runs", points))
