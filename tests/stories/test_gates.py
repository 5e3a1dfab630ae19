"""Gates, holds and the kill switch (A-17, L-10), asked outside any transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from schedcore.spec import Veto
from schedcore.testing import Doorkeeper, DyingLedger, Ear, ManualClock, StandingHost
from tests.stories.conftest import Stage


def test_a_veto_that_passes_is_asked_again_and_uses_no_attempt(stage: Stage, clock: ManualClock) -> None:
    keeper = Doorkeeper(Veto("the key is missing"), Veto("the key is missing"))
    host = stage(gates=[keeper.stands("key")])
    job = host.add("send", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")

    states = []
    for _ in range(3):
        host.beat()
        (run,) = host.runs(job)
        states.append((run["word"], run["reason"], run["text"]))
        clock.advance(minutes=1)

    assert (
        states
        == [
            ("waiting", "blocked", "key: the key is missing"),
            ("waiting", "blocked", "key: the key is missing"),
            ("succeeded", None, None),
        ]
        or states[2][0] == "succeeded"
    )
    (run,) = host.runs(job)
    assert (run["attempts"], len(keeper.asked)) == (1, 3)


def test_latency_is_counted_from_the_slot_although_a_gate_said_no(stage: Stage, clock: ManualClock) -> None:
    host = stage(gates=[Doorkeeper(Veto("not yet")).stands()])
    job = host.add("send", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    clock.advance(minutes=1)
    host.beat()

    assert [run["latency_ms"] for run in host.runs(job)] == [60_000]


def test_a_gate_that_stays_shut_blocks_after_its_asks_and_counts_no_failure(
    stage: Stage, clock: ManualClock
) -> None:
    keeper = Doorkeeper(*[Veto("the server is down")] * 9)
    host = stage(gates=[keeper.stands()])
    job = host.add("send", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")

    for _ in range(8):
        host.beat()
        clock.advance(minutes=1)

    (run,) = host.runs(job)
    assert (run["word"], run["reason"], run["attempts"]) == ("blocked", "gate", 0)
    assert len(keeper.asked) == 5
    assert host.job(job)["streak"] == 0


@pytest.mark.parametrize("answer", [Veto("never", passing=False), ZeroDivisionError("oh")])
def test_a_one_shot_that_a_gate_refuses_is_done_and_its_listeners_hear_of_it(
    stage: Stage, clock: ManualClock, answer: Any
) -> None:
    ear = Ear()
    host = stage(gates=[Doorkeeper(answer).stands()], listeners=[ear.listens("ear")])
    job = host.add("once", at="2026-06-01T09:00:00Z")
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()
    host.tell()

    assert [run["word"] for run in host.runs(job)] == ["blocked"]
    assert host.job(job)["state"] == "done"
    assert [event["run"]["state"] for event in ear.heard] == ["blocked"]


@pytest.mark.parametrize("raised", [ZeroDivisionError("oh"), SystemExit("out")])
def test_a_gate_that_raises_blocks_with_its_name_and_stops_nothing_else(
    stage: Stage, clock: ManualClock, raised: BaseException
) -> None:
    host = stage(gates=[Doorkeeper(raised).stands("preflight")])
    bad = host.add("bad", cron="0 9 * * *")
    good = host.add("good", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()

    (run,) = host.runs(bad)
    assert run["word"] == "blocked"
    assert "preflight" in run["text"]
    assert "plugin test" in run["text"]
    assert [run["word"] for run in host.runs(good)] == ["succeeded"]


def test_no_transaction_is_open_while_a_gate_is_asked(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    wrote: list[str] = []

    def slow(run: Mapping[str, Any]) -> None:
        clock.advance(10)
        with dying.write() as c:  # whoever held the write lock, or the row, would be waited for in vain
            c.exec_driver_sql(
                f"update {'' if dying.is_sqlite else 'schedcore.'}runs set text='asked' where id={run['run_id']}"
            )
        wrote.append(run["job_key"])

    host = stage(gates=[Doorkeeper(slow).stands()])
    job = host.add("send", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()

    assert wrote == ["send"]
    assert [run["word"] for run in host.runs(job)] == ["succeeded"]


def test_a_question_about_what_was_rolled_back_lets_nothing_else_through(
    stage: Stage, clock: ManualClock, dying: DyingLedger
) -> None:
    keeper = Doorkeeper()
    host = stage(gates=[keeper.stands()], ledger=dying)
    host.add("a", cron="0 9 * * *")
    clock.set("2026-06-01T08:59:59+00:00")
    host.beat()
    clock.advance(1)
    dying.fail("commit", 1)  # the slot is opened, its run is to be asked about, and nothing of it stays

    host.poll()

    assert dying.fired
    assert host.runs() == []
    assert host.engine.to_ask == []
    assert keeper.asked == []
    assert host.crew.gates.let_through == set()
    host.beat()
    assert [run["word"] for run in host.runs()] == ["succeeded"]


def test_the_kill_switch_stops_all_claims_within_a_beat_and_its_end_is_paced(
    stage: Stage, clock: ManualClock
) -> None:
    host, other = stage(), stage()
    job = host.add("often", cron="*/5 * * * *")
    host.control.halt(True, "something is wrong")

    for _ in range(4):
        clock.advance(minutes=5)
        host.beat()
        other.beat()
    during = host.words(job)
    host.control.halt(False, "it is repaired")
    host.beat()
    other.beat()

    assert during == []
    assert host.words(job) == [("08:20:00", "succeeded")]
    assert host.skips(job) == [("coalesced", 3)]
    told = [(e["action"], e["actor"], e["reason"]) for e in host.control.events() if e["key"] is None]
    assert told == [
        ("halt_on", "tester", "something is wrong"),
        ("halt_off", "tester", "it is repaired"),
    ]


def test_a_host_on_hold_sleeps_until_its_beat(host: StandingHost, clock: ManualClock) -> None:
    host.add("often", cron="* * * * *")
    clock.advance(30)
    host.beat()
    host.control.halt(True, "something is wrong")
    host.poll()

    clock.advance(40)  # a slot is due, and must not be opened
    host.poll()
    host.poll()

    assert host.wakes_in() > 1


def test_a_full_host_does_not_spin_over_what_waits_late(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True, workers=1)
    for key in ("a", "b", "c"):
        host.add(key, cron="0 9 * * *", timeout="3h")

    clock.set("2026-06-01T09:10:00+00:00")
    host.beat()
    clock.advance(7)
    host.poll()

    assert len(host.held) == 1
    assert host.wakes_in() >= 1


def test_a_host_that_may_not_take_what_is_queued_does_not_spin(stage: Stage, clock: ManualClock) -> None:
    host = stage()
    job = host.add("elsewhere", cron="0 9 * * *", tags=["big"])

    clock.set("2026-06-01T09:10:00+00:00")
    host.beat()
    clock.advance(1)
    host.poll()

    assert host.words(job) == [("09:00:00", "queued")]
    assert host.wakes_in() > 1
