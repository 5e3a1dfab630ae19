"""PostgreSQL restarted, its connections cut, away for longer than a lease (G8, G13, P-06)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from schedcore.testing import until, within
from tests import pg
from tests.crash.fleet import Fleet, ahead
from tests.crash.truth import faults


@pytest.fixture(scope="module")
def server() -> Iterator[pg.Restartable]:
    try:
        with pg.restartable() as made:
            yield made
    except pg.NoServer as why:
        if os.environ.get("CI"):
            pytest.fail(f"no PostgreSQL: {why}", pytrace=False)
        pytest.skip(f"no PostgreSQL: {why}")


@pytest.fixture
def fleet(server: pg.Restartable, memory_folder: Path) -> Iterator[Fleet]:
    with pg.database(server.url, f"away_{memory_folder.name[-8:]}".lower()) as url:
        made = Fleet(url, memory_folder)
        yield made
        made.close()


def test_fault_r5_r10_s14_hosts_go_on_within_two_beats_of_an_immediate_restart(
    server: pg.Restartable, fleet: Fleet
) -> None:
    hosts = fleet.together("a", "b", "c", beat=0.5, lease=2)
    for n in range(8):
        fleet.add(f"job-{n}.per1", every="1s", catch_up="all", catch_up_max=30, payload={"seconds": 0.02})
    assert until(lambda: len(fleet.record("finished")) >= 16)

    for away in (0.0, 0.7):
        server.stop()
        assert not within(lambda: False, away)
        server.start()
        before = len(fleet.record("started"))
        assert until(lambda n=before: len(fleet.record("started")) >= n + 8, 2 * 0.5 + 3), fleet.logs()

    assert all(host.alive for host in hosts)
    for host in hosts:
        host.stop(5)
    assert faults(fleet) == []
    assert "interrupted" not in fleet.words()


def test_s14_a_restart_during_recovery_only_delays_it(server: pg.Restartable, fleet: Fleet) -> None:
    first = fleet.start("first")
    keys = [f"lost-{n}" for n in range(3)]
    for key in keys:
        fleet.add(key, at=ahead(0.1), payload={"seconds": 60})
    assert until(lambda: len(fleet.record("began")) == 3)
    first.kill()
    doomed = fleet.host("doomed", environment={"SCHEDCORE_CRASH_AT": "recover.after:2"}).begin()
    assert doomed.join(10)
    fleet.start("heir")

    server.stop()
    server.start()

    assert fleet.final(3, 15) == ["interrupted"] * 3
    assert faults(fleet) == []


def test_connections_that_are_cut_at_random_lose_no_claim_and_no_end(
    server: pg.Restartable, fleet: Fleet
) -> None:
    fleet.together("a", "b", beat=0.5, lease=4)
    for n in range(10):
        fleet.add(f"job-{n}.per1", every="1s", catch_up="all", catch_up_max=30)

    with psycopg.connect(fleet.url.replace("+psycopg", ""), autocommit=True) as nemesis:
        cut = 0
        for _ in range(60):
            cut += nemesis.execute(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'schedcore'"
                " and datname = current_database() and random() < 0.5"
            ).fetchone()[0]
            within(lambda: False, 0.03)
    before = len(fleet.record("finished"))

    assert cut > 10
    assert until(lambda: len(fleet.record("finished")) >= before + 20, 6), fleet.logs()
    assert until(lambda: all(w in {"succeeded", "running", "queued"} for w in fleet.words()), 1)
    for host in fleet.hosts:
        host.stop(5)
    assert faults(fleet) == []
    assert set(fleet.words()) <= {"succeeded", "queued"}, (
        fleet.logs()
    )  # what was claimed ahead was given back
    assert not fleet.actions("stale_result")


def test_fault_r43_away_for_two_leases_none_is_lost_and_each_policy_is_kept(
    server: pg.Restartable, fleet: Fleet
) -> None:
    hosts = fleet.together("a", "b", lease=3, beat=0.5, workers=8)
    fleet.add("works-on", at=ahead(0.1), payload={"seconds": 4})
    fleet.add("outlives", at=ahead(0.1), payload={"seconds": 8})
    fleet.add("again", at=ahead(0.1), payload={"seconds": 20}, on_lost="retry", attempts=2)
    fleet.add("cut", at=ahead(0.1), payload={"seconds": 20}, stop_when_cut=True)
    assert until(lambda: len(fleet.record("began")) == 4)

    server.stop()
    ends = until(lambda: [e for e in fleet.record("ended") if e["stop"]][1:] and fleet.record("ended"), 4)
    assert {e["job"] for e in ends} == {"again", "cut"}
    assert {e["stop"] for e in ends} == {"stopped_itself"}
    gone = {e["job"]: e["t"] for e in ends}
    assert until(lambda: any(e["job"] == "works-on" for e in fleet.record("ended")), 6)
    assert until(lambda: list(fleet.folder.glob("*/spool/*.finish"))[2:], 2), "ends are not spooled"
    assert not within(lambda: False, 1.0)
    server.start()

    assert until(lambda: "succeeded" in fleet.words("works-on"), 6), fleet.logs()
    assert until(lambda: fleet.words("outlives") == ["succeeded"], 10), fleet.logs()
    assert fleet.words("cut") == ["interrupted"]
    assert fleet.runs("cut")[0]["reason"] == "stopped_itself"
    first_try = fleet.attempts(fleet.runs("again")[0]["id"])[0]
    assert (first_try["outcome"], first_try["reason"]) == ("interrupted", "stopped_itself")
    assert max(gone.values()) - min(gone.values()) < 1.5
    assert "lease_lost" not in {r["reason"] for r in fleet.runs()}
    assert until(lambda: not list(fleet.folder.glob("*/spool/*.finish")), 5)
    assert all(host.alive for host in hosts)
    assert not fleet.actions("stale_result")


def test_an_end_that_was_spooled_is_taken_in_by_the_next_host_of_that_folder(
    server: pg.Restartable, fleet: Fleet
) -> None:
    host = fleet.start("a", lease=5)
    fleet.add("short", at=ahead(0.1), payload={"seconds": 1})
    assert until(lambda: fleet.record("began"))
    server.stop()
    assert until(lambda: list(fleet.folder.glob("a/spool/*.finish")), 6)
    host.kill()
    server.start()

    fleet.start("b", folder="a", lease=5)

    assert fleet.final(1, 5) == ["succeeded"]
    assert faults(fleet) == []
