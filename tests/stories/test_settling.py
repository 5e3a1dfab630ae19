"""Attempts, retries, streaks and breakers (A-07 to A-12), and what a run keeps (L-14 to L-16, L-19, L-21, T-17)."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import pytest

from schedcore.domain.clock import from_us
from schedcore.spec import Outcome, RunContext, Veto, blocked, failed, findings, no_op, ok
from schedcore.testing import Doorkeeper, ManualClock, Player, noop
from tests.stories.conftest import Stage


def minutes(host: Any, clock: ManualClock, n: int) -> None:
    """So many beats, a minute apart."""
    for _ in range(n):
        clock.advance(minutes=1)
        host.beat()


BAD = failed("exit_code", exit_code=1)


def test_three_attempts_are_one_run_and_sixty_seconds_apart(stage: Stage, clock: ManualClock) -> None:
    player = Player(then=BAD)
    host = stage(player.plays(attempts=3))
    job = host.add("failing", at="2026-06-01T09:00:00Z")
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()
    minutes(host, clock, 5)

    (run,) = host.runs(job)
    attempts = host.attempts(run["id"])
    assert (run["word"], run["attempts"], run["gave_up"]) == ("failed", 3, 1)
    assert [a["number"] for a in attempts] == [1, 2, 3]
    assert [(a["claimed_at"] - attempts[0]["claimed_at"]) // 1_000_000 for a in attempts] == [0, 60, 120]
    assert {ctx.run_key for ctx in player.seen} == {player.seen[0].delivery_key}
    assert host.job(job)["state"] == "done"


@pytest.mark.parametrize(("declared", "given", "made"), [(1, None, 1), (3, None, 3), (3, 2, 2)])
def test_the_kind_says_how_many_attempts_there_are_and_the_job_may_say_otherwise(
    stage: Stage, clock: ManualClock, declared: int, given: int | None, made: int
) -> None:
    player = Player(then=BAD)
    host = stage(player.plays(attempts=declared))
    host.add("failing", at="2026-06-01T09:00:00Z", **({"attempts": given} if given else {}))
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()
    minutes(host, clock, 4)

    assert len(player.seen) == made


def test_doubling_waits_twice_as_long_each_time(stage: Stage, clock: ManualClock) -> None:
    host = stage(Player(then=BAD).plays(attempts=4))
    job = host.add("failing", at="2026-06-01T09:00:00Z", retry_backoff="doubling", timeout="1h")
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()
    minutes(host, clock, 8)

    claimed = [a["claimed_at"] // 60_000_000 for a in host.attempts(host.runs(job)[0]["id"])]
    assert [b - a for a, b in itertools.pairwise(claimed)] == [1, 2, 4]


@pytest.mark.parametrize(
    "end",
    [
        failed("assertion"),
        failed("refusal"),
        failed("not_found"),
        failed("exit_code", exit_code=127),
        failed("provider", retry=False),
        Outcome("failed", "provider", detail={"status": 402}),
        blocked("secret"),
        Outcome("cancelled", "operator"),
    ],
    ids=lambda o: f"{o.kind}-{o.reason}-{o.exit_code}",
)
def test_what_no_further_attempt_can_cure_is_tried_once(
    stage: Stage, clock: ManualClock, end: Outcome
) -> None:
    player = Player(then=end)
    host = stage(player.plays(attempts=3))
    job = host.add("failing", at="2026-06-01T09:00:00Z")
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()
    minutes(host, clock, 3)

    assert len(player.seen) == 1
    assert host.job(job)["streak"] == (1 if end.kind == "failed" else 0)
    assert [a["reason"] for a in host.attempts(host.runs(job)[0]["id"])] == [end.reason]


def test_a_restart_between_two_attempts_loses_neither(stage: Stage, clock: ManualClock) -> None:
    player = Player(BAD)
    host = stage(player.plays(attempts=2))
    job = host.add("shaky", at="2026-06-01T09:00:00Z", breaker=1)
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    (between,) = host.runs(job)
    host.die()

    host = stage(player.plays(attempts=2))
    minutes(host, clock, 1)

    assert (between["word"], between["next_attempt_at"] - clock.wall()) == ("queued", 0)
    assert host.job(job)["streak"] == 0
    assert [run["word"] for run in host.runs(job)] == ["succeeded"]


def test_latency_is_that_of_the_first_attempt_and_duration_that_of_the_last(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    job = host.add("slow", at="2026-06-01T09:00:00Z", attempts=2)
    clock.set("2026-06-01T09:00:02+00:00")
    host.beat()
    host.finish(None, BAD, took_s=0)
    host.beat()
    clock.advance(60)
    host.beat()
    clock.advance(7)

    host.finish(took_s=7)
    host.beat()

    (run,) = host.runs(job)
    assert (run["latency_ms"], run["duration_ms"]) == (2000, 7000)


def test_a_run_keeps_what_each_attempt_was(stage: Stage, clock: ManualClock) -> None:
    host = stage(Player(failed("exit_code", "no route", exit_code=7)).plays(attempts=2))
    job = host.add("shaky", at="2026-06-01T09:00:00Z")
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()
    minutes(host, clock, 1)

    told = [
        (a["number"], a["fence"], a["host"], a["outcome"], a["reason"], a["text"], a["exit_code"])
        for a in host.attempts(host.runs(job)[0]["id"])
    ]
    assert told == [
        (1, 1, "host-1", "failed", "exit_code", "no route", 7),
        (2, 2, "host-1", "ok", None, None, None),
    ]


def test_five_failures_in_a_row_pause_the_job_with_one_line(
    stage: Stage, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    host = stage(Player(then=BAD).plays())
    job = host.add("failing", cron="* * * * *")

    minutes(host, clock, 9)
    host.control.resume("failing", reason="repaired")

    assert [run["word"] for run in host.runs(job)] == ["failed"] * 5
    assert sum("5 failed in a row" in record.message for record in caplog.records) == 1
    assert host.skips(job) == [("breaker", 4)]
    assert (host.job(job)["state"], host.job(job)["streak"]) == ("active", 0)


def test_a_good_end_breaks_the_streak_and_what_is_no_end_leaves_it(stage: Stage, clock: ManualClock) -> None:
    host = stage(
        Player(BAD, BAD, BAD, BAD, findings(), BAD, no_op(), BAD, BAD, blocked("secret"), BAD).plays()
    )
    job = host.add("mixed", cron="* * * * *")

    streaks = []
    for _ in range(11):
        minutes(host, clock, 1)
        streaks.append(host.job(job)["streak"])

    assert streaks == [1, 2, 3, 4, 0, 1, 0, 1, 2, 2, 3]
    assert host.job(job)["state"] == "active"


def test_an_open_breaker_with_a_cool_down_makes_one_probe_over_two_hosts(
    stage: Stage, clock: ManualClock
) -> None:
    player = Player(then=BAD)
    a, b = stage(player.plays()), stage(player.plays())
    job = a.add("failing", cron="0 * * * *", breaker=2, breaker_cooldown="24h")
    for _ in range(2):
        clock.advance(hours=1)
        a.beat()
    assert a.job(job)["state"] == "paused"
    before = len(player.seen)

    probes = []
    for _ in range(26):
        clock.advance(hours=1)
        b.beat()
        a.beat()
        probes.append(len(player.seen) - before)

    assert probes == [0] * 23 + [1] * 3
    assert a.job(job)["state"] == "paused"
    player.then = ok()
    for _ in range(24):
        clock.advance(hours=1)
        a.beat()
        b.beat()
    assert a.job(job)["state"] == "active"
    assert a.job(job)["streak"] == 0


def test_what_a_probe_passes_is_counted_under_the_definition_that_owed_it(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    job = host.add("failing", cron="* * * * *", breaker=1, breaker_cooldown="1h")
    clock.advance(minutes=1)
    host.beat()
    clock.advance(minutes=2, seconds=30)
    host.finish(None, BAD)
    host.beat()  # it pauses at 08:03:30; 08:02 and 08:03 had come before, and nobody has opened them
    assert host.job(job)["state"] == "paused"

    clock.set("2026-06-01T09:04:00+00:00")
    host.beat()

    told = [(row["definition"], row["reason"], row["slots"], row["last_slot"]) for row in host.skip_rows(job)]
    first, second = host.definitions(job)
    assert [row[:3] for row in told] == [(1, "breaker", 2), (2, "breaker", 60)]
    assert told[0][3] < first["valid_to"] == second["valid_from"]
    (probe,) = host.held.values()
    assert (probe.slot, probe.job.number) == (host.job(job)["last_slot"], 2)


def test_a_probe_takes_no_more_than_the_count_of_its_trigger_allows(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add("failing", cron="* * * * *", count=5, breaker=1, breaker_cooldown="1h")
    clock.advance(minutes=1)
    host.beat()
    host.finish(None, BAD)
    host.beat()
    assert (host.job(job)["state"], host.job(job)["slots_left"]) == ("paused", 4)

    clock.set("2026-06-01T09:02:00+00:00")
    host.beat()

    assert [run["at"] for run in host.runs(job)] == ["08:01:00", "08:05:00"], "the newest that is allowed"
    assert host.skips(job) == [("breaker", 3)]
    assert host.job(job)["slots_left"] == 0
    host.finish()
    host.beat()
    assert host.job(job)["state"] == "done"


@pytest.mark.parametrize("how", ["blocked", "gate", "overlap", "cancelled"])
def test_a_probe_that_told_nothing_is_followed_by_another(stage: Stage, clock: ManualClock, how: str) -> None:
    gate = Doorkeeper(*([None, None, Veto("never", passing=False)] if how == "gate" else []))
    player = Player(BAD, BAD)
    host = stage(player.plays(), gates=[gate.stands()] if how == "gate" else [])
    job = host.add("failing", cron="0 * * * *", breaker=2, breaker_cooldown="1h")
    for _ in range(2):
        clock.advance(hours=1)
        host.beat()
    assert host.job(job)["state"] == "paused"
    if how in {"blocked", "cancelled"}:
        player.steps = [blocked("secret") if how == "blocked" else Outcome("cancelled", "operator")]
    elif how == "overlap":
        host.hold = True
        host.control.run("failing")
        clock.advance(minutes=58)
        host.beat()
        assert len(host.held) == 1
        host.clock.advance(minutes=2)
        host.beat()
        host.hold = False
        host.finish(outcome=blocked("secret"))
        host.beat()
    else:
        pass

    for _ in range(3):
        clock.advance(hours=1)
        host.beat()

    assert host.job(job)["state"] == "active"


@pytest.mark.parametrize("how", ["lost", "told to stop, then lost", "lost under a wider breaker"])
def test_a_probe_whose_host_dies_is_followed_by_another(stage: Stage, clock: ManualClock, how: str) -> None:
    host = stage(hold=True)
    job = host.add("failing", cron="0 * * * *", breaker=1, breaker_cooldown="1h", timeout="10m")
    clock.advance(hours=1)
    host.beat()
    host.finish(None, BAD)
    host.beat()
    if "wider" in how:
        host.control.edit("failing", {"breaker": 10})
    clock.advance(hours=1)
    host.beat()
    (probe,) = host.held
    if "told" in how:
        host.control.cancel(probe, "not now")
    host.die()

    other = stage(hold=True)
    for _ in range(12):  # a judge must have been in contact for a lease
        clock.advance(12)
        other.poll()
    while not other.held and clock.instant.hour < 14:
        clock.advance(minutes=10)
        other.beat()

    assert other.runs(job)[1]["word"] == ("cancelled" if "told" in how else "interrupted")
    (again,) = other.held.values()
    assert again.probe
    opened_anew = (
        "11:00:00" if "told" in how else "12:00:00"
    )  # a failed probe opens it for the same time again
    assert f"{from_us(again.slot):%H:%M:%S}" == opened_anew
    other.finish()
    other.beat()
    assert other.job(job)["state"] == "active"


@pytest.mark.parametrize(
    ("at", "change", "probe"),
    [
        ("09:00", {"payload": {"n": 1}}, "11:00:00"),
        ("11:05", {"payload": {"n": 1}}, "11:00:00"),
        ("09:00", {"cron": "30 * * * *"}, "10:30:00"),
        ("09:00", {"breaker_cooldown": "3h"}, "12:00:00"),
        ("09:00", {"breaker_cooldown": 0}, None),
    ],
)
def test_an_edit_leaves_an_open_breaker_its_probe(
    stage: Stage, clock: ManualClock, at: str, change: dict[str, object], probe: str | None
) -> None:
    host = stage(hold=True)
    job = host.add("failing", cron="0 * * * *", breaker=1, breaker_cooldown="90m")
    clock.advance(hours=1)
    host.beat()
    host.finish(None, BAD)
    host.beat()  # it pauses at 09:00; the first slot after the cool-down is that of 11:00
    clock.set(f"2026-06-01T{at}:00+00:00")

    host.control.edit("failing", change)

    due = host.job(job)["next_run_at"]
    assert (due and f"{from_us(due):%H:%M:%S}") == probe


def test_a_probe_that_works_is_the_only_one_although_another_run_of_its_job_ends(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True, workers=1)
    job = host.add("failing", cron="0 * * * *", breaker=1, breaker_cooldown="1h", overlap="parallel")
    clock.advance(hours=1)
    host.beat()
    host.finish(None, BAD)
    host.beat()
    clock.advance(hours=1)
    host.beat()
    assert [item.probe for item in host.held.values()] == [1]
    waiting = host.control.run("failing")["run"]

    host.control.cancel(waiting, "not now")

    assert host.job(job)["next_run_at"] is None
    host.finish(None, blocked("secret"))
    host.beat()
    assert host.job(job)["next_run_at"] is not None, "now another one may try"


def test_soft_failures_are_findings_and_a_missing_program_is_not(stage: Stage, clock: ManualClock) -> None:
    host = stage(Player(failed("exit_code", exit_code=3), failed("exit_code", exit_code=127)).plays())
    job = host.add("audit", cron="* * * * *", soft_fail=True)

    minutes(host, clock, 2)

    assert [(run["word"], run["exit_code"]) for run in host.runs(job)] == [("findings", 3), ("failed", 127)]
    assert host.job(job)["streak"] == 1


def nonsense(ctx: RunContext) -> Any:
    return {"state": "fine"}


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (ZeroDivisionError("oh"), "plugin 'test': ZeroDivisionError: oh"),
        (SystemExit(3), "plugin 'test': SystemExit: 3"),
        (KeyboardInterrupt(), "plugin 'test': KeyboardInterrupt"),
        (nonsense, "plugin 'test' returned {'state': 'fine'}"),
        (Outcome("splendid"), "plugin 'test' returned Outcome"),  # type: ignore[arg-type]  # wrong on purpose
    ],
    ids=["raises", "leaves-the-thread", "interrupts", "nonsense", "no-outcome"],
)
def test_whatever_an_executor_does_ends_its_own_run_with_the_name_of_the_plugin(
    stage: Stage, clock: ManualClock, step: Any, told: str
) -> None:
    host = stage(Player(step).plays("bad"), noop())
    bad = host.add("bad", kind="bad", cron="* * * * *", attempts=1)
    good = host.add("good", cron="* * * * *")

    minutes(host, clock, 2)

    first, second = host.runs(bad)
    assert (first["word"], first["reason"]) == ("failed", "executor_error")
    assert first["text"].startswith(told)
    assert second["word"] == "succeeded"
    assert [run["word"] for run in host.runs(good)] == ["succeeded"] * 2


def test_the_tail_is_the_last_eight_kibibytes_and_the_file_has_all_of_it(
    stage: Stage, clock: ManualClock
) -> None:
    text = "".join(f"{n:09}\n" for n in range(10_240)).encode()

    def talk(ctx: RunContext) -> Outcome:
        for start in range(0, len(text), 777):
            ctx.output.stdout(text[start : start + 777])
        ctx.output.stderr(b"bad \xff\xfe bytes")
        return ok()

    host = stage(Player(talk).plays())
    job = host.add("talker", at="2026-06-01T09:00:00Z")
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()

    (run,) = host.runs(job)
    whole = (host.folder / run["output_ref"]).read_bytes()
    assert run["stdout_tail"].encode() == text[-8192:]
    assert run["stderr_tail"] == "bad \ufffd\ufffd bytes"
    assert whole.startswith(text)


def test_output_is_cut_with_a_visible_mark(stage: Stage, clock: ManualClock) -> None:
    def talk(ctx: RunContext) -> Outcome:
        ctx.output.stdout(b"x" * 3000)
        return ok()

    host = stage(Player(talk).plays(), output_max=1000)
    job = host.add("talker", at="2026-06-01T09:00:00Z")
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()

    whole = (host.folder / host.runs(job)[0]["output_ref"]).read_bytes()
    assert whole.startswith(b"x" * 1000 + b"\n[schedcore: cut here, 2000 more bytes")


def test_fault_X9_a_program_that_is_not_there_is_not_retried_and_opens_the_breaker(
    stage: Stage, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    host = stage(Player(then=failed("not_found", "no such program")).plays(attempts=3))
    job = host.add("gone", cron="0 9 * * *", breaker=3)

    caplog.set_level(logging.WARNING)
    for _ in range(5):
        clock.advance(days=1)
        host.beat()

    assert [(run["word"], run["reason"], run["attempts"]) for run in host.runs(job)] == [
        ("failed", "not_found", 1)
    ] * 3
    assert host.job(job)["state"] == "paused"
    assert sum("failed in a row" in record.message for record in caplog.records) == 1


def test_no_second_probe_starts_while_the_first_one_works(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True)
    job = host.add(
        "failing", cron="0 * * * *", breaker=1, breaker_cooldown="1h", overlap="parallel", timeout="24h"
    )
    clock.advance(hours=1)
    host.beat()
    host.finish(None, BAD)
    host.beat()
    assert host.job(job)["state"] == "paused"

    probes = []
    for _ in range(4):
        clock.advance(hours=1)
        host.beat()
        probes.append(len(host.held))

    assert probes == [1, 1, 1, 1]
