"""Why a slot ran or did not, what is next, and what a downtime would do."""

from __future__ import annotations

import pytest

from schedcore.domain.errors import NotFound, Refused
from schedcore.testing import noop


def verdict(control, when, job="backup"):
    told = control.why(job, when)
    return told["verdict"], told["reason"]


def test_a_slot_that_ran_names_its_run(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    told = control.why("backup", "2026-06-01T09:00:00Z")

    assert (told["verdict"], told["definition"], told["run"]["state"]) == ("run", 1, "succeeded")
    assert f"run {told['run']['id']} answers for it; it is succeeded" in told["sentence"]


def test_an_instant_is_read_on_the_jobs_own_clock(world, control, daily):
    control.add(daily(zone="Europe/Berlin"))

    told = control.why("backup", "2026-06-02T09:00")

    assert told["verdict"] == "to_come"
    assert told["instant"] == "2026-06-02T07:00:00.000Z"
    assert told["instant_local"] == "2026-06-02T09:00:00+02:00 Europe/Berlin"


def test_coalesced_slots_are_counted_and_what_lies_between_them_is_no_slot(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-04T10:00:00+00:00")
    host.beat()

    assert verdict(control, "2026-06-02T09:00:00Z") == ("skipped", "coalesced")
    told = control.why("backup", "2026-06-01T09:00:00Z")
    assert (told["skipped"]["slots"], told["run"]["scheduled_for"]) == (3, "2026-06-04T09:00:00.000Z")
    assert verdict(control, "2026-06-02T12:00:00Z") == ("not_a_slot", None)
    assert verdict(control, "2026-06-04T09:00:00Z")[0] == "run"


def test_a_backfilled_slot_keeps_its_decision_and_names_the_run_beside_it(world, control, daily):
    host = world.host()
    control.add(daily(cron="0 * * * *"))
    world.clock.set("2026-06-01T10:00:00+00:00")
    host.beat()
    control.backfill("backup", "2026-06-01T07:00:00Z", "2026-06-01T09:00:00Z")
    for _ in range(3):
        host.beat()
        world.clock.advance(5)

    told = control.why("backup", "2026-06-01T09:00:00Z")
    never_owed = control.why("backup", "2026-06-01T07:00:00Z")

    assert (told["verdict"], told["reason"]) == ("skipped", "coalesced")
    assert (told["run"]["trigger"], told["run"]["state"]) == ("backfill", "succeeded")
    assert told["sentence"].endswith(
        f"; run {told['run']['id']} (backfill) ran it later and is succeeded [definition 1]"
    )
    assert never_owed["verdict"] == "run"


def test_late_slots_say_so(world, control, daily):
    host = world.host()
    control.add(daily(catch_up="skip"))
    world.clock.set("2026-06-01T09:20:00+00:00")
    host.beat()

    assert verdict(control, "2026-06-01T09:00:00Z") == ("skipped", "late")


def test_an_overlapping_slot_says_so(world, control, daily):
    host = world.host(hold=True)
    control.add(daily(cron="* * * * *"))
    world.clock.advance(60)
    host.beat()
    world.clock.advance(60)
    host.beat()

    assert verdict(control, "2026-06-01T08:02:00Z") == ("skipped", "overlap")


def test_a_paused_slot_names_who_paused(world, control, daily):
    control.add(daily())
    control.pause("backup", reason="holiday")
    world.clock.advance(days=1)
    assert verdict(control, "2026-06-01T09:00:00Z") == ("undecided", "paused")
    assert verdict(control, "2026-06-05T09:00:00Z") == ("to_come", "paused")

    control.resume("backup")

    told = control.why("backup", "2026-06-01T09:00:00Z")
    assert (told["verdict"], told["reason"], told["actor"]) == ("skipped", "paused", "anna")
    assert "the job was paused (by anna)" in told["sentence"]


def test_a_slot_behind_an_open_breaker_says_so(world, control, daily):
    from schedcore.spec import failed

    host = world.host(noop(execute=lambda ctx: failed("exit_code", exit_code=1)))
    control.add(daily(breaker=1, attempts=1))
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    world.clock.advance(days=1)
    control.resume("backup")

    assert verdict(control, "2026-06-02T09:00:00Z") == ("skipped", "breaker")


def test_a_slot_that_nobody_could_run_says_no_executor(world, control, daily):
    world.host().beat()
    control.add(daily())
    world.clock.set("2026-06-01T09:00:00+00:00")

    world.host(noop("other"), name="host-2").beat()

    assert verdict(control, "2026-06-01T09:00:00Z") == ("skipped", "no_executor")


def test_a_slot_that_found_every_worker_busy_says_full(world, control, daily):
    host = world.host(hold=True, workers=1)
    control.add(daily("first"))
    control.add(daily("second", on_full="skip"))
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    host.beat()

    assert verdict(control, "2026-06-01T09:00:00Z", "second") == ("skipped", "full")


def test_a_time_in_the_first_period_is_judged_by_definition_1(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-02T08:00:00+00:00")
    host.beat()
    control.edit("backup", {"cron": "0 12 * * *"})
    world.clock.set("2026-06-03T08:00:00+00:00")
    host.beat()
    control.edit("backup", {"cron": "0 15 * * *"})

    first = control.why("backup", "2026-06-01T12:00:00Z")
    second = control.why("backup", "2026-06-02T12:00:00Z")
    third = control.why("backup", "2026-06-03T12:00:00Z")

    assert (first["verdict"], first["definition"]) == ("not_a_slot", 1)
    assert (second["verdict"], second["definition"]) == ("run", 2)
    assert (third["verdict"], third["definition"]) == ("not_a_slot", 3)
    assert "the next is 2026-06-03T15:00:00.000Z" in third["sentence"]


def test_before_the_job_there_was_nothing(control, daily):
    control.add(daily())

    told = control.why("backup", "2026-05-01T09:00:00Z")

    assert told["verdict"] == "before_creation"
    assert "created later, at 2026-06-01T08:00:00.000Z" in told["sentence"]


@pytest.mark.parametrize("state", ["nobody", "somebody", "halted"])
def test_a_due_slot_without_a_row_says_what_it_waits_for(world, control, daily, state):
    control.add(daily())
    world.clock.set("2026-06-01T09:00:00+00:00")
    if state != "nobody":
        world.host()
        world.write(f"update {{s}}hosts set beat_at={world.clock.wall()}")
    if state == "halted":
        control.halt(True, "drill")

    expected = {"nobody": "no_host", "somebody": "late", "halted": "hold"}[state]
    assert verdict(control, "2026-06-01T09:00:00Z") == ("undecided", expected)


def test_a_slot_that_waits_for_its_jitter_is_still_to_come(world, control, daily):
    control.add(daily(jitter=180))
    world.clock.set("2026-06-01T09:00:00+00:00")

    told = control.why("backup", "2026-06-01T09:00:00Z")

    assert (told["verdict"], told["reason"]) == ("to_come", "jitter")


def test_a_retired_and_a_done_job_have_no_slots(world, control, daily):
    host = world.host()
    uid = control.add(daily())["id"]
    control.remove("backup")
    control.add({"key": "once", "kind": "noop"})
    host.beat()

    assert verdict(control, "2026-06-05T09:00:00Z", uid) == ("not_a_slot", "retired")
    assert verdict(control, "2026-06-05T09:00:00Z", "once")[0] == "not_a_slot"


def test_a_count_that_is_used_up_leaves_no_slot(world, control, daily):
    control.add(daily(count=2))

    assert verdict(control, "2026-06-02T09:00:00Z") == ("to_come", None)
    assert verdict(control, "2026-06-03T09:00:00Z") == ("not_a_slot", "count")


def test_a_manual_run_is_found_by_its_own_instant(control, daily):
    control.add(daily())
    told = control.run("backup")

    answer = control.why("backup", told["scheduled_for"])

    assert (answer["verdict"], answer["run"]["trigger"]) == ("run", "manual")


def test_an_unknown_job_exits_3_and_an_unreadable_time_2(control, daily):
    control.add(daily())

    with pytest.raises(NotFound) as missing:
        control.why("nothing", "2026-06-01T09:00:00Z")
    with pytest.raises(Refused) as refused:
        control.why("backup", "yesterday")

    assert (missing.value.exit_code, refused.value.exit_code, refused.value.field) == (3, 2, "instant")


# -- what is next ---------------------------------------------------------------------------------


def test_next_of_an_expression_needs_no_job(control):
    told = control.next(cron="0 3 * * *", zone="America/New_York", after="2026-03-07T12:00:00Z", n=2)

    assert told["slots"] == [
        {"utc": "2026-03-08T07:00:00.000Z", "local": "2026-03-08T03:00:00-04:00", "note": None},
        {"utc": "2026-03-09T07:00:00.000Z", "local": "2026-03-09T03:00:00-04:00", "note": None},
    ]
    assert control.next(every="2h", n=1)["slots"][0]["utc"] == "2026-06-01T10:00:00.000Z"
    assert control.next(expr="*/30 * * * *", n=1)["slots"][0]["utc"] == "2026-06-01T08:30:00.000Z"
    assert control.next(at="2026-06-01T09:00")["slots"][0]["utc"] == "2026-06-01T09:00:00.000Z"


def test_next_notes_a_slot_that_a_clock_change_touches(control):
    told = control.next(cron="30 2 * * *", zone="America/New_York", after="2026-03-07T12:00:00Z", n=1)

    assert told["slots"][0]["utc"] == "2026-03-08T07:00:00.000Z"
    assert "02:30" in told["slots"][0]["note"]


def test_next_of_a_job_begins_with_what_is_due(world, control, daily):
    control.add(daily())
    world.clock.advance(hours=3)

    assert control.next("backup", n=1)["slots"][0]["utc"] == "2026-06-01T09:00:00.000Z"
    assert "paused" in (control.pause("backup") and control.next("backup"))["note"]


def test_next_wants_exactly_one_thing(control):
    with pytest.raises(Refused):
        control.next()
    with pytest.raises(Refused):
        control.next(cron="* * * * *", every="2h")
    with pytest.raises(Refused):
        control.next(cron="* * * * *", n=101)
    with pytest.raises(Refused):
        control.next(expr="30m")


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"catch_up": "skip"},
        {"catch_up": "all", "catch_up_max": 3},
        {"catch_up": "all", "late_limit": "4h", "catch_up_max": 3},
        {"cron": "*/7 * * * *", "jitter": 120},
        {"cron": "* * * * *", "count": 30},
        {"cron": "0 * * * *", "catch_up": "skip", "late_limit": "10m"},
    ],
)
@pytest.mark.parametrize("hours", [0.5, 5, 31])
def test_a_downtime_does_what_its_preview_said(world, control, daily, more, hours):
    host = world.host()
    control.add(daily(**({"cron": "20 * * * *"} | more)))
    for _ in range(45):
        world.clock.advance(60)
        host.beat()
    before = {run["id"] for run in control.runs(limit=1000)}
    skipped = len(world.rows("select id from {s}skipped"))
    down_from = world.clock.instant.isoformat().replace("+00:00", "Z")
    host.stop()
    world.clock.advance(hours=hours)
    up_at = world.clock.instant.isoformat().replace("+00:00", "Z")
    told = control.down("backup", down_from, up_at)

    world.host(name="host-2").beat()

    opened = sorted(r["scheduled_for"] for r in control.runs(limit=1000) if r["id"] not in before)
    rows = world.rows("select slots, reason from {s}skipped order by first_slot")[skipped:]
    assert [run["utc"] for run in told["runs"]] == opened
    assert [(s["slots"], s["reason"]) for s in told["skipped"]] == rows
    assert told["next"] == (control.next("backup", n=1)["slots"] or [{"utc": None}])[0]["utc"]


def test_a_downtime_may_be_asked_for_in_the_future(control, daily):
    control.add(daily())

    told = control.down("backup", "2026-06-10T00:00:00Z", "2026-06-13T12:00:00Z")

    assert [run["utc"] for run in told["runs"]] == ["2026-06-13T09:00:00.000Z"]
    assert [(s["first"], s["slots"], s["reason"]) for s in told["skipped"]] == [
        ("2026-06-10T09:00:00.000Z", 3, "coalesced")
    ]
    with pytest.raises(Refused):
        control.down("backup", "2026-06-13T12:00:00Z", "2026-06-10T00:00:00Z")
