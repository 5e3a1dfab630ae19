"""Drains: so many jobs due at one instant, done by us, by hand, and by the peers of the same database."""

from __future__ import annotations

from benchmarks.bench import Bench, Contender
from benchmarks.figures import Rate

__all__ = ["postgresql", "sqlite"]

_HUNDRED = {"batch": 100, "claim_ahead": 196}
_BEST = {"batch": 500, "claim_ahead": 500}
_FLOOR = "writes alone: executes nothing, computes no next slot, renews no lease"

_SQLITE = [
    Contender("floor 100", "benchmarks.floor:sqlite", 50_000, {"batch": 100}, _FLOOR),
    Contender("batch 100", "benchmarks.ours:drain", 20_000, {"settings": _HUNDRED}, "window of 200"),
    Contender("floor 1,000", "benchmarks.floor:sqlite", 60_000, {"batch": 1000}, _FLOOR),
    Contender("best batch", "benchmarks.ours:drain", 20_000, {"settings": _BEST}, "batch and claim_ahead 500"),
    Contender("defaults", "benchmarks.ours:drain", 20_000, {}, "a settings file that names the ledger alone"),
    Contender(
        "defaults, busy thread",
        "benchmarks.ours:drain",
        5_000,
        {"neighbour": True},
        "one thread of pure Python in the same process",
    ),
    Contender(
        "huey",
        "benchmarks.peers.huey:drain",
        6_000,
        {"fsync": False, "workers": 4},
        "nothing is synced (fsync=False); stores no run: a task's row is deleted before it is called, and one that"
        " dies is lost; no results; no schedule to advance. Counted at the call",
        "huey.readthedocs.io/en/latest/api.html#SqliteHuey",
    ),
    Contender(
        "huey, fsync",
        "benchmarks.peers.huey:drain",
        500,
        {"fsync": True, "workers": 4},
        "as above, the deletion of each task synced",
        "huey.readthedocs.io/en/latest/api.html#SqliteHuey",
    ),
    Contender(
        "APScheduler",
        "benchmarks.peers.apscheduler:drain",
        1_500,
        {},
        "commits are not synced (WAL, synchronous=normal); stores no run and no outcome: next_run_time is advanced"
        " when the call is handed to a thread",
        "apscheduler.readthedocs.io/en/3.x/userguide.html",
    ),
]  # fmt: skip


def sqlite(bench: Bench) -> None:
    """SQLite."""
    rates = _measured(bench, _SQLITE, "sqlite")
    ratio = bench.figures.ratio
    ratio("sqlite batch 100 / floor 100", rates["batch 100"], rates["floor 100"])
    ratio("sqlite batch 100 / huey", rates["batch 100"], rates["huey"])
    ratio("sqlite batch 100 / APScheduler", rates["batch 100"], rates["APScheduler"])
    ratio("sqlite best batch / floor 1,000", rates["best batch"], rates["floor 1,000"])
    ratio("sqlite best batch / huey", rates["best batch"], rates["huey"])
    ratio("sqlite defaults / batch 100", rates["defaults"], rates["batch 100"])
    ratio("sqlite defaults beside a busy thread / without", rates["defaults, busy thread"], rates["defaults"])


def _measured(bench: Bench, contenders: list[Contender], database: str) -> dict[str, list[float]]:
    found = bench.drains(contenders, database)
    rates = {name: [answer["rate"] for answer in answers] for name, answers in found.items()}
    for one in contenders:
        n = found[one.name][-1]["n"]
        bench.figures.rates.append(
            Rate(f"{database} {one.name}", tuple(rates[one.name]), n, one.note, one.link)
        )
    return rates
