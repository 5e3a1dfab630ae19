"""Drains: so many jobs due at one instant, done by us, by hand, and by the peers of the same database."""

from __future__ import annotations

from typing import Any

from benchmarks.bench import Bench, Contender
from benchmarks.figures import Rate

__all__ = ["postgresql", "sqlite"]

_HUNDRED = {"batch": 100, "claim_ahead": 196}
_BEST = {"batch": 500, "claim_ahead": 500}
_PGQUEUER = (
    "queue synced, log not (durability balanced); stores a log row for picked and for done instead of a run, no"
    " times of its own; no schedule to advance. Counted at the call"
)
_PGQUEUER_DOC = "pgqueuer.readthedocs.io/en/latest/guides/performance-tuning"
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
    ratio("sqlite batch 100 / huey, fsync", rates["batch 100"], rates["huey, fsync"])
    ratio("sqlite batch 100 / APScheduler", rates["batch 100"], rates["APScheduler"])
    ratio("sqlite best batch / floor 1,000", rates["best batch"], rates["floor 1,000"])
    ratio("sqlite best batch / huey", rates["best batch"], rates["huey"])
    ratio("sqlite defaults / batch 100", rates["defaults"], rates["batch 100"])
    ratio("sqlite defaults beside a busy thread / without", rates["defaults, busy thread"], rates["defaults"])


_POSTGRESQL = [
    Contender("floor 100", "benchmarks.floor:postgresql", 20_000, {"batch": 100}, _FLOOR),
    Contender("batch 100", "benchmarks.ours:drain", 6_000, {"settings": _HUNDRED}, "window of 200"),
    Contender("floor 1,000", "benchmarks.floor:postgresql", 25_000, {"batch": 1000}, _FLOOR),
    Contender("best batch", "benchmarks.ours:drain", 6_000, {"settings": _BEST}, "batch and claim_ahead 500"),
    Contender("defaults", "benchmarks.ours:drain", 6_000, {}, "a settings file that names the ledger alone"),
    Contender(
        "four hosts",
        "benchmarks.ours:drain_by_hosts",
        8_000,
        {"hosts": 4, "settings": _HUNDRED},
        "four processes, each as batch 100",
    ),
    Contender(
        "PgQueuer 100", "benchmarks.peers.pgqueuer:drain", 6_000, {"batch": 100}, _PGQUEUER, _PGQUEUER_DOC
    ),
    Contender(
        "PgQueuer 1,000", "benchmarks.peers.pgqueuer:drain", 6_000, {"batch": 1000}, _PGQUEUER, _PGQUEUER_DOC
    ),
    Contender(
        "Procrastinate",
        "benchmarks.peers.procrastinate:drain",
        200,
        {"concurrency": 10},
        "synced; stores the job with its status and events, no times of its own, no outcome; no schedule to advance",
        "procrastinate.readthedocs.io/en/stable/howto/advanced/concurrency.html",
    ),
    Contender(
        "DBOS",
        "benchmarks.peers.dbos:drain",
        400,
        {"polling_s": 0.01},
        "synced; stores the workflow with its times and output; no schedule to advance",
        "docs.dbos.dev/python/reference/queues",
    ),
]


def postgresql(bench: Bench) -> None:
    """PostgreSQL."""
    found = bench.drains(_POSTGRESQL, "postgresql")
    rates = _noted(bench, _POSTGRESQL, found, "postgresql")
    better = [max(pair) for pair in zip(rates["PgQueuer 100"], rates["PgQueuer 1,000"], strict=True)]
    ratio = bench.figures.ratio
    ratio("postgresql batch 100 / PgQueuer", rates["batch 100"], better)
    ratio("postgresql best batch / PgQueuer", rates["best batch"], better)
    ratio("postgresql batch 100 / Procrastinate", rates["batch 100"], rates["Procrastinate"])
    ratio("postgresql best batch / Procrastinate", rates["best batch"], rates["Procrastinate"])
    ratio("postgresql batch 100 / DBOS", rates["batch 100"], rates["DBOS"])
    ratio("postgresql batch 100 / floor 100", rates["batch 100"], rates["floor 100"])
    ratio("postgresql best batch / floor 1,000", rates["best batch"], rates["floor 1,000"])
    ratio("postgresql defaults / batch 100", rates["defaults"], rates["batch 100"])
    ratio("postgresql four hosts / one host", rates["four hosts"], rates["batch 100"])
    claims = [answer["claims"] for answer in found["four hosts"]]
    uneven = [max(each) / max(1, min(each)) for each in claims]
    bench.figures.add("postgresql four hosts, most claims / fewest", uneven, note=f"last round {claims[-1]}")


def _measured(bench: Bench, contenders: list[Contender], database: str) -> dict[str, list[float]]:
    return _noted(bench, contenders, bench.drains(contenders, database), database)


def _noted(
    bench: Bench, contenders: list[Contender], found: dict[str, list[dict[str, Any]]], database: str
) -> dict[str, list[float]]:
    rates = {name: [answer["rate"] for answer in answers] for name, answers in found.items()}
    for one in contenders:
        n = found[one.name][-1]["n"]
        bench.figures.rates.append(
            Rate(f"{database} {one.name}", tuple(rates[one.name]), n, one.note, one.link)
        )
    return rates
