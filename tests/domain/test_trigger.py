"""The value that unites the kinds: what is written, what is stored, and what limits the slots."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.domain.moments import firings, utc

from schedcore.domain.clock import DAY, HOUR, MINUTE, SECOND
from schedcore.domain.errors import PluginFault, Refused
from schedcore.domain.slots import SlotRule
from schedcore.domain.trigger import Trigger

NOW = utc("2026-06-15T12:00")


def trigger(data: Any, **more: Any) -> Trigger:
    return Trigger.parse(data, now_us=NOW, **more)


@pytest.mark.parametrize(
    ("data", "same_as"),
    [
        ({"interval": "30m"}, {"every": "30m"}),
        ({"once": "2026-11-01T09:00"}, {"at": "2026-11-01T09:00"}),
        ({"one-shot": "2026-11-01T09:00"}, {"at": "2026-11-01T09:00"}),
        ({"kind": "cron", "text": "0 9 * * *"}, {"cron": "0 9 * * *"}),
        ({"kind": "interval", "expression": "30m"}, {"every": "30m"}),
        ({"kind": "Once", "text": "2026-11-01T09:00"}, {"at": "2026-11-01T09:00"}),
        ({"CRON": "0 9 * * *", "TimeZone": "Europe/Berlin"}, {"cron": "0 9 * * *", "zone": "Europe/Berlin"}),
        ({"kind": "cron", "cron": "0 9 * * *"}, {"cron": "0 9 * * *"}),
        ({"text": "0 9 * * *"}, {"cron": "0 9 * * *"}),
        ("0 9 * * *", {"cron": "0 9 * * *"}),
        ("@daily", {"cron": "@daily"}),
        ("2026-11-01T09:00Z", {"at": "2026-11-01T09:00Z"}),
        ({"every": "30m", "interval": "30m"}, {"every": "30m"}),
        ({"cron": "0 9 * * *", "zone": None, "gap": None, "every": None}, {"cron": "0 9 * * *"}),
        ({"in": "30m"}, {"at": "2026-06-15T12:30:00.000Z"}),
    ],
)
def test_aliases_and_forms_mean_the_same(data: Any, same_as: Any):
    assert trigger(data) == trigger(same_as)


REFUSED = [
    ({}, "trigger", "no_trigger"),
    ({"zone": "UTC"}, "trigger", "no_trigger"),
    ([], "trigger", "no_trigger"),
    (None, "trigger", "no_trigger"),
    (5, "trigger", "no_trigger"),
    ({"text": 5}, "trigger.text", "no_trigger"),
    ("30m", "trigger", "bare_duration"),
    ({"text": "PT30M"}, "trigger.text", "bare_duration"),
    ({"crom": "0 9 * * *"}, "trigger.crom", "unknown_field"),
    ({"cron": "0 9 * * *", "colour": "red"}, "trigger.colour", "unknown_field"),
    ({"cron": "0 9 * * *", "every": "30m"}, "trigger", "two_kinds"),
    ({"cron": "0 9 * * *", "text": "30m"}, "trigger", "two_kinds"),
    ({"kind": "every", "cron": "0 9 * * *"}, "trigger", "two_kinds"),
    ({"every": "30m", "interval": "31m"}, "trigger.every", "given_twice"),
    ({"cron": "0 9 * * *", "zone": "UTC", "timezone": "Europe/Berlin"}, "trigger.zone", "given_twice"),
    ({"kind": "corn", "text": "0 9 * * *"}, "trigger.kind", "unknown_kind"),
    ({"kind": 5, "text": "0 9 * * *"}, "trigger.kind", "unknown_kind"),
    ({"cron": "60 9 * * *"}, "trigger.cron", "bad_cron"),
    ({"kind": "cron", "text": "60 9 * * *"}, "trigger.text", "bad_cron"),
    ({"cron": "0 0 30 2 *"}, "trigger.cron", "never_fires"),
    ({"cron": 5}, "trigger.cron", "bad_type"),
    ({"at": 5}, "trigger.at", "bad_type"),
    ({"every": 90}, "trigger.every", "bad_duration"),
    ({"every": "59s"}, "trigger.every", "bad_duration"),
    ({"in": "0s"}, "trigger.in", "bad_duration"),
    ({"at": "2026-11-01"}, "trigger.at", "bad_instant"),
    ({"at": "2026-06-15T11:58"}, "trigger.at", "in_the_past"),
    ({"cron": "0 9 * * *", "zone": "localtime"}, "trigger.zone", "unknown_zone"),
    ({"cron": "0 9 * * *", "zone": 5}, "trigger.zone", "unknown_zone"),
    ({"cron": "0 9 * * *", "gap": "skp"}, "trigger.gap", "bad_choice"),
    ({"cron": "0 9 * * *", "fold": 5}, "trigger.fold", "bad_choice"),
    ({"cron": "0 9 * * *", "gap": ["skip"]}, "trigger.gap", "bad_choice"),
    ({"cron": "*/5 * * * *", "gap": "skip"}, "trigger.gap", "not_fixed"),
    ({"cron": "*/5 * * * *", "gap": "at_once"}, "trigger.gap", "not_fixed"),
    ({"every": "30m", "fold": "both"}, "trigger.fold", "not_fixed"),
    ({"at": "2026-11-01T01:30", "fold": "second"}, "trigger.fold", "not_fixed"),
    ({"cron": "0 9 * * *", "anchor": "2026-01-01T00:00"}, "trigger.anchor", "not_taken"),
    ({"every": "30m", "anchor": "2026-01-01"}, "trigger.anchor", "bad_instant"),
    ({"cron": "0 9 * * *", "not_before": "tomorrow"}, "trigger.not_before", "bad_instant"),
    (
        {"cron": "0 9 * * *", "not_before": "2026-08-01T00:00", "not_after": "2026-07-01T00:00"},
        "trigger.not_after",
        "bad_bounds",
    ),
    (
        {"cron": "0 9 * * *", "not_before": "2026-07-01T10:00", "not_after": "2026-07-01T11:00"},
        "trigger",
        "never_fires",
    ),
    ({"at": "2026-11-01T09:00", "not_after": "2026-10-01T00:00"}, "trigger", "never_fires"),
    ({"at": "2026-11-01T09:00", "jitter": 5}, "trigger.jitter", "not_taken"),
    *(({"every": "30m", "jitter": bad}, "trigger.jitter", "bad_jitter") for bad in (-1, 181, 1.5, True, [])),
    ({"every": "30m", "jitter": "181s"}, "trigger.jitter", "bad_duration"),
    ({"every": "30m", "jitter": "5"}, "trigger.jitter", "bad_duration"),
    *(
        ({"every": "30m", "count": bad}, "trigger.count", "bad_count")
        for bad in (0, -1, 1_000_001, True, "3", 1.5)
    ),
]


@pytest.mark.parametrize(("data", "field", "code"), REFUSED, ids=[f"{str(d)[:50]}" for d, *_ in REFUSED])
def test_what_cannot_be_meant_is_refused_at_its_field(data: Any, field: str, code: str):
    with pytest.raises(Refused) as refused:
        trigger(data)

    assert (refused.value.field, refused.value.code) == (field, code)
    assert refused.value.as_dict()["message"]


def test_a_typing_error_gets_the_nearest_name():
    with pytest.raises(Refused, match="'not_before'"):
        trigger({"every": "30m", "not_befor": "2026-08-01T00:00"})
    with pytest.raises(Refused, match="'cron'"):
        trigger({"kind": "corn", "text": "0 9 * * *"})


def test_the_path_begins_where_the_caller_says():
    with pytest.raises(Refused) as refused:
        trigger({"cron": "0 9 * * *", "gap": "skp"}, field="jobs.3.trigger")

    assert refused.value.field == "jobs.3.trigger.gap"


def test_a_trigger_without_a_zone_takes_that_of_the_host_and_keeps_it():
    taken = trigger({"cron": "0 9 * * *"}, default_zone="Asia/Tokyo")

    assert taken.zone == "Asia/Tokyo"
    assert Trigger.from_dict(taken.to_dict()).next(NOW) == utc("2026-06-16T00:00")


STORED = [
    ({"cron": "0 9 * * 1-5"}, {"kind": "cron", "text": "0 9 * * 1-5", "zone": "UTC"}),
    (
        {
            "cron": "30 2 * * *",
            "zone": "Europe/Berlin",
            "gap": "skip",
            "fold": "both",
            "count": 3,
            "jitter": "90s",
        },
        {
            "kind": "cron",
            "text": "30 2 * * *",
            "zone": "Europe/Berlin",
            "gap": "skip",
            "fold": "both",
            "count": 3,
            "jitter": 90,
        },
    ),
    (
        {"cron": "30 2 * * *", "gap": "at_once", "jitter": 0},
        {"kind": "cron", "text": "30 2 * * *", "zone": "UTC"},
    ),
    ({"every": "30m"}, {"kind": "every", "text": "30m", "zone": "UTC", "anchor": "2026-06-15T12:00:00.000Z"}),
    (
        {"every": "30m", "anchor": "2026-06-15T00:10", "zone": "Asia/Tokyo"},
        {
            "kind": "every",
            "text": "30m",
            "zone": "Asia/Tokyo",
            "anchor": "2026-06-14T15:10:00.000Z",
            "anchor_given": True,
        },
    ),
    (
        {"at": "2026-11-01T01:30", "zone": "America/New_York"},
        {"kind": "at", "text": "2026-11-01T01:30", "zone": "America/New_York"},
    ),
    (
        {"cron": "0 9 * * *", "not_before": "2026-07-01T00:00", "not_after": "2026-08-01T00:00+02:00"},
        {
            "kind": "cron",
            "text": "0 9 * * *",
            "zone": "UTC",
            "not_before": "2026-07-01T00:00:00.000Z",
            "not_after": "2026-07-31T22:00:00.000Z",
        },
    ),
]


@pytest.mark.parametrize(("data", "stored"), STORED, ids=[str(d)[:40] for d, _ in STORED])
def test_the_stored_form_is_complete_and_comes_back(data: Any, stored: dict[str, Any]):
    made = trigger(data)

    assert made.to_dict() == stored
    back = Trigger.from_dict(json.loads(json.dumps(made.to_dict())))
    assert back == made
    assert firings(back, NOW, 3) == firings(made, NOW, 3)


def test_what_is_stored_does_not_depend_on_the_host():
    stored = trigger({"every": "5s"}, floor_s=1, default_zone="Asia/Tokyo").to_dict()

    assert Trigger.from_dict(stored).next(NOW) == NOW + 5 * SECOND


@pytest.mark.parametrize(
    "stored", [{}, {"kind": "cron"}, {"kind": "cron", "text": None}, {"kind": "in", "text": "5m"}]
)
def test_a_stored_form_that_cannot_be_read_is_refused(stored: dict[str, Any]):
    with pytest.raises(Refused):
        Trigger.from_dict(stored)


def test_bounds_are_both_inclusive():
    bounded = trigger(
        {"cron": "0 9 * * *", "not_before": "2026-07-01T09:00", "not_after": "2026-07-03T09:00"}
    )
    slots = [utc(f"2026-07-0{day}T09:00") for day in (1, 2, 3)]

    assert firings(bounded, NOW, 9) == slots
    assert bounded.count_between(NOW, utc("2027-01-01")) == 3
    assert bounded.newest(NOW, utc("2027-01-01"), 2) == slots[1:]
    assert bounded.newest(NOW, slots[1] - 1, 5) == slots[:1]
    assert bounded.next(slots[-1]) is None
    assert not bounded.is_slot(utc("2026-07-04T09:00"))


def test_a_naive_bound_is_a_wall_clock_of_the_jobs_zone():
    bounded = trigger({"cron": "0 9 * * *", "zone": "Asia/Tokyo", "not_before": "2026-07-01T09:00"})

    assert bounded.next(NOW) == utc("2026-07-01T00:00")


def test_a_count_is_what_remains_of_it():
    counted = trigger({"every": "30m", "count": 3})

    assert [counted.remaining(opened) for opened in (0, 2, 3, 4)] == [3, 1, 0, 0]
    assert trigger({"every": "30m"}).remaining(5) is None


def test_only_slots_are_slots():
    daily = trigger({"cron": "0 9 * * *"})

    assert daily.is_slot(utc("2026-06-16T09:00"))
    assert not daily.is_slot(utc("2026-06-16T09:00") + 1)
    assert not daily.is_slot(utc("2026-06-16T09:01"))


def test_the_first_slot_after_creation_is_later_than_it():
    assert trigger({"cron": "0 12 * * *"}).first_after_creation(NOW) == NOW + DAY
    assert trigger({"every": "1h"}).first_after_creation(NOW) == NOW + HOUR


def test_jitter_is_a_function_of_job_and_slot():
    jittered = trigger({"cron": "0 9 * * *", "jitter": 180})
    slot = utc("2026-06-16T09:00")

    offset = jittered.jitter_of("job-1", slot)

    assert 0 <= offset < 180 * SECOND
    assert Trigger.from_dict(jittered.to_dict()).jitter_of("job-1", slot) == offset
    assert jittered.jitter_of("job-2", slot) != offset
    assert jittered.jitter_of("job-1", slot + DAY) != offset


def test_jitter_does_not_change_from_release_to_release():
    jittered = trigger({"cron": "0 9 * * *", "jitter": 180})

    assert jittered.jitter_of("job-1", utc("2026-06-16T09:00")) == 172_205_487


def test_jitter_of_zero_is_exactly_zero():
    assert {trigger({"every": "1m"}).jitter_of("job-1", NOW + n * MINUTE) for n in range(50)} == {0}


def test_jitter_stays_before_the_next_slot():
    jittered = trigger({"every": "1m", "jitter": 180})
    offsets = [jittered.jitter_of(f"job-{n}", NOW + MINUTE) for n in range(300)]

    assert all(0 <= offset < MINUTE for offset in offsets)
    assert max(offsets) > 50 * SECOND


def test_the_same_times_are_known_however_written():
    cron = trigger({"cron": "0 9 * * 1-5"})

    assert cron.same_times(trigger({"cron": "00 09 * * MON-FRI", "jitter": 60}))
    assert not cron.same_times(trigger({"cron": "0 9 * * 1-5", "count": 3}))
    assert not cron.same_times(trigger({"cron": "0 9 * * 1-5", "not_after": "2030-01-01T00:00"}))
    assert not cron.same_times(trigger({"every": "1d"}))


class Tides:
    """A plugin's rule that can only tell the next slot."""

    def __init__(self, hours: int = 6) -> None:
        self.hours = hours

    def next(self, after_us: int) -> int | None:
        step = self.hours * HOUR
        slot = (after_us // step + 1) * step
        return slot if slot < utc("2026-07-01") else None


def tides(text: str, zone: str) -> Tides:
    return Tides(int(text))


def test_a_plugins_kind_is_one_more_kind():
    tide = trigger({"tide": "6", "zone": "Europe/Lisbon", "jitter": 5}, kinds={"tide": tides})

    assert isinstance(tide.rule, SlotRule)
    assert tide.kind == "tide"
    assert tide.next(NOW) == utc("2026-06-15T18:00")
    assert tide.count_between(NOW, utc("2026-06-17T12:00")) == 8
    assert tide.newest(NOW, utc("2026-08-01"), 2) == [utc("2026-06-30T12:00"), utc("2026-06-30T18:00")]
    assert tide.next(utc("2026-07-01")) is None
    assert tide.touched(NOW) is None
    assert Trigger.from_dict(tide.to_dict(), kinds={"tide": tides}) == tide
    assert tide.same_times(trigger({"tide": "6", "zone": "Europe/Lisbon"}, kinds={"tide": tides}))


def test_a_kind_of_a_plugin_that_is_not_there_is_named():
    with pytest.raises(Refused) as refused:
        Trigger.from_dict({"kind": "tide", "text": "6", "zone": "UTC"})

    assert refused.value.code == "unknown_kind"
    assert "tide" in str(refused.value)


def test_a_plugins_own_refusal_gets_the_path_and_any_other_error_its_name():
    def refuses(text: str, zone: str) -> Tides:
        raise Refused("no such sea")

    with pytest.raises(Refused, match=r"trigger\.tide: no such sea"):
        trigger({"tide": "6"}, kinds={"tide": refuses})
    with pytest.raises(PluginFault, match="'tide' failed: ValueError"):
        trigger({"tide": "six"}, kinds={"tide": tides})
    with pytest.raises(PluginFault, match="no next"):
        trigger({"tide": "6"}, kinds={"tide": lambda text, zone: object()})


@pytest.mark.parametrize("answer", [5, 0, "soon", 1.5, True, 10**15 + 1, -1])
def test_a_rule_that_does_not_rise_is_a_fault_of_its_plugin(answer: object):
    class Stuck:
        def next(self, after_us: int) -> object:
            return answer

    stuck = trigger({"tide": "6"}, kinds={"tide": lambda text, zone: Stuck()})

    with pytest.raises(PluginFault, match="'tide'"):
        stuck.next(5)


def test_a_walk_is_bounded():
    class Ticks:
        def next(self, after_us: int) -> int:
            return after_us // 1000 * 1000 + 1000

    ticks = trigger({"tide": "6"}, kinds={"tide": lambda text, zone: Ticks()})

    with pytest.raises(PluginFault, match="1000000 slots"):
        ticks.count_between(0, DAY)


def test_a_plugins_own_count_is_used():
    class Counted(Tides):
        def count_between(self, after_us: int, until_us: int) -> int:
            return 41

    counted = trigger({"tide": "6"}, kinds={"tide": lambda text, zone: Counted()})

    assert counted.count_between(0, DAY) == 41


TRIGGERS = st.sampled_from(
    [
        trigger({"cron": "*/5 * * * *", "zone": "America/New_York"}),
        trigger({"cron": "30 2 * * *", "zone": "Europe/Berlin", "gap": "shift", "fold": "both"}),
        trigger({"cron": "0 9 * * 1-5", "not_before": "2026-07-01T09:00", "not_after": "2026-09-03T09:00"}),
        trigger({"every": "7m", "not_after": "2026-06-16T00:00"}),
        trigger({"every": "90m", "anchor": "2026-06-20T00:00"}),
        trigger({"at": "2026-06-17T09:00"}),
    ]
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TRIGGERS, st.integers(-3 * DAY, 120 * DAY), st.integers(0, 4 * DAY), st.integers(0, 9))
def test_a_trigger_is_one_rising_line_of_slots(made: Trigger, shift: int, length: int, n: int):
    after = NOW + shift
    until = after + length
    walked = [slot for slot in firings(made, after, 1_200) if slot <= until]

    assert walked == sorted(set(walked))
    assert made.count_between(after, until) == len(walked)
    assert made.newest(after, until, n) == walked[max(len(walked) - n, 0) :][:n]
    assert all(made.is_slot(slot) for slot in walked[:5])
