"""Listeners read the outbox, each with a mark, a lease and failures of its own (F-05, L-11)."""

from __future__ import annotations

import pytest

from schedcore._ledger import listeners
from schedcore.spec import failed
from schedcore.testing import Ear, ManualClock, Player, StandingHost
from tests.stories.conftest import Stage


def runs(host: StandingHost, clock: ManualClock, n: int) -> None:
    """So many minutes, each with its run."""
    for _ in range(n):
        clock.advance(minutes=1)
        host.beat()


@pytest.mark.parametrize("raised", [ConnectionError("nobody hears me"), SystemExit("out")])
def test_a_listener_that_raises_is_named_the_others_are_served_and_it_catches_up(
    stage: Stage, clock: ManualClock, raised: BaseException
) -> None:
    good, bad = Ear(), Ear(deaf=2, error=raised)
    host = stage(listeners=[bad.listens("bad"), good.listens("good")])
    host.add("minutely", cron="* * * * *")
    runs(host, clock, 3)

    host.tell()
    assert (len(good.heard), len(bad.heard)) == (3, 0)
    with host.ledger.read() as c:
        marks = {mark["listener"]: mark for mark in listeners.listed(c)}
    assert marks["bad"]["last_error"] == f"{type(raised).__name__}: {raised}"
    for _ in range(4):
        clock.advance(minutes=1)
        host.tell()

    told = [event["run"]["scheduled_for"] for event in good.heard]
    assert [event["run"]["scheduled_for"] for event in bad.heard[:3]] == told[:3]
    assert sorted(told) == told


def test_events_are_told_once_all_is_told_and_the_outbox_was_emptied(
    stage: Stage, clock: ManualClock
) -> None:
    ear = Ear()
    host = stage(listeners=[ear.listens("ear")])
    host.add("minutely", cron="* * * * *")

    for _ in range(5):
        runs(host, clock, 1)
        host.tell()
        host.tell()

    assert [event["run"]["scheduled_for"][11:16] for event in ear.heard] == [f"08:0{i}" for i in range(1, 6)]
    assert len({event["number"] for event in ear.heard}) == 5


def test_each_listener_hears_its_topics(stage: Stage, clock: ManualClock) -> None:
    ends, ills, moves = Ear(), Ear(), Ear()
    host = stage(
        Player(failed("exit_code", exit_code=1)).plays(),
        listeners=[
            ends.listens("ends", "run.final"),
            ills.listens("ills", "run.failed"),
            moves.listens("moves", "job.created", "job.paused", "job.retired"),
        ],
    )
    host.add("minutely", cron="* * * * *")
    runs(host, clock, 2)
    host.control.pause("minutely")
    host.control.remove("minutely")

    host.tell()

    assert [event["run"]["state"] for event in ends.heard] == ["failed", "succeeded"]
    assert [event["run"]["state"] for event in ills.heard] == ["failed"]
    assert [event["topic"] for event in moves.heard] == ["job.created", "job.paused", "job.retired"]


def test_a_run_that_was_cancelled_before_it_began_is_told_too(stage: Stage, clock: ManualClock) -> None:
    ear = Ear()
    host = stage(listeners=[ear.listens("ear")])
    host.add("elsewhere", cron="* * * * *", tags=["big"])
    runs(host, clock, 1)

    host.control.cancel(host.runs()[0]["id"], "enough")
    host.tell()

    assert [event["run"]["state"] for event in ear.heard] == ["cancelled"]


def test_two_hosts_with_the_same_listener_tell_it_once(stage: Stage, clock: ManualClock) -> None:
    ear = Ear()
    a, b = stage(listeners=[ear.listens("ear")]), stage(listeners=[ear.listens("ear")])
    a.add("minutely", cron="* * * * *")

    for _ in range(4):
        runs(a, clock, 1)
        b.beat()
        a.tell()
        b.tell()

    assert len(ear.heard) == 4


def test_a_listener_whose_host_died_is_served_by_another_after_its_lease(
    stage: Stage, clock: ManualClock
) -> None:
    ear = Ear()
    a, b = stage(listeners=[ear.listens("ear")]), stage(listeners=[ear.listens("ear")])
    a.add("minutely", cron="* * * * *")
    runs(a, clock, 1)
    a.tell()
    a.die()

    runs(b, clock, 1)
    b.tell()
    early = len(ear.heard)
    runs(b, clock, 1)
    b.tell()

    assert early == 1
    assert len(ear.heard) == 3
