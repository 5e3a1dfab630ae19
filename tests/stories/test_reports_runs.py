"""Faults that others reported, as stories: overlap, rescue, retries, edits, hosts (``cases/reports``)."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from schedcore._ledger.schema import jobs
from schedcore.domain.errors import Conflict, Refused
from schedcore.spec import Outcome, failed
from schedcore.testing import (
    DyingLedger,
    ManualClock,
    Player,
    RaisingRule,
    StandingHost,
    open_ledger,
)
from tests.stories.conftest import Stage


def lost(host: StandingHost, clock: ManualClock) -> None:
    """One lease goes by, with this host in contact."""
    for _ in range(6):
        clock.advance(12)
        host.poll()


def test_report_S14_one_rescue_that_clashes_stops_no_other(stage: Stage, clock: ManualClock) -> None:
    dead = stage(hold=True, workers=8)
    for key in ("a", "b", "c"):
        dead.add(key, cron="0 9 * * *", on_lost="retry", attempts=3, timeout=5)
    clock.set("2026-06-01T09:00:00+00:00")
    dead.beat()
    dead.die()
    live = stage()
    live.control.run("b", overlap="parallel")  # the twin that waits

    lost(live, clock)
    lost(live, clock)

    told = [(run["key"], run["trigger_word"], run["word"], run["attempts"]) for run in live.runs()]
    assert sorted(told) == [
        ("a", "schedule", "succeeded", 2),
        ("b", "manual", "succeeded", 1),
        ("b", "schedule", "succeeded", 2),
        ("c", "schedule", "succeeded", 2),
    ]


def test_report_S14_a_rescue_lost_to_the_database_is_done_at_the_next_beat(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    dead = stage(hold=True)
    job = dead.add("a", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")
    dead.beat()
    dead.die()
    live = stage(ledger=dying)
    live.beat()
    clock.advance(61)
    dying.fail("commit", 2)  # the first is that of the renewal

    live.beat()
    assert dead.words(job) == [("09:00:00", "running")]
    lost(live, clock)

    assert dying.fired
    assert len(live.faults) == 1
    assert dead.words(job) == [("09:00:00", "interrupted")]


def test_report_S20_a_manual_run_obeys_the_overlap_rule_and_later_slots_see_it(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    job = host.add("slow", cron="0 * * * *", timeout="3h")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    with pytest.raises(Conflict, match="overlap"):
        host.control.run("slow")
    host.finish()
    host.beat()
    host.control.run("slow")
    host.beat()
    other = stage(hold=True)  # a host that starts while the run lives elsewhere
    clock.set("2026-06-01T10:00:00+00:00")
    host.beat()
    other.beat()

    assert [(run["trigger_word"], run["word"]) for run in host.runs(job)] == [
        ("schedule", "succeeded"),
        ("manual", "running"),
    ]
    assert host.skips(job) == [("overlap", 1)]


@pytest.mark.parametrize("raised", [ZeroDivisionError("the rule is broken"), SystemExit("out")])
def test_report_S22_one_job_that_cannot_be_opened_stops_no_other(
    stage: Stage, clock: ManualClock, raised: BaseException
) -> None:
    host = stage(triggers={"odd": RaisingRule})
    bad = host.add("bad", trigger={"kind": "odd", "text": "x"})
    good = host.add("good", cron="* * * * *")
    RaisingRule.broken = raised
    try:
        for _ in range(4):
            clock.advance(minutes=1)
            host.beat()
    finally:
        RaisingRule.broken = None

    assert len(host.runs(good)) == 4
    assert host.job(bad)["state"] == "paused"
    assert host.job(bad)["state_reason"].startswith("trigger_error")
    assert host.runs(bad) == []


def test_a_trigger_that_raised_once_is_asked_again_a_beat_later_and_loses_nothing(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(triggers={"odd": RaisingRule})
    job = host.add("odd", trigger={"kind": "odd", "text": "x"}, catch_up="all")
    RaisingRule.broken = ZeroDivisionError("just now")
    try:
        clock.advance(minutes=1)
        host.beat()
    finally:
        RaisingRule.broken = None
    assert host.runs(job) == []

    clock.advance(seconds=host.engine.settings.beat)
    host.poll()

    assert host.words(job)[0] == ("08:01:00", "succeeded")


def test_report_S22_an_attempt_too_many_is_never_made(stage: Stage, clock: ManualClock) -> None:
    player = Player(then=failed("exit_code", exit_code=1))
    host = stage(player.plays())
    job = host.add("failing", every="5m", attempts=2, breaker=0)

    for _ in range(15):
        clock.advance(minutes=1)
        host.beat()

    assert [run["attempts"] for run in host.runs(job)] == [2, 2, 1]
    assert len(player.seen) == 5


def test_report_R07_loading_the_same_jobs_three_times_keeps_one_of_each(host: StandingHost) -> None:
    declared = {"a": {"kind": "noop", "every": "1h"}, "b": {"kind": "noop", "cron": "0 9 * * *"}}

    told = [host.control.apply(declared, source="file") for _ in range(3)]

    assert [len(answer["creates"]) for answer in told] == [2, 0, 0]
    assert [answer["changes"] for answer in told] == [True, False, False]
    assert [job["key"] for job in host.control.jobs()] == ["a", "b"]


def test_report_R10_a_deleted_job_stays_deleted_when_its_run_finishes(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    job = host.add("gone", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    host.control.remove("gone")
    host.finish()
    host.beat()
    clock.advance(days=2)
    host.beat()

    assert host.words(job) == [("09:00:00", "succeeded")]
    assert host.job(job)["state"] == "retired"


def test_report_R29_what_was_created_is_there_for_everybody_else(
    host: StandingHost, ledger_url: str, clock: ManualClock
) -> None:
    answer = host.control.add({"key": "new", "kind": "noop", "cron": "0 9 * * *"})

    elsewhere = open_ledger(ledger_url, clock)
    with elsewhere.read() as c:
        found = c.execute(sa.select(jobs.c.uid).where(jobs.c.key == "new")).scalar()
    elsewhere.close()
    assert found == answer["id"]


@pytest.mark.parametrize("hours", [1, -1, 24 * 365])
def test_report_R31_a_step_of_the_wall_clock_changes_no_lease(
    stage: Stage, clock: ManualClock, hours: int
) -> None:
    host, other = stage(hold=True), stage(hold=True)
    job = host.add("long", cron="0 9 * * *", timeout="3h")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    clock.step(hours=hours)

    for _ in range(20):  # four minutes
        clock.advance(12)
        host.poll()
        other.poll()

    assert [run["word"] for run in host.runs(job)] == ["running"]
    host.die()
    lost(other, clock)
    assert [run["word"] for run in host.runs(job)] == ["interrupted"]


def test_report_R38_only_a_host_that_has_what_the_job_needs_takes_it(
    stage: Stage, clock: ManualClock
) -> None:
    poor, rich = stage(name="poor"), stage(name="rich", tags=frozenset({"tools"}))
    job = poor.add("needs", cron="*/5 * * * *", tags=["tools"])

    for _ in range(4):
        clock.advance(minutes=5)
        poor.beat()
        rich.beat()

    assert [run["word"] for run in poor.runs(job)] == ["succeeded"] * 4
    assert {run["host"] for run in poor.runs(job)} == {"rich"}


def test_report_R47_the_same_job_created_five_times_is_one_job(host: StandingHost) -> None:
    order = {"key": "digest", "kind": "noop", "cron": "0 9 * * *"}
    host.control.add(order)

    for _ in range(4):
        with pytest.raises(Conflict, match="has the key 'digest' already"):
            host.control.add(order)

    assert len(host.control.jobs()) == 1


@pytest.mark.parametrize(
    ("mode", "now", "end"), [("drain", "running", "succeeded"), ("stop", "stopping", "cancelled")]
)
def test_report_R62_pausing_says_what_becomes_of_the_run_in_flight(
    stage: Stage, clock: ManualClock, mode: str, now: str, end: str
) -> None:
    host = stage(hold=True)
    job = host.add("slow", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    told = host.control.pause("slow", reason="enough", mode=mode)
    host.beat()
    (item,) = host.held.values()
    assert item.stop.is_set() == (mode == "stop")
    host.finish(item.run_id, Outcome("cancelled", "operator") if mode == "stop" else None)
    host.beat()

    assert [run["now"] for run in told["runs"]] == [now]
    assert [word for _, word in host.words(job)] == [end]
    assert host.job(job)["state"] == "paused"


def test_report_R70_every_change_of_state_has_an_actor_and_a_reason(stage: Stage, clock: ManualClock) -> None:
    host = stage(Player(then=failed("exit_code", exit_code=1)).plays())
    host.add("shaky", cron="* * * * *", breaker=2, attempts=1)

    for _ in range(5):
        clock.advance(minutes=1)
        host.beat()
    host.control.resume("shaky", reason="it is repaired")
    host.control.pause("shaky", reason="not yet")
    host.control.remove("shaky", reason="never mind")

    told = [(e["action"], e["actor"], e["reason"]) for e in host.control.history(host.runs()[0]["uid"])]
    assert told == [
        ("create", "tester", None),
        ("pause", "host-1", "max_consecutive_failures"),
        ("resume", "tester", "it is repaired"),
        ("pause", "tester", "not yet"),
        ("retire", "tester", "never mind"),
    ]


def test_report_R71_an_edit_keeps_the_fields_of_a_newer_version(host: StandingHost) -> None:
    job = host.add("old", cron="0 9 * * *")
    with host.ledger.write() as c:
        c.execute(sa.update(jobs).values(extra='{"colour":"blue"}'))

    host.control.edit("old", {"name": "New"})

    assert '"colour":"blue"' in host.job(job)["extra"]
    assert host.job(job)["name"] == "New"


def test_report_R74_a_job_that_kills_its_host_ends_after_its_attempts(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    job = host.add("poison", at="2026-06-01T09:00:00Z", on_lost="retry", attempts=3, timeout=5)
    clock.set("2026-06-01T09:00:00+00:00")

    claims = 0
    for _ in range(6):
        host.beat()
        claims += len(host.held)
        host.die()
        host = stage(hold=True)
        lost(host, clock)
        clock.advance(minutes=2)

    (run,) = host.runs(job)
    assert claims == 3
    assert (run["word"], run["attempts"], run["reason"], run["gave_up"]) == (
        "interrupted",
        3,
        "lease_lost",
        1,
    )
    assert [a["outcome"] for a in host.attempts(run["id"])] == ["interrupted"] * 3
    assert host.job(job)["state"] == "done"


def test_report_R70_an_order_without_a_reason_that_needs_one_is_refused(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    host.add("slow", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    with pytest.raises(Refused, match="needs a reason"):
        host.control.cancel(next(iter(host.held)), None)
