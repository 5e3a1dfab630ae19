"""Faults that the auditor found: each story shows one; where one is left, its mark says which and why.

A story asserts nothing itself but that it came so far; what its ledger says in the end is judged as that of
every story is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from schedcore.domain.errors import Refused
from schedcore.domain.zones import replaced_data, tz_version
from schedcore.spec import failed
from schedcore.testing import ManualClock, StandingHost
from tests.stories.conftest import Stage


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Failures and late starts are meant here."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_a_job_that_comes_back_answers_for_what_was_due_when_it_was_retired(
    host: StandingHost, clock: ManualClock
) -> None:
    declared = {"m": {"key": "m", "kind": "noop", "cron": "*/10 * * * *"}}
    host.control.apply(declared, source="files")
    clock.advance(minutes=10.5)
    host.beat()
    clock.advance(minutes=10)  # 08:20 is due, and not opened yet
    host.control.apply({}, source="files", prune=True)

    clock.advance(minutes=20)
    host.control.apply(declared, source="files")
    clock.advance(minutes=10)
    host.beat()

    assert [at for at, _ in host.words()] == ["08:10:00", "08:50:00"]


def test_new_zone_data_leave_what_was_due_with_the_definition_that_owed_it(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage()
    job = host.add("m", trigger={"cron": "0 * * * *", "zone": "Etc/UTC"})
    clock.advance(hours=1)
    host.beat()
    clock.advance(hours=1, minutes=10)  # 10:00 is due

    with replaced_data("2099z", {}):
        stage().beat()  # a host that comes with newer data

    assert [d["tz_version"] for d in host.definitions(job)] == [tz_version(), "2099z"]


def test_a_one_shot_is_not_ordered_for_a_time_when_the_job_was_another(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("once", at="2026-06-01T10:00:00Z")
    clock.advance(10)

    with pytest.raises(Refused, match="after this instant"):
        host.control.edit("once", {"at": "2026-06-01T07:59:50Z"})
    host.control.edit("once", {"at": "2026-06-01T08:00:05Z"})
    host.beat()

    assert host.words(job) == [("08:00:05", "succeeded")]


def test_a_probe_leaves_the_slots_before_the_pause_to_their_definition(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    job = host.add("b", cron="* * * * *", breaker=1, breaker_cooldown=600)
    clock.advance(minutes=1)
    host.beat()
    clock.advance(minutes=3.5)  # 08:02 to 08:04 are due when the breaker opens

    host.finish(outcome=failed("exit_code", exit_code=1))
    host.beat()
    clock.advance(minutes=15)
    host.beat()

    assert sum(slots for _, slots in host.skips(job)) == 17


def test_a_probe_keeps_the_count_of_its_trigger(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("c", every="5m", count=3, breaker=1, breaker_cooldown=600)
    clock.advance(minutes=5)
    host.beat()
    host.finish(outcome=failed("exit_code", exit_code=1))
    host.beat()

    clock.advance(hours=1)
    host.beat()

    assert host.job(job)["slots_left"] <= 0  # below 0, resuming it raises ValueError


@pytest.mark.untrue(
    "I2", why="a definition made behind the clock begins at the one before, and opens older slots"
)
def test_a_resume_behind_the_clock_leaves_older_slots_to_the_definition_before(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("m", cron="* * * * *")
    clock.advance(minutes=5)
    host.beat()
    clock.advance(90)  # 08:06 is due
    host.control.pause("m")
    clock.step(minutes=-15)

    host.control.resume("m")
    clock.advance(hours=1)
    host.beat()

    assert host.job(job)["state"] == "active"


def test_an_edit_says_that_it_woke_a_job_that_was_done(host: StandingHost, clock: ManualClock) -> None:
    job = host.add("few", every="5m", count=2, catch_up="skip", late_limit=60)
    clock.advance(hours=1)  # both slots are too late: opening them leaves nothing

    host.control.edit("few", {"every": "7m"})

    assert host.job(job)["state"] == "active"


def test_an_edit_of_a_job_that_it_finds_done_keeps_the_reason(host: StandingHost, clock: ManualClock) -> None:
    job = host.add("few", every="5m", count=2, catch_up="skip", late_limit=60)
    clock.advance(hours=1)

    host.control.edit("few", {"retry_delay": 90})

    assert host.job(job)["state"] == "done"


def test_a_further_attempt_waits_for_the_run_that_began_meanwhile(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True, workers=2)
    job = host.add("q", cron="0 0 1 1 *", overlap="queue_one", attempts=2)
    host.control.run("q")
    clock.advance(1)
    host.control.run("q")
    host.poll()

    host.finish(outcome=failed("exit_code", exit_code=1))
    host.poll()  # the second begins
    for _ in range(4):
        clock.advance(20)
        host.poll()

    assert [word for _, word in host.words(job)] == ["queued", "running"]
    host.die()  # so that both are still there to be judged


def test_work_that_is_given_up_did_not_start_before_it_was_opened(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True, kill_grace=1)
    job = host.add("hung", cron="* * * * *", timeout=60)
    clock.advance(minutes=1)
    host.beat()
    clock.step(-30)

    for _ in range(4):
        clock.advance(30)
        host.beat()

    assert host.runs(job)[0]["reason"] == "timeout"
