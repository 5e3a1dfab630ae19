"""Runs that must run alone, claimed by two hosts at once: the overlap rule holds across hosts (I11, P-05)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from schedcore.testing import until
from tests.crash.fleet import Fleet
from tests.crash.truth import faults


def test_backfilled_slots_run_one_after_another_on_two_hosts(fleet: Fleet) -> None:
    fleet.together("a", "b", lease=15, workers=8)
    start = datetime.now(UTC) - timedelta(hours=30)
    keys = [f"job-{n}" for n in range(6)]
    for key in keys:
        fleet.add(key, cron="0 * * * *", payload={"seconds": 0.02})

    for key in keys:
        fleet.hand.control().backfill(
            key, f"{start:%Y-%m-%dT%H:%M:%SZ}", f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        )

    assert until(lambda: len(fleet.record("ended")) == 6 * 30, 30), len(fleet.record("ended"))
    assert overlaps(fleet, keys) == []
    assert faults(fleet) == []


def overlaps(fleet: Fleet, keys: list[str]) -> list[str]:
    found = []
    for key in keys:
        alive: set[int] = set()
        for line in fleet.record("began", "ended"):
            if line["job"] != key:
                continue
            (alive.add if line["what"] == "began" else alive.discard)(line["run"])
            if len(alive) > 1:
                found.append(f"{key}: runs {sorted(alive)} at once")
    return found
