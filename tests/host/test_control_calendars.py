"""Calendars at the door: orders that name one, what is shown of it, and what doctor says (F-15)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from schedcore._engine.toolbox import Toolbox
from schedcore._host.callers import source
from schedcore._host.control import Control
from schedcore._ledger.events import Actor
from schedcore.domain.calendar import Calendar
from schedcore.domain.clock import HOUR, to_us
from schedcore.domain.errors import Refused
from schedcore.testing import noop

OFFICE = Calendar("office", ("saturday", "sunday", "12-25", "2026-06-05"), ("20:00-06:00",))


@pytest.fixture
def tools() -> Toolbox:
    return Toolbox(executors={"noop": ("test", noop())}, calendars={"office": OFFICE})


@pytest.fixture
def control(world: Any, tools: Toolbox) -> Control:
    return world.control(toolbox=tools)


def closed(daily: Any, **more: Any) -> dict[str, Any]:
    return daily(calendar="office", **more)


def test_an_unknown_calendar_is_refused_and_nothing_is_stored(world, control, daily):
    before = world.contents()

    with pytest.raises(Refused) as caught:
        control.add(daily(calendar="ofice"))

    assert (caught.value.code, caught.value.field, caught.value.hint) == (
        "unknown_calendar",
        "calendar",
        "did you mean 'office'?",
    )
    assert world.contents() == before


def test_an_order_answers_with_its_next_slots_and_what_the_calendar_does_to_them(control, daily):
    told = control.add(closed(daily))

    assert told["trigger"] == "at 09:00 every day (UTC); not in the closed time of calendar office"
    assert [slot["utc"][:10] for slot in told["slots"]] == ["2026-06-01", "2026-06-02", "2026-06-03"]
    assert told["slots"][0]["note"] is None


def test_next_across_a_holiday_leaves_out_what_is_dropped_and_says_so(control, daily):
    control.add(closed(daily))

    told = control.next("backup", after="2026-06-04T08:00:00Z", n=2)

    assert [slot["utc"][:10] for slot in told["slots"]] == ["2026-06-04", "2026-06-08"]
    assert told["slots"][1]["note"] == (
        "before it: 3 slots dropped, the first because 2026-06-05 is closed in calendar office"
    )
    assert [(row["first"][:10], row["last"][:10], row["slots"]) for row in told["dropped"]] == [
        ("2026-06-05", "2026-06-07", 3)
    ]


def test_next_takes_an_expression_and_a_calendar(control):
    told = control.next(cron="0 9 25 12 *", calendar="office", on_closed="move", zone="Europe/Paris", n=1)

    assert told["slots"] == [
        {
            "utc": "2026-12-28T08:00:00.000Z",
            "local": "2026-12-28T09:00:00+01:00",
            "note": "moved from 2026-12-25T09:00:00+01:00, because 12-25 is closed in calendar office",
        }
    ]
    assert "dropped" not in told
    with pytest.raises(Refused, match="no calendar"):
        control.next(cron="0 9 25 12 *", calendar="mars")
    with pytest.raises(Refused, match="its own calendar"):
        control.next("backup", calendar="office")


def test_a_job_is_shown_with_its_calendar_whole(control, daily):
    control.add(closed(daily, on_closed="move"))

    told = control.show("backup")

    assert told["trigger"]["calendar"] == OFFICE.to_dict()
    assert told["trigger"]["on_closed"] == "move"
    assert "moved out of the closed time of calendar office" in told["trigger_words"]


def test_why_tells_of_a_dropped_slot_before_it_comes_and_after(world, control, daily, tools):
    host = world.host(calendars=[OFFICE])
    control.add(closed(daily))
    world.clock.set("2026-06-04T12:00:00+00:00")
    host.beat()

    to_come = control.why("backup", "2026-06-06T09:00:00Z")
    world.clock.set("2026-06-06T12:00:00+00:00")
    waiting = control.why("backup", "2026-06-06T09:00:00Z")
    world.clock.set("2026-06-08T12:00:00+00:00")
    host.beat()
    decided = control.why("backup", "2026-06-06T09:00:00Z")

    assert (to_come["verdict"], to_come["reason"]) == ("to_come", "calendar")
    assert "will get no run: dropped, because Saturday is closed in calendar office" in to_come["sentence"]
    assert (waiting["verdict"], waiting["reason"]) == ("undecided", "calendar")
    assert "it is counted when the job's next slot is decided" in waiting["sentence"]
    assert (decided["verdict"], decided["reason"], decided["skipped"]["slots"]) == ("skipped", "calendar", 3)
    assert "the job's calendar has no work then; dropped, because Saturday is closed" in decided["sentence"]


@pytest.mark.parametrize(
    ("down_from", "up_at"),
    [
        ("2026-06-04T18:15:00Z", "2026-06-08T12:00:00Z"),
        ("2026-06-05T06:15:00Z", "2026-06-09T08:00:00Z"),
        ("2026-06-04T21:15:00Z", "2026-06-05T23:00:00Z"),
    ],
)
@pytest.mark.parametrize("on_closed", ["drop", "move", "keep"])
def test_a_preview_of_a_downtime_is_what_the_downtime_then_does(
    world, control, daily, on_closed, down_from, up_at
):
    world.clock.set("2026-06-04T17:30:00+00:00")
    host = world.host(calendars=[OFFICE])
    control.add(daily("hourly", cron="0 * * * *", calendar="office", on_closed=on_closed, catch_up="all"))
    told = control.down("hourly", down_from, up_at)
    while world.clock.wall() + HOUR // 2 < to_us(datetime.fromisoformat(down_from)):
        world.clock.advance(minutes=30)
        host.beat()
    before = {run["id"] for run in control.runs(job="hourly", limit=1000)}
    rows = len(host.skip_rows(host.ledger_id("hourly")))

    world.clock.set(up_at.replace("Z", "+00:00"))
    host.beat()

    began = [
        run["scheduled_for"] for run in control.runs(job="hourly", limit=1000) if run["id"] not in before
    ]
    assert [run["utc"] for run in told["runs"]] == sorted(began)
    skipped = [(row["reason"], row["slots"]) for row in host.skip_rows(host.ledger_id("hourly"))[rows:]]
    assert [(row["reason"], row["slots"]) for row in told["skipped"]] == skipped
    coming = control.show("hourly")["next_run_at"]
    assert told["next"] == coming


def test_an_edit_of_the_rule_keeps_the_calendar(control, daily):
    control.add(closed(daily, on_closed="move"))

    control.edit("backup", {"cron": "0 10 * * *"})
    flat = control.show("backup")["trigger"]
    control.edit("backup", {"trigger": {"every": "2h"}})
    whole = control.show("backup")["trigger"]

    assert (flat["calendar"]["name"], flat["on_closed"]) == ("office", "move")
    assert (whole["kind"], whole["calendar"]["name"], whole["on_closed"]) == ("every", "office", "move")


def test_an_edit_may_change_or_take_away_what_the_calendar_does(control, daily):
    control.add(closed(daily, on_closed="move"))

    moved = control.edit("backup", {"on_closed": "keep"})
    gone = control.edit("backup", {"calendar": None})

    assert moved["changed"]["trigger.on_closed"] == ["move", "keep"]
    assert gone["changed"]["trigger.calendar"][1] is None
    assert {"calendar", "on_closed"}.isdisjoint(control.show("backup")["trigger"])


def test_an_edit_that_leaves_the_trigger_alone_needs_no_calendar(world, control, daily):
    control.add(closed(daily))

    world.control().edit("backup", {"name": "Nightly"})  # a process that knows no calendar

    assert control.show("backup")["name"] == "Nightly"
    with pytest.raises(Refused, match="no calendar 'office'"):
        world.control().edit("backup", {"cron": "0 10 * * *"})


def test_what_a_source_declares_again_is_unchanged_until_its_calendar_is(world, control, daily):
    declared = {"backup": {"kind": "noop", "cron": "0 9 * * *", "calendar": "office"}}
    control.apply(declared, source="wiki")
    again = control.apply(declared, source="wiki")
    other = Toolbox(
        executors={"noop": ("test", noop())}, calendars={"office": Calendar("office", ("monday",))}
    )

    changed = world.control(toolbox=other).apply(declared, source="wiki")

    assert (again["unchanged"], again["changes"]) == (1, False)
    assert [sorted(edit["changed"]) for edit in changed["edits"]] == [["trigger.calendar"]]


def test_a_declared_job_whose_calendar_is_unknown_is_rejected_and_stays_as_it_was(world, control):
    declared = {"backup": {"kind": "noop", "cron": "0 9 * * *", "calendar": "office"}}
    control.apply(declared, source="wiki")

    told = world.control().apply(declared, source="wiki")

    assert [error["code"] for error in told["rejects"][0]["errors"]] == ["unknown_calendar"]
    assert control.show("backup")["state"] == "active"


@pytest.mark.parametrize("actor", [source("file"), Actor("anna", "person"), Actor("gpt", "model")])
def test_a_date_without_a_time_is_refused_from_people_files_and_models(world, tools, actor):
    with pytest.raises(Refused) as caught:
        world.control(actor=actor, toolbox=tools).add({"key": "a", "kind": "noop", "at": "2026-07-01"})

    assert (caught.value.code, caught.value.field) == ("bad_instant", "at")


def test_a_source_may_give_a_date_and_the_host_says_when(world, tools):
    wiki = world.control(actor=source("wiki"), toolbox=tools, day_time="08:15", timezone="Europe/Paris")

    told = wiki.apply({"page-1": {"kind": "noop", "at": "2026-07-01"}}, source="wiki")

    assert told["rejects"] == []
    assert wiki.show("page-1")["next_run_at"] == "2026-07-01T06:15:00.000Z"
    assert wiki.acting_as(Actor("anna", "person")).day_time == "08:15"


def test_a_dated_page_that_is_read_again_is_unchanged(world, tools):
    wiki = world.control(actor=source("wiki"), toolbox=tools)
    declared = {"page-1": {"kind": "noop", "at": "2026-07-01"}}
    wiki.apply(declared, source="wiki")

    assert wiki.apply(declared, source="wiki")["unchanged"] == 1


def test_doctor_names_a_calendar_that_no_live_host_declares(world, control, daily):
    world.host().beat()
    control.add(closed(daily))  # by a process that knows it

    told = [f for f in world.control().doctor() if f["check"] == "calendars"]

    assert [(f["level"], f["job"]) for f in told] == [("bad", "backup")]
    assert "no live host declares its calendar 'office'" in told[0]["what"]


def test_doctor_names_a_calendar_whose_dates_have_passed_once(world, control, daily):
    world.host(calendars=[OFFICE]).beat()
    for key in ("one", "other"):
        control.add(closed(daily, key=key))
    assert [f for f in control.doctor() if f["check"] == "calendars"] == []

    world.clock.set("2026-06-06T00:00:00+00:00")

    told = [f for f in control.doctor() if f["check"] == "calendars"]
    assert [(f["level"], f["what"]) for f in told] == [
        ("note", "the last date of its calendar 'office' was 2026-06-05")
    ]


def test_doctor_names_hosts_whose_calendars_differ(world, control):
    world.host(calendars=[OFFICE], name="a").beat()
    world.host(calendars=[Calendar("office", ("monday",))], name="b").beat()

    told = [f for f in control.doctor() if "differ" in f["what"]]

    assert [f["remedy"] for f in told] == ["declare one everywhere, and restart"]
    assert "hosts differ in calendars.office" in told[0]["what"]
