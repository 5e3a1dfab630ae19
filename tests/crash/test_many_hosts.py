"""Several hosts on one ledger: each slot once, no lock error, woken in time (L-02, L-10, T-07, T-08, T-24)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import pytest

from schedcore.testing import until
from tests.crash.fleet import Fleet, ahead, no_lock_error

HOSTS = {"sqlite": ("a", "b", "c", "d"), "postgresql": ("a", "b")}


def slots_once(fleet: Fleet, keys: list[str]) -> None:
    assert fleet.final(len(keys)) == ["succeeded"] * len(keys)
    assert sorted(run["key"] for run in fleet.runs()) == sorted(keys)
    assert Counter(line["job"] for line in fleet.record("began")) == dict.fromkeys(keys, 1)
    assert no_lock_error(fleet)


def test_report_s10_r01_r02_200_due_slots_on_several_hosts_are_exactly_200_runs(fleet: Fleet) -> None:
    fleet.together(*HOSTS[fleet.hand.ledger.url.get_backend_name()], beat=1, lease=30)
    keys = [f"job-{n:03}" for n in range(200)]

    fleet.add_many(keys, at=ahead(2.0))

    slots_once(fleet, keys)


def test_200_slots_that_came_due_while_no_host_lived_are_200_runs(fleet: Fleet) -> None:
    keys = [f"job-{n:03}" for n in range(200)]
    fleet.add_many(keys, at=ahead(0.3))
    assert until(lambda: ahead(0) > fleet.hand.control().show("job-000")["next_run_at"])

    fleet.together(*HOSTS[fleet.hand.ledger.url.get_backend_name()], beat=60, lease=60)

    slots_once(fleet, keys)


@pytest.mark.parametrize("seconds", [1.0, 2.0])
def test_a_slot_ahead_starts_within_a_second_of_its_time_and_never_before(
    fleet: Fleet, seconds: float
) -> None:
    fleet.start("a", beat=60, lease=60)
    slot = ahead(seconds)

    fleet.add("soon", at=slot)

    assert until(lambda: fleet.record("began"), 10)
    late = fleet.record("began")[0]["t"] - datetime.fromisoformat(slot).timestamp()
    assert 0 <= late < 1.0


def test_a_job_ordered_by_another_process_starts_within_a_second(fleet: Fleet) -> None:
    fleet.start("a", beat=60, lease=60)
    fleet.add("by-hand", cron="0 0 1 1 *")
    fleet.hand.control().run("by-hand")  # a first one, so that nothing is new to anybody
    assert until(lambda: len(fleet.record("finished")) == 1)

    ordered = fleet.hand.control().run("by-hand")["scheduled_for"]

    assert until(lambda: len(fleet.record("began")) == 2)
    assert fleet.record("began")[1]["t"] - datetime.fromisoformat(ordered).timestamp() < 1.0
