"""``./dev simulate --seeds N --first-seed S --hours H``, or ``--days N`` of one minutely job without faults."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.simulation.judging import Story
from tests.simulation.playing import play, year

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs" / "proof" / "simulation.jsonl"


def main() -> int:
    """Play the seeds; the last line is the verdict, and 1 the answer when anything is not as it must be."""
    parser = argparse.ArgumentParser(prog="./dev simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, metavar="N")
    parser.add_argument("--first-seed", type=int, default=1, metavar="S")
    parser.add_argument("--hours", type=float, default=6.0, metavar="H")
    parser.add_argument(
        "--days", type=int, metavar="N", help="instead: one minutely job, one host, no faults"
    )
    parser.add_argument("--record", action="store_true", help=f"append to {RECORD.relative_to(ROOT)}")
    given = parser.parse_args()
    if given.days:
        minutes, done = year(given.days)
        print(
            f"{given.days} days, {minutes} minutes: {done} runs, {minutes - done} missing, the last one exact"
        )
        return int(minutes != done)
    stories = []
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        story = play(seed, given.hours)
        stories.append(story)
        print(
            f"seed {seed}: {story.hash}  {story.numbers['begun']} begun, {sum(story.faults.values())} faults",
            flush=True,
        )
        for violation in story.violations:
            print(f"  {violation}", flush=True)
        if given.record:
            _record(story, given.hours)
    return _verdict(stories, given.hours)


def _verdict(stories: list[Story], hours: float) -> int:
    decisions, faults, numbers, points = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    late = sorted(us for story in stories for us in story.late_us)
    for story in stories:
        decisions += story.decisions
        faults += story.faults
        numbers += story.numbers
        points += story.points
    for name, counted in (("decisions", decisions), ("faults", faults), ("numbers", numbers)):
        print(f"{name}: " + ", ".join(f"{what} {n}" for what, n in sorted(counted.items())))
    print(f"points of failure met, each in its mode: {len(points)}")
    if late:
        p50, p99 = late[len(late) // 2], late[min(len(late) - 1, len(late) * 99 // 100)]
        print(f"lateness: p50 {p50 / 1e6:.3f} s, p99 {p99 / 1e6:.3f} s, most {late[-1] / 1e6:.3f} s")
    wrong = sum(len(story.violations) for story in stories)
    print(f"{len(stories)} seeds of {hours:g} h: {wrong} violations")
    return int(wrong > 0)


def _record(story: Story, hours: float) -> None:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    line = {
        "commit": commit, "seed": story.seed, "hours": hours, "hash": story.hash, "violations": story.violations,
        "decisions": dict(story.decisions), "faults": dict(story.faults), "numbers": dict(story.numbers),
    }  # fmt: skip
    RECORD.parent.mkdir(exist_ok=True)
    with RECORD.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(main())
