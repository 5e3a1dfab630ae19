"""A trigger that names a calendar: how it is written, stored, refused, and a date without a time (F-15, T-04)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.domain.closed import NIGHT, NOW, WEEKEND, known, under
from tests.domain.moments import firings, utc

from schedcore.domain.calendar import Calendar, Calendars
from schedcore.domain.clock import DAY
from schedcore.domain.describe import describe, describe_closing
from schedcore.domain.errors import Refused
from schedcore.domain.job import JobOrder
from schedcore.domain.preview import preview
from schedcore.domain.trigger import Trigger

DAILY = {"cron": "0 9 * * *", "zone": "Europe/Paris"}


def refused(form: dict[str, Any], calendars: Calendars | None = None, **how: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        Trigger.parse(form, now_us=NOW, calendars=calendars, **how)
    return caught.value


def test_a_calendar_is_named_and_its_slots_are_dropped_unless_said_otherwise():
    trigger = Trigger.parse({**DAILY, "calendar": "office"}, now_us=NOW, calendars=known())

    assert (trigger.calendar, trigger.on_closed, trigger.drops) == (known().known["office"], "drop", True)


@pytest.mark.parametrize("calendars", [None, known()])
def test_a_calendar_that_nobody_declares_is_refused(calendars: Calendars | None):
    error = refused({**DAILY, "calendar": "ofice"}, calendars)

    assert (error.code, error.field, error.value) == ("unknown_calendar", "trigger.calendar", "ofice")
    if calendars is not None:
        assert error.hint == "did you mean 'office'?"


@pytest.mark.parametrize(
    ("more", "code", "field", "hint"),
    [
        ({"calendar": {"closed": ["sunday"]}}, "bad_type", "calendar", "named here"),
        ({"calendar": ["office"]}, "bad_type", "calendar", "named here"),
        ({"on_closed": "move"}, "not_taken", "on_closed", "add calendar = NAME"),
        (
            {"calendar": "office", "on_closed": "skip"},
            "unknown_value",
            "on_closed",
            "one of: drop, move, keep",
        ),
        ({"calendar": "office", "on_closed": "moved"}, "unknown_value", "on_closed", "did you mean 'move'?"),
        ({"calender": "office"}, "unknown_field", "calender", "did you mean 'calendar'?"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_write(more: dict[str, Any], code: str, field: str, hint: str):
    error = refused({**DAILY, **more}, known())

    assert (error.code, error.field) == (code, f"trigger.{field}")
    assert hint in (error.hint or "")


def test_a_definition_keeps_its_calendar_whole():
    trigger = under("move", [*WEEKEND, "12-25"], [NIGHT], cron="0 9 * * *")

    stored = trigger.to_dict()
    again = Trigger.from_dict(stored)

    assert stored["calendar"] == {
        "name": "office",
        "closed": ["sunday", "saturday", "12-25"],
        "quiet": [NIGHT],
    }
    assert stored["on_closed"] == "move"
    assert again == trigger
    assert firings(again, NOW, 50) == firings(trigger, NOW, 50)


def test_a_stored_calendar_that_cannot_be_read_is_refused():
    stored = under("drop", cron="0 9 * * *").to_dict()

    for calendar in ("office", {"name": "office", "closed": ["someday"]}, {"closed": ["sunday"]}, 7):
        with pytest.raises(Refused):
            Trigger.from_dict({**stored, "calendar": calendar})


@pytest.mark.parametrize(
    "form",
    [
        {"cron": "0 9 * * 6"},
        {"cron": "0 3 * * *"},
        {"at": "2026-06-06T10:00"},
        {"cron": "0 9 * * 5,6,0", "not_before": "2026-06-06T00:00", "not_after": "2026-06-07T23:00"},
        {"cron": "0 9 * * 6", "count": 3},
    ],
)
def test_a_trigger_of_which_the_calendar_leaves_nothing_is_refused(form: dict[str, Any]):
    error = refused({**form, "zone": "UTC", "calendar": "office"}, known(quiet=[NIGHT]))

    assert (error.code, error.field) == ("never_fires", "trigger.on_closed")
    assert "drops all its slots" in error.message
    assert "on_closed = 'move'" in (error.hint or "")


def test_a_count_that_is_used_up_by_dropped_slots_is_refused():
    weekend = {"cron": "0 9 * * *", "count": 2, "calendar": "office", "zone": "UTC"}
    friday_noon = utc("2026-06-05T12:00")

    with pytest.raises(Refused, match="drops all its slots"):
        Trigger.parse(weekend, now_us=friday_noon, calendars=known())
    assert Trigger.parse({**weekend, "count": 3}, now_us=friday_noon, calendars=known())


@pytest.mark.parametrize("on_closed", ["move", "keep"])
def test_what_is_moved_or_kept_always_fires(on_closed: str):
    assert under(on_closed, cron="0 9 * * 6").next(NOW) is not None


def test_dropped_slots_use_the_count_up():
    thrice = under("drop", cron="0 9 * * *", count=3)
    friday_noon = utc("2026-06-05T12:00Z")

    assert thrice.next_kept(friday_noon, 3) == utc("2026-06-08T07:00Z")
    assert thrice.next_kept(friday_noon, 2) is None
    assert [slot.us for slot in preview(thrice, friday_noon, 5, remaining=4)] == [
        utc("2026-06-08T07:00Z"),
        utc("2026-06-09T07:00Z"),
    ]


def test_two_triggers_have_the_same_times_only_under_one_calendar():
    plain = Trigger.parse(DAILY, now_us=NOW)
    drop, move = (under(word, cron="0 9 * * *", zone="Europe/Paris") for word in ("drop", "move"))
    other = under("drop", ["sunday"], cron="0 9 * * *", zone="Europe/Paris")

    assert drop.same_times(under("drop", cron="00 09 * * *", zone="Europe/Paris"))
    assert not any(drop.same_times(one) for one in (plain, move, other))
    assert plain.same_times(under("keep", cron="0 9 * * *", zone="Europe/Paris"))


def test_the_digest_of_an_order_has_the_name_of_its_calendar_and_not_its_days():
    def digest(calendars: Calendars, **more: Any) -> str:
        order = {"key": "a", "kind": "script", "calendar": "office", **DAILY, **more}
        return JobOrder.parse(order, now_us=NOW, calendars=calendars).digest()

    assert digest(known()) == digest(known(["sunday"], [NIGHT]))
    assert digest(known()) != digest(known(), on_closed="move")
    renamed = Calendars({"other": Calendar("other", WEEKEND)})
    assert digest(known()) != digest(renamed, calendar="other")


def test_a_calendar_may_stand_beside_the_trigger_or_in_it():
    flat = {"key": "a", "kind": "script", "cron": "0 9 * * *", "calendar": "office", "on_closed": "move"}
    nested = {
        "key": "a",
        "kind": "script",
        "trigger": {"cron": "0 9 * * *", "calendar": "office", "on_closed": "move"},
    }

    one, other = (JobOrder.parse(order, now_us=NOW, calendars=known()) for order in (flat, nested))

    assert one.trigger == other.trigger


def test_an_error_names_the_field_as_it_was_written():
    order = {"key": "a", "kind": "script", "cron": "0 9 * * *", "calendar": "ofice"}
    with pytest.raises(Refused) as caught:
        JobOrder.parse(order, now_us=NOW, calendars=known())

    assert caught.value.field == "calendar"


def test_a_relative_order_that_is_read_again_in_closed_time_is_still_the_same():
    order = {"key": "a", "kind": "script", "in": "30m", "calendar": "office"}
    friday, saturday = utc("2026-06-05T12:00"), utc("2026-06-06T12:00")

    first = JobOrder.parse(order, now_us=friday, calendars=known())
    again = JobOrder.parse(order, now_us=saturday, calendars=known(), past_ok=True)

    assert first.digest() == again.digest()
    with pytest.raises(Refused, match="never fires"):
        JobOrder.parse(order, now_us=saturday, calendars=known())


def test_a_trigger_without_a_calendar_and_bounds_is_asked_by_its_rule_alone():
    plain = Trigger.parse(DAILY, now_us=NOW)

    assert plain.line is plain.rule
    assert plain.kept is plain.rule
    assert not plain.drops


class Noons:
    """A plugin's rule that can only tell the next slot: noon in UTC, every day."""

    def next(self, after: int) -> int:
        return (after - DAY // 2) // DAY * DAY + DAY + DAY // 2


@pytest.mark.parametrize(
    ("on_closed", "kept"),
    [("drop", ["2026-06-05T12:00", "2026-06-08T12:00"]), ("move", ["2026-06-05T12:00", "2026-06-08T12:00"])],
)
def test_the_slots_of_a_plugins_trigger_are_judged_too(on_closed: str, kept: list[str]):
    form = {"noons": "x", "zone": "UTC", "calendar": "office", "on_closed": on_closed}
    trigger = Trigger.parse(form, now_us=NOW, calendars=known(), kinds={"noons": lambda text, zone: Noons()})
    thursday, monday = utc("2026-06-04T12:00"), utc("2026-06-08T23:00")

    assert firings(trigger.kept, thursday, 2) == [utc(slot) for slot in kept]
    assert trigger.kept.count_between(thursday, monday) == 2
    assert trigger.kept.newest(thursday, monday, 3) == [utc(slot) for slot in kept]
    assert trigger.count_between(thursday, monday) == (4 if on_closed == "drop" else 2)


# -- dates without a time -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "form", "calendars", "fires"),
    [
        ("a source gives dates", {}, Calendars(dated=True), "2026-05-03T07:00Z"),
        ("at the host's time", {}, Calendars(dated=True, day_time="08:15"), "2026-05-03T06:15Z"),
        ("the order says when", {"day_time": "18:30"}, Calendars(), "2026-05-03T16:30Z"),
        (
            "the order goes before the source",
            {"day_time": "18:30"},
            Calendars(dated=True),
            "2026-05-03T16:30Z",
        ),
        ("a calendar is a day rule", {"calendar": "office"}, known(["monday"]), "2026-05-03T07:00Z"),
        (
            "a calendar has a time of its own",
            {"calendar": "office"},
            known(["monday"], day_time="10:00"),
            "2026-05-03T08:00Z",
        ),
        (
            "the order goes before the calendar",
            {"calendar": "office", "day_time": "11:00"},
            known(["monday"], day_time="10:00"),
            "2026-05-03T09:00Z",
        ),
        (
            "on a closed day it is moved",
            {"calendar": "office", "on_closed": "move"},
            known(),
            "2026-05-04T07:00Z",
        ),
    ],
)
def test_a_date_without_a_time_fires_at_the_time_of_the_day_rule(
    what: str, form: dict[str, Any], calendars: Calendars, fires: str
):
    given = {"at": "2026-05-03", "zone": "Europe/Paris", **form}

    trigger = Trigger.parse(given, now_us=NOW, calendars=calendars)

    assert trigger.next(NOW) == utc(fires), what


def test_the_time_that_was_filled_in_stays_with_the_definition():
    trigger = Trigger.parse({"at": "2026-05-03"}, now_us=NOW, calendars=Calendars(dated=True))

    assert trigger.to_dict()["text"] == "2026-05-03T09:00"
    assert Trigger.from_dict(trigger.to_dict()) == trigger


def test_a_text_that_is_a_date_alone_is_one_too():
    assert Trigger.parse("2026-05-03", now_us=NOW, calendars=Calendars(dated=True)).next(NOW) == utc(
        "2026-05-03T09:00"
    )


def test_without_a_day_rule_a_date_alone_is_refused_with_both_ways_out():
    error = refused({"at": "2026-05-03"}, Calendars(day_time="08:00"))

    assert (error.code, error.field) == ("bad_instant", "trigger.at")
    assert error.hint == "write '2026-05-03T08:00', or give day_time = '08:00'"


@pytest.mark.parametrize(
    "form", [{"at": "2026-05-03T10:00"}, {"cron": "0 9 * * *"}, {"every": "2h"}, {"at": "2026-05-03T10:00Z"}]
)
def test_a_day_time_is_taken_by_a_date_alone_only(form: dict[str, str]):
    error = refused({**form, "day_time": "09:00"})

    assert (error.code, error.field) == ("not_taken", "trigger.day_time")


def test_a_day_time_that_is_none_is_refused():
    error = refused({"at": "2026-05-03", "day_time": "9"})

    assert (error.code, error.field) == ("bad_time", "trigger.day_time")


@pytest.mark.parametrize("bound", ["not_before", "not_after"])
def test_a_bound_is_an_instant_and_no_date(bound: str):
    error = refused({**DAILY, bound: "2026-05-03"}, Calendars(dated=True))

    assert (error.code, error.field) == ("bad_instant", f"trigger.{bound}")


# -- what people are told -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on_closed", "said"),
    [
        ("drop", "at 09:00 every day (Europe/Berlin); not in the closed time of calendar office"),
        ("move", "at 09:00 every day (Europe/Berlin); moved out of the closed time of calendar office"),
        ("keep", "at 09:00 every day (Europe/Berlin); in the closed time of calendar office too"),
    ],
)
def test_a_trigger_says_its_calendar_in_words(on_closed: str, said: str):
    assert describe(under(on_closed, cron="0 9 * * *")) == said


def test_a_preview_across_a_holiday_says_what_is_dropped_before_a_slot():
    friday, monday = preview(
        under("drop", [*WEEKEND, "2026-06-04"], cron="0 9 * * *"), utc("2026-06-03T12:00Z"), 2
    )

    assert friday.note == "before it: dropped, because 2026-06-04 is closed in calendar office"
    assert (
        monday.note == "before it: 2 slots dropped, the first because Saturday is closed in calendar office"
    )
    assert monday.dropped is not None
    assert monday.dropped.as_dict() == {
        "first": "2026-06-06T07:00:00.000Z",
        "first_local": "2026-06-06T09:00:00+02:00",
        "last": "2026-06-07T07:00:00.000Z",
        "last_local": "2026-06-07T09:00:00+02:00",
        "slots": 2,
        "reason": "calendar",
        "note": "2 slots dropped, the first because Saturday is closed in calendar office",
    }


def test_a_preview_across_a_holiday_says_from_where_a_slot_was_moved():
    (slot,) = preview(under("move", ["12-25"], cron="0 9 25 12 *"), NOW, 1)

    assert slot.as_dict() == {
        "utc": "2026-12-26T08:00:00.000Z",
        "local": "2026-12-26T09:00:00+01:00",
        "note": "moved from 2026-12-25T09:00:00+01:00, because 12-25 is closed in calendar office",
    }


def test_a_preview_tells_of_a_clock_change_and_of_a_calendar():
    trigger = under("drop", ["2026-03-28"], cron="30 2 * * *")
    (slot,) = preview(trigger, utc("2026-03-28T00:00Z"), 1)

    assert slot.note == (
        "02:30 does not exist on 2026-03-29; fires at once after the gap; "
        "before it: dropped, because 2026-03-28 is closed in calendar office"
    )


def test_a_preview_of_slots_that_are_kept_says_so():
    slot = preview(under("keep", ["2026-06-06"], cron="0 9 * * *"), utc("2026-06-05T12:00Z"), 1)[0]

    assert slot.note == "kept, although 2026-06-06 is closed in calendar office"


def test_what_is_moved_away_is_said_with_where_it_went():
    closing = under("move", ["2026-06-06"], cron="0 9 * * 6").closing(utc("2026-06-06T07:00Z"))
    assert closing is not None

    said = describe_closing(closing, "Europe/Berlin")

    assert said == "moved to 2026-06-07T09:00:00+02:00, because 2026-06-06 is closed in calendar office"
