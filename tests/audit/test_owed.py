"""What is owed and what was decided, on one job made by hand: windows, counts, backfills, and what is not known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.domain.moments import utc

from schedcore._audit.clock_of_ledger import NO_CLOCK, LedgerClock, Seen
from schedcore._audit.coming import comes
from schedcore._audit.decided import Decision, Job, Walk
from schedcore._audit.owed import Definition
from schedcore._audit.report import Notebook
from schedcore._audit.zone_clock import VERSION
from schedcore.domain.clock import MINUTE, text

NINE = utc("2026-06-01T09:00:00Z")
TRIGGER = {"kind": "cron", "text": "*/10 * * * *", "zone": "UTC"}
HOST = Seen(1, "h", "b", NINE - 60 * MINUTE, NINE + 60 * MINUTE, MINUTE, 120, 0, None)
CLOCK = LedgerClock(HOST.beat_at, HOST, (HOST,), False, 0, None)


def at(minutes: float) -> int:
    return NINE + round(minutes * MINUTE)


def definition(
    number: int, begins: float, ends: float | None, state: str = "active", **trigger: Any
) -> Definition:
    """``tz`` is the version of the zone data it was made with."""
    version = trigger.pop("tz", VERSION)
    stored = json.dumps({**TRIGGER, **trigger})
    return Definition(number, at(begins), None if ends is None else at(ends), state, stored, version)


def job(last: float | None, following: float | None, **more: Any) -> Job:
    last_slot, due = (None if m is None else at(m) for m in (last, following))
    return replace(Job(1, "j-1", "active", False, None, last_slot, NINE, due, None, 0), **more)


def run(minutes: float, number: int = 1, **more: Any) -> Decision:
    return replace(Decision("run", round(minutes), at(minutes), at(minutes), 1, number, at(minutes)), **more)


def row(first: float, last: float, slots: int, number: int = 1, reason: str = "late") -> Decision:
    return Decision("row", 900, at(first), at(last), slots, number, at(last), reason)


def judged(
    one: Job,
    definitions: Sequence[Definition],
    decisions: Sequence[Decision],
    clock: LedgerClock = NO_CLOCK,
    since: int | None = None,
) -> Notebook:
    note = Notebook()
    walk = Walk(one, definitions, note, since)
    walk.over(decisions)
    comes(walk, clock)
    return note


def found(note: Notebook) -> list[tuple[str, str | None]]:
    """Rules, with the minute of the slot."""
    return [(f.rule, None if f.slot is None else f"{(f.slot - NINE) / MINUTE:g}") for f in note.findings()]


def left(note: Notebook, rule: str) -> dict[str, int]:
    return dict(next(result.left for result in note.results() if result.rule == rule))


ONE = [definition(1, 0, None)]


def test_slots_one_after_another_are_all_decided() -> None:
    note = judged(job(50, 60), ONE, [run(10), row(20, 40, 3), run(50)])

    assert found(note) == []
    assert next(r.checked for r in note.results() if r.rule == "I2") == 6  # five slots, and what follows


def test_the_instant_at_which_a_trigger_is_new_is_no_slot() -> None:
    assert found(judged(job(10, 20), ONE, [run(10)])) == []
    assert ("I2", "0") in found(judged(job(10, 20), ONE, [run(0), run(10)]))


def test_a_definition_that_goes_on_owes_its_first_instant() -> None:
    paused = [definition(1, 0, 10), definition(2, 10, 35, "paused"), definition(3, 35, None)]

    assert found(judged(job(40, 50), paused, [row(10, 30, 3, 2, "paused"), run(40, 3)])) == []
    assert found(judged(job(40, 50), paused, [row(20, 30, 2, 2, "paused"), run(40, 3)])) == [("I2", "10")]


def test_another_trigger_begins_behind_the_instant_of_its_edit() -> None:
    edited = [definition(1, 0, 10), definition(2, 10, None, text="*/5 * * * *")]

    assert found(judged(job(15, 20), edited, [run(15, 2)])) == []


def test_missing_slots_are_counted_and_the_first_is_named() -> None:
    note = judged(job(50, 60), ONE, [run(10), run(50)])

    (finding,) = note.findings()
    assert (finding.rule, finding.slot) == ("I2", at(20))
    assert "3 slots" in finding.what
    assert f"up to {text(at(50) - 1)}" in finding.what


def test_slots_under_the_number_of_another_definition_are_found() -> None:
    both = [definition(1, 0, 25), definition(2, 25, None, text="*/5 * * * *")]

    assert found(judged(job(30, 35), both, [run(10), row(20, 30, 3, 2), ])) == [("I2", "20")]  # fmt: skip


def test_a_job_that_is_done_or_retired_owes_nothing() -> None:
    gone = [definition(1, 0, 15), definition(2, 15, 45, "retired"), definition(3, 45, None)]

    assert found(judged(job(50, 60), gone, [run(10), run(50, 3)])) == []


def backfill(minutes: float, number: int = 1, opened: float = 600) -> Decision:
    return replace(run(minutes, number), kind="backfill", at=at(opened))


def test_a_backfill_beside_a_skipped_row_decides_nothing() -> None:
    note = judged(job(40, 50), ONE, [row(10, 30, 3), backfill(20), run(40)])

    assert found(note) == []


def test_a_backfill_is_no_answer_for_a_slot_that_has_none() -> None:
    assert found(judged(job(30, 40), ONE, [run(10), backfill(20), run(30)])) == [("I2", "20")]


def test_a_backfill_is_of_a_slot_of_its_own_definition_whoever_owed_it() -> None:
    both = [definition(1, 0, 25), definition(2, 25, None, text="*/5 * * * *")]
    decided = [row(10, 20, 2), run(30, 2)]

    assert found(judged(job(30, 35), both, [*decided[:1], backfill(15, 2), *decided[1:]])) == []
    assert found(judged(job(30, 35), both, [*decided[:1], backfill(17, 2), *decided[1:]])) == [("I2", "17")]
    assert found(judged(job(30, 35), both, [backfill(-60, 2), *decided])) == []


def test_a_backfill_of_what_is_still_to_be_decided_is_found() -> None:
    assert found(judged(job(10, 20), ONE, [run(10), backfill(20)])) == [("I2", "20")]
    assert found(judged(job(None, 10), ONE, [backfill(10)])) == [("I2", "10")]


def test_a_backfill_from_before_the_decision_about_its_slot_is_found() -> None:
    assert found(judged(job(30, 40), ONE, [row(10, 30, 3), backfill(20, opened=25)])) == [("I1", "20")]


def test_a_count_ends_the_slots_and_what_is_left_follows() -> None:
    three = [definition(1, 0, None, count=3)]

    assert found(judged(job(20, 30, slots_left=1), three, [run(10), run(20)])) == []
    assert found(judged(job(20, 30, slots_left=2), three, [run(10), run(20)])) == [("I2", None)]
    spent = judged(job(40, None, slots_left=0), three, [run(10), row(20, 40, 3)])
    assert "whose count is used up" in spent.findings()[0].what


def test_a_count_goes_on_through_a_pause_and_not_through_another_trigger() -> None:
    paused = [
        definition(1, 0, 15, count=3),
        definition(2, 15, 35, "paused", count=3),
        definition(3, 35, None, count=3),
    ]
    decided = [run(10), row(20, 30, 2, 2, "paused")]

    assert found(judged(job(30, None, slots_left=0), paused, decided)) == []


def test_a_plugins_trigger_is_counted_as_not_checked_and_its_order_is_kept() -> None:
    tide = [definition(1, 0, None, kind="tide")]

    note = judged(job(33, 44), tide, [run(11), row(22, 33, 2), row(30, 33, 1)])

    assert found(note) == [("I3", "30")]
    why = "slots of a trigger 'tide' are its plugin's to enumerate"
    assert (left(note, "I2"), left(note, "I3"), left(note, "L1")) == ({why: 1}, {why: 2}, {why: 1})


def test_other_zone_data_make_no_finding_but_where_they_cannot_matter() -> None:
    berlin = [definition(1, 0, None, zone="Europe/Berlin", tz="1999z")]
    utc_too = [definition(1, 0, None, tz="1999z")]

    moved = judged(job(13, 20), berlin, [run(13)])
    assert found(moved) == []
    assert sum(left(moved, "I2").values()) == 2
    assert ("I2", "13") in found(judged(job(13, 20), utc_too, [run(13)]))


def test_what_lies_in_the_archive_is_not_missed() -> None:
    note = judged(job(40, 50, archived_through=at(25)), ONE, [run(30), run(40)])

    assert found(note) == []
    assert left(note, "I2") == {"a job's slots up to its archived_through are in the archive": 1}


@pytest.mark.parametrize(
    ("following", "late"), [(20, True), (58, False), (57, True)], ids=["an hour", "two beats", "three beats"]
)
def test_what_is_due_is_decided_within_two_beats(following: float, late: bool) -> None:
    each = [definition(1, 0, None, text="* * * * *")]
    decided = row(1, following - 1, round(following) - 1)

    note = judged(job(following - 1, following), each, [decided], CLOCK)

    assert found(note) == ([("L1", f"{following:g}")] if late else [])


@pytest.mark.parametrize(
    ("clock", "why"),
    [
        (replace(CLOCK, now=None), "no host lives that has beaten"),
        (replace(CLOCK, held=True), "a hold is open"),
        (replace(CLOCK, host=HOST._replace(order="drain")), "the host that beat last takes no more work"),
    ],
)
def test_where_nothing_can_be_decided_nothing_is_late(clock: LedgerClock, why: str) -> None:
    note = judged(job(10, 20), ONE, [run(10)], clock)

    assert found(note) == []
    assert left(note, "L1") == {why: 1}


@pytest.mark.parametrize(
    "clock",
    [
        replace(CLOCK, held_until=at(59)),
        replace(CLOCK, stepped_at=at(56)),
        replace(CLOCK, host=HOST._replace(started_at=at(59))),
    ],
    ids=["a hold was lifted", "the clock was stepped", "the host has come"],
)
def test_time_in_which_nothing_could_be_decided_does_not_count(clock: LedgerClock) -> None:
    assert found(judged(job(10, 20), ONE, [run(10)], clock)) == []
