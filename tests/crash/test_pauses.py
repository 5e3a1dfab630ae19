"""Hosts that are stopped longer than a lease, and clocks that step: leases end by lease time alone (G6, G8, L-11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedcore._engine import recovery
from schedcore._engine.state import Engine
from schedcore._ledger.ledger import Ledger
from schedcore.testing import ManualClock, StandingHost, until, within
from tests.crash.fleet import Fleet, ahead
from tests.crash.truth import faults


def test_report_s11_l11_a_host_stopped_over_its_lease_finishes_late_and_changes_nothing(fleet: Fleet) -> None:
    """SIGSTOP, ``on_lost = "retry"``: the other host tries again, under a higher fence."""
    first = fleet.start("first")
    fleet.add(
        "long", at=ahead(0.1), payload={"seconds": 1.0, "deaf": True}, on_lost="retry", attempts=2, timeout=1
    )
    assert until(lambda: fleet.record("began"))
    fleet.pause(first)
    second = fleet.start("second")
    assert until(lambda: fleet.lost() == ["lease_lost"], 10)
    assert until(lambda: fleet.hurry() or len(fleet.record("began")) == 2, 5)
    assert until(lambda: len(fleet.record("began")) == 2, 5)

    first.go_on()

    assert fleet.final(1) == ["succeeded"]
    assert until(lambda: fleet.actions("stale_result"), 10), fleet.logs()
    (run,) = fleet.runs()
    lost, kept = fleet.attempts(run["id"])
    assert (lost["host"], lost["outcome"], lost["reason"]) == ("first", "interrupted", "lease_lost")
    assert (kept["host"], kept["outcome"]) == ("second", "ok")
    assert kept["fence"] > lost["fence"]
    assert run["host"] == "second"
    assert first.alive
    assert second.alive
    assert faults(fleet, effects_at_most=2) == []


def test_report_s11_the_same_with_the_default_policy_ends_the_run_and_tries_nothing_again(
    sqlite_fleet: Fleet,
) -> None:
    fleet = sqlite_fleet
    first = fleet.start("first")
    fleet.add("long", at=ahead(0.1), payload={"seconds": 1.0, "deaf": True}, attempts=3)
    assert until(lambda: fleet.record("began"))
    fleet.pause(first)
    fleet.start("second")
    assert fleet.final(1, 10) == ["interrupted"]

    first.go_on()

    assert until(lambda: fleet.actions("stale_result"), 10), fleet.logs()
    assert fleet.words() == ["interrupted"]
    assert len(fleet.record("began")) == 1
    assert faults(fleet) == []


def test_a_machine_that_slept_over_all_leases_declares_none_lost(fleet: Fleet) -> None:
    """All hosts stop at once, as in a suspend: whoever wakes first has been out of contact and judges nobody."""
    hosts = fleet.together("a", "b", lease=1.5)
    for key in ("one", "two", "three", "four"):
        fleet.add(key, at=ahead(0.1), payload={"seconds": 4.5})
    assert until(lambda: len(fleet.record("began")) == 4)
    holders = {run["host"] for run in fleet.runs()}

    for host in hosts:
        fleet.pause(host)
    assert not within(lambda: False, 2.0)  # both leases are over now
    judges = sorted(hosts, key=lambda h: h.told.name in holders)  # one that holds nothing wakes first
    for host in judges:
        host.go_on()
        assert not within(lambda: False, 0.3)

    assert fleet.final(4, 12) == ["succeeded"] * 4, fleet.logs()
    assert faults(fleet) == []


def test_report_r31_a_wall_clock_stepped_by_hours_changes_no_lease(sqlite_fleet: Fleet) -> None:
    fleet = sqlite_fleet
    holder, judge = fleet.together("holder", "judge", lease=1.0)
    fleet.add("long", at=ahead(0.1), payload={"seconds": 3})
    assert until(lambda: fleet.record("began"))

    for host, hours in ((judge, 5), (holder, -3), (judge, -12), (holder, 9)):
        host.step_clock(hours * 3600)
        assert not within(lambda: fleet.words() != ["running"], 0.5)

    assert fleet.final(1) == ["succeeded"]
    assert [a["reason"] for a in fleet.attempts(fleet.runs()[0]["id"])] == [None]
    assert "lost" not in fleet.logs()


def test_a_clock_that_steps_back_repeats_nothing_and_one_that_jumps_ahead_waits_for_agreement(
    sqlite_fleet: Fleet,
) -> None:
    fleet = sqlite_fleet
    host = fleet.start("a", beat=0.3)
    fleet.add("each.per1", every="1s", catch_up="skip")
    assert until(lambda: len(fleet.runs()) >= 2)

    host.step_clock(-3600)
    assert not within(lambda: False, 1.5)
    behind = len(fleet.runs())
    host.step_clock(+3600)
    assert until(lambda: len(fleet.runs()) > behind, 10)

    assert faults(fleet) == []
    host.step_clock(+7200)
    assert until(lambda: "clock_trusted" in [e["action"] for e in fleet.actions("clock_trusted")], 10)


def test_a_judge_that_stopped_just_before_its_judgement_judges_nobody(
    ledger: Ledger, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has renewed, it sleeps over all leases, and goes on with the very next step."""
    holder = StandingHost(ledger, clock, tmp_path / "a", name="holder", hold=True)
    judge = StandingHost(ledger, clock, tmp_path / "b", name="judge")
    job = holder.add("long", every="1h", timeout=3600)
    clock.advance(hours=1)
    holder.beat()
    for _ in range(8):
        clock.advance(12)
        holder.beat()
        judge.beat()
    real = recovery.recover

    def asleep(e: Engine) -> int:
        if e is judge.engine:
            clock.advance(600)
        return real(e)

    with monkeypatch.context() as patched:
        patched.setattr(recovery, "recover", asleep)
        judge.beat()
    holder.beat()

    assert [run["word"] for run in holder.runs(job)] == ["running"]
    holder.finish(next(iter(holder.held)))
    holder.beat()
    assert holder.runs(job)[0]["word"] == "succeeded"
    holder.stop()
    judge.stop()
