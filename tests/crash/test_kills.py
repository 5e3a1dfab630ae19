"""kill -9, at every step and in the middle of a run: the ledger stays true, nothing is lost (T-06, T-16, P-06)."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from schedcore.testing import CRASH_POINTS, HostProcess, until, within
from tests.crash.fleet import Fleet, Fleets, ahead, no_lock_error
from tests.crash.truth import faults

SCRIPT = ("schedcore_script.plugin",)
IN_A_TURN = [p for p in CRASH_POINTS if p.partition(".")[0] in {"open", "settle", "commit", "work"}]
AT_A_CLAIM = [p for p in CRASH_POINTS if p.partition(".")[0] in {"claim", "renew", "beat"}]


def living(mark: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


@pytest.mark.parametrize("name", ["a", "b"])
def test_report_r32_s13_fault_r19_a_host_killed_in_a_script_loses_nothing(fleet: Fleet, name: str) -> None:
    mark = f"mark-{fleet.folder.name}"
    first = fleet.start("a", plugins=SCRIPT, lease=1.2)
    fleet.add(
        "long.per2", kind="script", every="2s", payload={"command": f"sleep 60; : {mark}", "shell": True}
    )
    assert until(lambda: living(mark))

    first.kill()
    killed = time.monotonic()
    fleet.host(name, folder="a", plugins=SCRIPT, lease=1.2).start()

    assert until(lambda: not living(mark), 3)  # by its supervisor, whose note ends the wait of the next slot
    assert until(lambda: "interrupted" in fleet.words("long.per2"), 10)
    assert time.monotonic() - killed < 1.5 + 1.5 + 5
    lost = fleet.runs("long.per2")[0]
    assert (lost["word"], lost["reason"], lost["attempts"]) == ("interrupted", "lease_lost", 1)
    assert until(lambda: "running" in fleet.words("long.per2"), 6), "the next slot does not run"
    assert until(lambda: living(mark), 3)
    assert faults(fleet) == []


@pytest.mark.parametrize("points", [IN_A_TURN, AT_A_CLAIM], ids=["turn", "claim"])
def test_killed_at_each_step_in_turn_the_ledger_is_true_and_every_slot_is_decided_once(
    fleets: Fleets, points: list[str]
) -> None:
    if points is IN_A_TURN:
        points = [f"{point}:2" for point in points]
    if fleets.database == "postgresql":  # what differs there is the transaction
        points = [point for point in points if point.startswith(("open.a", "commit", "settle.a", "claim.a"))]
    all_of_them = {point: fleets(point.partition(":")[0]) for point in points}
    for point, fleet in all_of_them.items():
        for key in ("one.per1", "two.per1"):
            fleet.add(key, every="1s", timeout=1)  # for so long a lost run counts as alive
        fleet.add("queued", cron="0 0 1 1 *")
        fleet.hand.control().run("queued")
        fleet.host("doomed", environment={"SCHEDCORE_CRASH_AT": point}).begin()
    for point, fleet in all_of_them.items():
        assert fleet.hosts[0].join(10), f"it did not die at {point}"
    assert told(all_of_them) == {}

    decided = {point: len(fleet.runs()) for point, fleet in all_of_them.items()}
    for fleet in all_of_them.values():
        fleet.host("heir").begin()

    for point, fleet in all_of_them.items():
        assert until(lambda f=fleet, n=decided[point]: quiet(f, n + 2), 15), (
            f"{point}: {fleet.shown()}\n{fleet.logs()}"
        )
    assert told(all_of_them) == {}


def told(fleets: dict[str, Fleet]) -> dict[str, list[str]]:
    found = {point: faults(fleet) for point, fleet in fleets.items()}
    return {point: what for point, what in found.items() if what}


def quiet(fleet: Fleet, at_least: int) -> bool:
    """Is nothing left running by a dead host, and has the heir gone on?"""
    found = fleet.runs()
    alive = [r for r in found if r["word"] in {"running", "queued"} and r["host"] != "heir"]
    return len(found) >= at_least and not alive


def test_killed_while_it_comes_in_the_next_host_comes_in_all_the_same(memory_folder: Path) -> None:
    fleet = Fleet(f"sqlite:///{memory_folder}/new/ledger.db", memory_folder)
    try:
        for n, point in enumerate(["migrate.before", "migrate.after", "announce.before", "announce.after"]):
            doomed = fleet.host(f"doomed-{n}", environment={"SCHEDCORE_CRASH_AT": point}).begin()
            assert doomed.join(10)

        fleet.start("heir")

        fleet.add("after", at=ahead(0.1))
        assert fleet.final(1) == ["succeeded"]
        assert faults(fleet) == []
    finally:
        fleet.close()


def test_killed_while_it_takes_a_lost_run_the_next_judge_takes_it(sqlite_fleet: Fleet) -> None:
    fleet = sqlite_fleet
    first = fleet.start("first")
    fleet.add("long", at=ahead(0.1), payload={"seconds": 60})
    assert until(lambda: fleet.record("began"))
    first.kill()

    for n, point in enumerate(["recover.before", "recover.after"]):
        judge = fleet.host(f"judge-{n}", environment={"SCHEDCORE_CRASH_AT": point}).begin()
        assert judge.join(10)
        assert fleet.words() == ["running"]
    fleet.start("heir")

    assert fleet.final(1) == ["interrupted"]
    assert faults(fleet) == []


def test_report_r74_a_run_that_kills_its_host_ends_after_its_attempts(sqlite_fleet: Fleet) -> None:
    fleet = sqlite_fleet
    fleet.add("poison", at=ahead(0.1), payload={"dies": True}, on_lost="retry", attempts=3, timeout=1)

    for n in range(3):
        victim = fleet.host(f"victim-{n}").begin()
        assert until(lambda: dead(victim, fleet), 15), f"attempt {n + 1} was not made\n{fleet.logs()}"  # noqa: B023
    fleet.start("last")

    assert fleet.final(1, 10) == ["interrupted"]
    (run,) = fleet.runs()
    assert (run["attempts"], run["reason"], run["gave_up"]) == (3, "lease_lost", 1)
    assert len(fleet.record("began")) == 3
    assert faults(fleet, effects_at_most=3) == []


def dead(victim: HostProcess, fleet: Fleet) -> bool:
    fleet.hurry()  # a further attempt waits for 5 s at least
    return not victim.alive


def test_50_kills_over_4_processes_on_one_file_lose_and_repeat_nothing(sqlite_fleet: Fleet) -> None:
    fleet, chance = sqlite_fleet, random.Random(7)
    keys = [f"job-{n}.per1" for n in range(20)]
    for key in keys:
        fleet.add(key, every="1s", catch_up="all", catch_up_max=50, payload={"seconds": 0.002})
    hosts: list[HostProcess] = [fleet.host(f"h{n}", lease=3).begin() for n in range(4)]
    for n in range(50):
        victim = hosts.pop(0)
        victim.ready()
        within(lambda: False, chance.uniform(0, 0.06))
        victim.kill()
        hosts.append(fleet.host(f"h{n + 4}", lease=3).begin())
    for host in hosts:
        host.ready()
        host.kill()
    assert faults(fleet) == []
    acknowledged = len(fleet.record("started"))

    fleet.start("heir", lease=1)

    assert until(lambda: "running" not in fleet.words(), 10)
    assert faults(fleet) == []
    assert no_lock_error(fleet)
    assert acknowledged > 20
