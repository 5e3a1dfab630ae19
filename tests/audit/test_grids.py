"""The auditor's own enumeration: against the corpus, against brute force, and against the core it does not ask."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.domain import oracle
from tests.domain.moments import utc
from tests.domain.test_oracle import ZONES

from schedcore._audit.grids import Grid
from schedcore._audit.stored import Stored, read_trigger
from schedcore.domain.clock import DAY, MINUTE, SECOND
from schedcore.domain.trigger import Trigger

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "domain/cron_cases.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
CENTURY = 100 * 366 * DAY
GAPS, FOLDS = ("at_once", "shift", "skip"), ("first", "second", "both")


def grid(**trigger: Any) -> Grid:
    found = stored(**trigger).grid
    assert found is not None, trigger
    return found


def stored(**trigger: Any) -> Stored:
    return read_trigger(json.dumps(trigger))


def following(found: Grid, after: int, n: int) -> list[int]:
    """The next slots, one by one."""
    slots = []
    for _ in range(n):
        slot = found.next(after, after + CENTURY)
        if slot is None:
            break
        slots.append(slot)
        after = slot
    return slots


@pytest.mark.parametrize("case", [c for c in CASES if "error" not in c], ids=lambda c: c["id"])
def test_a_case_of_the_corpus_fires_as_written(case: dict[str, Any]) -> None:
    found = grid(kind="cron", text=case["expr"], zone=case["tz"])
    slots = [utc(one) for one in case["next"]]

    assert following(found, utc(case["after"]), 5) == slots
    assert found.count(utc(case["after"]), slots[-1]) == 5
    assert found.count(slots[0], slots[-1] - 1) == 3


@pytest.mark.parametrize(
    "case", [c for c in CASES if "error" in c and "never" not in c["why"]], ids=lambda c: c["id"]
)
def test_what_the_grammar_refuses_is_not_read(case: dict[str, Any]) -> None:
    assert stored(kind="cron", text=case["expr"], zone=case["tz"]).grid is None


@pytest.mark.parametrize("chunk", range(6))
def test_around_clock_changes_the_slots_are_those_of_the_oracle(chunk: int) -> None:
    rnd = random.Random(chunk)
    for key, first, last in ZONES[chunk::6]:
        change = rnd.choice(oracle.changes(key, first, last) or [29_700_000])
        window = oracle.Window(key, change - 3600, 3600 + 4320)
        inside = range(window.start + window.MARGIN, window.end - window.MARGIN)
        for text in oracle.expressions(rnd, 60):
            expression = oracle.Expression(text)
            choices = {} if expression.wild else {"gap": rnd.choice(GAPS), "fold": rnd.choice(FOLDS)}

            found = grid(kind="cron", text=text, zone=key, **choices)
            slots, at, end = [], inside.start * MINUTE - 1, (inside.stop - 1) * MINUTE
            while (slot := found.next(at, end)) is not None:
                slots.append(slot)
                at = slot

            wanted = [n * MINUTE for n in window.firings(expression, **choices) if n in inside]
            assert slots == wanted, (key, text, choices)


@pytest.mark.parametrize("seed", range(4))
def test_over_years_the_slots_are_those_of_the_core(seed: int) -> None:
    rnd = random.Random(seed)
    for text in oracle.expressions(rnd, 40):
        trigger = {"kind": "cron", "text": text, "zone": rnd.choice(ZONES)[0]}
        after = utc("2020-01-01T00:00:00Z") + rnd.randrange(3 * 365) * DAY + rnd.randrange(DAY)
        core, found = Trigger.from_dict(trigger), grid(**trigger)

        until = after + 400 * DAY
        assert found.count(after, until) == core.count_between(after, until), trigger
        mine = following(found, after, 20)
        assert mine == _of_core(core, after, 20), trigger


def _of_core(core: Trigger, after: int, n: int) -> list[int]:
    slots: list[int] = []
    while len(slots) < n and (slot := core.next(after)) is not None:
        slots.append(slot)
        after = slot
    return slots


@pytest.mark.parametrize("text", ["90s", "30m", "1h30m", "PT1H30M", "1d", "P1D", "1w", "P2W", "PT36H"])
@pytest.mark.parametrize("given", [True, False])
def test_an_interval_has_the_slots_of_the_core(text: str, given: bool) -> None:
    anchor = "2026-03-08T06:30:00.250Z"
    trigger: dict[str, Any] = {"kind": "every", "text": text, "zone": "America/New_York", "anchor": anchor}
    if given:
        trigger["anchor_given"] = True
    core, found = Trigger.from_dict(trigger), grid(**trigger)
    at = utc("2026-03-08T06:30:00.250Z")

    for after in (at - DAY, at - 1, at, at + 1, at + 400 * DAY):
        assert following(found, after, 3) == _of_core(core, after, 3)
        assert found.count(after, after + 30 * DAY) == core.count_between(after, after + 30 * DAY)


@pytest.mark.parametrize(
    ("text", "zone", "at"),
    [
        ("2026-11-01T01:30:00-05:00", "America/New_York", "2026-11-01T06:30:00Z"),
        ("2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00Z"),
        ("2026-03-08T02:30", "America/New_York", "2026-03-08T07:00:00Z"),
        ("2026-03-08T02:30:05.125", "UTC", "2026-03-08T02:30:05.125Z"),
        ("2026-07-01T09:00Z", "Asia/Tokyo", "2026-07-01T09:00:00Z"),
    ],
)
def test_a_one_shot_is_the_first_instant_that_reaches_it(text: str, zone: str, at: str) -> None:
    found = grid(kind="at", text=text, zone=zone)

    assert following(found, 0, 2) == [utc(at)]
    assert (found.count(utc(at) - 1, utc(at)), found.count(utc(at), utc(at) + DAY)) == (1, 0)


def test_bounds_cut_a_trigger_at_both_ends_inclusive() -> None:
    bounds = {"not_before": "2026-06-01T09:00:00.000Z", "not_after": "2026-06-01T09:30:00.000Z"}
    found = grid(kind="cron", text="*/15 * * * *", zone="UTC", **bounds)
    nine = utc("2026-06-01T09:00:00Z")

    assert following(found, 0, 9) == [nine, nine + 15 * MINUTE, nine + 30 * MINUTE]
    assert found.count(0, nine + DAY) == 3


def test_jitter_is_the_same_hash_of_job_and_slot_as_the_core_has() -> None:
    trigger = {"kind": "cron", "text": "* * * * *", "zone": "UTC", "jitter": 180}
    core, mine = Trigger.from_dict(trigger), stored(**trigger)
    slot = utc("2026-06-01T09:00:00Z")

    offsets = [mine.put_off("j-1", slot + n * MINUTE, slot + (n + 1) * MINUTE) for n in range(50)]

    assert offsets == [core.jitter_of("j-1", slot + n * MINUTE) for n in range(50)]
    assert len(set(offsets)) > 40
    assert max(offsets) < 60 * SECOND


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "its trigger cannot be read"),
        ("[]", "its trigger cannot be read"),
        ("null", "it has no trigger"),
        (
            '{"kind": "tide", "text": "x", "zone": "UTC"}',
            "slots of a trigger 'tide' are its plugin's to enumerate",
        ),
        ('{"kind": "after", "text": "x"}', "slots of a trigger 'after' are its plugin's to enumerate"),
        ('{"kind": "cron", "text": "0 9 * *", "zone": "UTC"}', "its trigger cannot be read"),
        ('{"kind": "cron", "text": "0 9 * * *", "zone": "Mars/Base"}', "its trigger cannot be read"),
        ('{"kind": "cron", "text": "0 9 * * *", "zone": "../UTC"}', "its trigger cannot be read"),
        ('{"kind": "cron", "text": 9, "zone": "UTC"}', "its trigger cannot be read"),
        ('{"kind": "every", "text": "1M", "zone": "UTC", "anchor": "x"}', "its trigger cannot be read"),
        ('{"kind": "at", "text": "soon", "zone": "UTC"}', "its trigger cannot be read"),
        (
            '{"kind": "cron", "text": "0 9 * * *", "zone": "UTC", "orbit": 1}',
            "its trigger has a field that is not known here: 'orbit'",
        ),
    ],
)
def test_what_is_not_understood_is_said_and_never_guessed(text: str, why: str) -> None:
    assert read_trigger(text) == Stored(None, why)
