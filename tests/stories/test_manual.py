"""Runs by hand, again, and of the past (A-15, P-07, L-14)."""

from __future__ import annotations

import pytest

from schedcore.domain.errors import Refused
from schedcore.spec import failed
from schedcore.testing import ManualClock, Player, StandingHost
from tests.stories.conftest import Stage


def test_two_orders_in_one_millisecond_are_two_runs(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("tool", cron="0 9 * * *", overlap="parallel", overlap_max=4)

    first, second = host.control.run("tool"), host.control.run("tool")

    assert first["scheduled_for"] == "2026-06-01T08:00:00.000Z"
    assert second["scheduled_for"] == "2026-06-01T08:00:00.001Z"
    assert first["run_key"] != second["run_key"]
    assert [run["trigger_word"] for run in host.runs(job)] == ["manual"] * 2


def test_a_run_by_hand_moves_no_slot_and_takes_none(host: StandingHost, clock: ManualClock) -> None:
    job = host.add("tool", every="1h", jitter=60)
    due = host.job(job)["next_run_at"]
    clock.set("2026-06-01T08:30:00+00:00")

    host.control.run("tool")
    host.poll()

    (run,) = host.runs(job)
    assert (run["latency_ms"], run["word"]) == (0, "succeeded")
    assert host.job(job)["next_run_at"] == due


def test_an_order_at_the_instant_of_a_slot_leaves_the_slot_alone(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("tool", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")

    host.control.run("tool")
    host.poll()

    assert [run["trigger_word"] for run in host.runs(job)].count("manual") == 1
    slots = {run["scheduled_for"] for run in host.runs(job) if run["trigger_word"] == "schedule"}
    decided = len(slots) + sum(n for _, n in host.skips(job))
    assert decided == 1


def test_a_retry_by_hand_is_a_run_linked_to_the_first_under_its_delivery_key(
    stage: Stage, clock: ManualClock
) -> None:
    player = Player(failed("exit_code", exit_code=1))
    host = stage(player.plays())
    job = host.add("tool", cron="0 9 * * *")
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    (first,) = host.runs(job)
    clock.advance(minutes=5)

    told = host.control.retry(first["id"], "it was the network")
    host.poll()

    second = host.runs(job)[1]
    assert (second["trigger_word"], second["word"], second["retry_of_id"]) == (
        "manual",
        "succeeded",
        first["id"],
    )
    assert told["retry_of"] == first["id"]
    assert player.seen[0].delivery_key == player.seen[1].delivery_key
    assert player.seen[0].run_key != player.seen[1].run_key


def test_a_backfill_opens_the_slots_without_a_row_once(stage: Stage, clock: ManualClock) -> None:
    host = stage()
    job = host.add("hourly", cron="0 * * * *")
    clock.set("2026-06-01T14:30:00+00:00")
    host.beat()  # one run of 14:00; 09:00 to 13:00 are one row

    first = host.control.backfill("hourly", "2026-06-01T08:30:00Z", "2026-06-01T14:00:00Z")
    second = host.control.backfill("hourly", "2026-06-01T08:30:00Z", "2026-06-01T14:00:00Z")
    for _ in range(8):
        clock.advance(5)
        host.poll()

    assert (first["opened"], second["opened"]) == (5, 0)
    told = [(run["at"], run["trigger_word"], run["word"]) for run in host.runs(job)]
    assert told == [(f"{h:02}:00:00", "backfill", "succeeded") for h in range(9, 14)] + [
        ("14:00:00", "schedule", "succeeded")
    ]


def test_a_backfill_decides_nothing(stage: Stage, clock: ManualClock) -> None:
    """Coalesced, paused, never owed, still undecided: decision 0019, point by point."""
    host = stage()
    job = host.add("hourly", cron="0 * * * *", count=50)
    clock.set("2026-06-01T10:30:00+00:00")
    host.beat()  # a run of 10:00; 09:00 is coalesced
    host.control.pause("hourly")
    clock.set("2026-06-01T12:30:00+00:00")
    host.control.resume("hourly")  # 11:00 and 12:00 are one row
    host.control.pause("hourly")
    clock.set("2026-06-01T13:30:00+00:00")  # 13:00 is in a pause that lasts
    before = host.skip_rows(job), host.job(job)

    told = host.control.backfill("hourly", "2026-06-01T07:00:00Z", "2026-06-01T13:30:00Z")
    for _ in range(8):
        host.poll()
        clock.advance(5)

    assert told["slots"] == [f"2026-06-01T{hour:02}:00:00.000Z" for hour in (7, 8, 9, 11, 12)]
    after = host.job(job)
    assert host.skip_rows(job) == before[0], "what was decided stands"
    moves = ("last_slot", "next_run_at", "slots_left", "fired", "anchor")
    assert {name: after[name] for name in moves} == {name: before[1][name] for name in moves}
    scheduled = [run["id"] for run in host.runs(job) if run["trigger_word"] == "schedule"]
    assert {row["run_id"] for row in host.skip_rows(job)} <= {*scheduled, None}
    slots = [run["scheduled_for"] for run in host.runs(job) if run["trigger_word"] == "backfill"]
    assert max(slots) <= after["last_slot"]
    host.control.resume("hourly")
    assert host.skips(job)[-1] == ("paused", 1), "13:00 was left to the resume"
    clock.set("2026-06-01T14:00:00+00:00")
    host.beat()
    assert host.words(job)[-1] == ("14:00:00", "succeeded")


def test_a_backfill_takes_at_most_what_it_is_told(host: StandingHost, clock: ManualClock) -> None:
    host.add("minutely", cron="* * * * *")
    clock.set("2026-06-01T14:30:00+00:00")
    host.beat()

    told = host.control.backfill("minutely", "2026-06-01T09:00:00Z", "2026-06-01T14:00:00Z")

    assert told["opened"] == 100
    assert told["left"] == 201
    with pytest.raises(Refused, match="still to come"):
        host.control.backfill("minutely", "2026-06-01T09:00:00Z", "2026-06-02T14:00:00Z")


def test_a_paused_job_may_be_run_by_hand(host: StandingHost) -> None:
    job = host.add("tool", cron="0 9 * * *")
    host.control.pause("tool")

    host.control.run("tool")
    host.poll()

    assert [run["word"] for run in host.runs(job)] == ["succeeded"]
    assert host.job(job)["state"] == "paused"
