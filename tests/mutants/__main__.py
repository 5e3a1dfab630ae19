"""``./dev mutants [--only N …] [--from N]``: every deliberate fault, each killed by a test, or not."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutants.killing import ROOT, Verdict, killed, mutants, scratch

RECORD = ROOT / "docs" / "proof" / "mutants.jsonl"
_EXPLAINED = 3


def main() -> int:
    """Kill them; the last line is the verdict, and 1 the answer when one survives."""
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__)
    parser.add_argument("--only", type=int, nargs="+", metavar="N")
    parser.add_argument("--from", type=int, default=1, metavar="N", dest="first")
    parser.add_argument("--record", action="store_true", help=f"append to {RECORD.relative_to(ROOT)}")
    given = parser.parse_args()
    wanted = [m for m in mutants() if m.number >= given.first and (not given.only or m.number in given.only)]
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="schedcore-mutants-") as folder, scratch(Path(folder)) as root:
        for mutant in wanted:
            verdict = killed(mutant, root)
            verdicts.append(verdict)
            how = f"killed by {verdict.seen_by}" if verdict.seen_by else mutant.explained or "SURVIVED"
            print(f"{mutant.number:3}  {verdict.seconds:5.1f} s  {mutant.name}: {how}", flush=True)
            if not verdict.seen_by and not mutant.explained:
                print(verdict.said, file=sys.stderr, flush=True)
    dead = sum(1 for verdict in verdicts if verdict.seen_by)
    explained = sum(1 for verdict in verdicts if not verdict.seen_by and verdict.mutant.explained)
    alive = len(verdicts) - dead - explained
    if given.record:
        _record(verdicts)
    print(f"{len(verdicts)} mutants: {dead} killed, {explained} explained, {alive} survived")
    return 1 if alive or explained > _EXPLAINED else 0


def _record(verdicts: list[Verdict]) -> None:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    RECORD.parent.mkdir(exist_ok=True)
    with RECORD.open("a", encoding="utf-8") as file:
        for one in verdicts:
            line = {
                "commit": commit,
                "mutant": one.mutant.name,
                "seen_by": one.seen_by,
                "seconds": round(one.seconds, 1),
            }
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    sys.exit(main())
