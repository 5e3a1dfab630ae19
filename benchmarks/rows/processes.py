"""One process: an idle host's memory, the next slot, scripts, and the command line from start to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.bench import Bench, Failed
from benchmarks.filling import filling
from schedcore._engine import clock
from schedcore.domain.clock import HOUR

__all__ = ["commands", "memory", "scripts", "slots"]

_COMMAND = Path(sys.executable).with_name("schedcore")


def memory(bench: Bench) -> None:
    """``schedcore serve`` with every plugin that is installed, idle for two seconds."""
    most = 100_000 if bench.quick else 1_000_000
    for jobs, name in ((1_000, "idle host, resident"), (most, "idle host, resident, most jobs")):
        with bench.place("sqlite") as (url, folder):
            with filling(url) as fill:
                fill.jobs(
                    1, jobs, clock.wall() // 1_000_000 * 1_000_000 + HOUR // 2, apart_us=1000, kind="script"
                )
            mib = _served(url, folder)
        bench.figures.add(name, [mib], "MiB", f"{jobs:,} jobs")
        bench.say(f"{name}: {mib:.1f} MiB")


def _served(url: str, folder: Path) -> float:
    command = [str(_COMMAND), "--ledger", url, "--json", "serve"]
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, env=_env(folder))
    try:
        time.sleep(4)
        if process.poll() is not None:
            raise Failed(f"serve ended: {(folder / 'out').read_text()[-1000:]}")
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1]) / 1024


def slots(bench: Bench) -> None:
    """Fifty expressions in five zones."""
    answers = [
        bench.child("benchmarks.slots:next_slot", asks=20_000 if bench.quick else 100_000)
        for _ in range(bench.rounds)
    ]
    add = bench.figures.add
    add("next slot, median", [a["ordinary"]["median"] for a in answers], "us")
    add("next slot, worst", [a["ordinary"]["worst"] for a in answers], "us")
    changing = [a["changing"] for a in answers]
    add("next slot on days of clock change, median", [a["median"] for a in changing], "us")
    add("next slot on days of clock change, worst", [a["worst"] for a in changing], "us")
    bench.say(f"next slot {answers}")


def scripts(bench: Bench) -> None:
    """The script executor with its supervisors."""
    answer = bench.child("benchmarks.scripts:spawned", runs=300 if bench.quick else 1000, rounds=bench.rounds)
    note = f"last round {answer['ours'][-1]:,.0f}/s of {answer['bare'][-1]:,.0f}/s"
    bench.figures.ratio("1,000 scripts / bare subprocess loop", answer["ours"], answer["bare"], note)
    bench.say(f"scripts {note}")


def commands(bench: Bench) -> None:
    """Whole processes, beside an interpreter that does nothing."""
    with bench.place("sqlite") as (url, folder):
        with filling(url) as fill:
            fill.jobs(1, 1_000, clock.wall() // 1_000_000 * 1_000_000 + HOUR // 2, apart_us=1000)
        who = {
            "bare": [sys.executable, "-c", "pass"],
            "--help": [str(_COMMAND), "--help"],
            "list": [str(_COMMAND), "--ledger", url, "list"],
        }
        took: dict[str, list[float]] = {name: [] for name in who}
        for number in range(bench.rounds * 3 + 1):
            for name, command in who.items():
                began = time.perf_counter()
                done = subprocess.run(command, cwd=folder, env=_env(folder), capture_output=True, check=False)
                if done.returncode:
                    raise Failed(f"{name}: {done.stderr.decode()[-1000:]}")
                if number:  # the first one writes what Python keeps compiled
                    took[name].append(time.perf_counter() - began)
        if done.stdout.count(b"\n") < 1_000:
            raise Failed("list did not list them all")
    ratio = bench.figures.ratio
    middle = {name: sorted(each)[len(each) // 2] * 1000 for name, each in took.items()}
    note = f"{middle['bare']:.1f} ms, --help {middle['--help']:.0f} ms, list {middle['list']:.0f} ms"
    ratio("schedcore --help / bare interpreter", took["--help"], took["bare"], note)
    ratio("schedcore list of 1,000 jobs / bare interpreter", took["list"], took["bare"])
    bench.say(note)


def _env(folder: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SCHEDCORE_")}
    return kept | {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "XDG_STATE_HOME": str(folder),
        "COLUMNS": "120",
    }
