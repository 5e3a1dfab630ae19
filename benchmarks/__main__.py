"""``python -m benchmarks [--quick] [--only ROW …] [--rounds N]``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.machine import machine
from benchmarks.picture import picture
from benchmarks.rows import applying, burst, costs, drains, lateness, processes
from benchmarks.table import table
from benchmarks.targets import targets

RESULTS = Path(__file__).parent / "results"
ROWS = {
    "sqlite": drains.sqlite,
    "postgresql": drains.postgresql,
    "lateness": lateness.lateness,
    "burst": burst.burst,
    "jobs": costs.jobs,
    "runs": costs.runs,
    "memory": processes.memory,
    "slots": processes.slots,
    "scripts": processes.scripts,
    "commands": processes.commands,
    "apply": applying.apply,
}


def main() -> int:
    """Measure, print, write; 1 when a target is missed that has no page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="three rounds and smaller sizes: under three minutes"
    )
    parser.add_argument("--only", nargs="+", metavar="ROW", choices=ROWS, help=f"of {', '.join(ROWS)}")
    parser.add_argument("--rounds", type=int, help="instead of five, or three when quick")
    given = parser.parse_args()
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # who starts a program twice does not have it compiled twice
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - began:6.1f}  {line}", file=sys.stderr, flush=True)

    with Bench(quick=given.quick, rounds=given.rounds, say=say) as bench:
        facts = machine(bench.root)
        for name in given.only or ROWS:
            say(name)
            ROWS[name](bench)
        judged = targets()
        text, fine = table(bench.figures, judged, whole=not given.only)
    print(text)
    name = "quick" if given.quick else "full"
    if given.only or given.rounds:
        name = "part"
    RESULTS.mkdir(exist_ok=True)
    result = {
        "machine": facts,
        "quick": given.quick,
        "rounds": bench.rounds,
        "seconds": round(time.monotonic() - began),
        "verdicts": {one.figure: one.says(bench.figures.figures.get(one.figure)) for one in judged},
        **bench.figures.as_json(),
    }
    where = RESULTS / f"{name}.json"
    where.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    how = f"{facts['cores']} cores, Python {facts['python']}, SQLite {facts['sqlite']}, {bench.rounds} rounds"
    where.with_suffix(".svg").write_text(picture(bench.figures, f"schedcore: {how}"), encoding="utf-8")
    print(
        f"\n{facts['fdatasync_ms']} ms for one synced write of 4 KiB; ledgers and PostgreSQL lie on a real disk"
    )
    print(f"{time.monotonic() - began:.0f} s; benchmarks/results/{name}.json and .svg")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
