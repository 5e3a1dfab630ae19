"""For any history, the slots of each definition are its runs and what its skipped rows count (P-01, I1 to I3)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedcore.domain.errors import Conflict
from schedcore.domain.trigger import Trigger
from schedcore.spec import failed
from schedcore.testing import ManualClock, StandingHost
from tests.stories.conftest import Stage

TRIGGERS = [{"cron": "*/7 * * * *"}, {"cron": "3,33 8-20/2 * * *"}, {"every": "11m"}, {"every": "90s"}]
ORDERS = ["pause", "resume", "edit", "run", "finish", "fail", "die", "name", "back"]

histories = st.lists(
    st.tuples(st.integers(1, 9_000), st.sampled_from(["beat", "poll", *ORDERS]), st.sampled_from(TRIGGERS)),
    min_size=3,
    max_size=14,
)
policies = st.fixed_dictionaries(
    {
        "catch_up": st.sampled_from(["run_once", "skip", "all"]),
        "overlap": st.sampled_from(["skip", "queue_one", "replace", "parallel"]),
        "late_limit": st.sampled_from([0, 600, 3_600]),
        "on_full": st.sampled_from(["wait", "skip"]),
        "attempts": st.integers(1, 2),
        "breaker": st.sampled_from([0, 1]),
    }
)
numbers = count()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Failures and late starts are meant here."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(history=histories, first=st.sampled_from(TRIGGERS), more=policies, jitter=st.sampled_from([0, 0, 90]))
def test_every_slot_of_every_definition_is_decided_once(
    stage: Stage, clock: ManualClock, history: Any, first: Any, more: Any, jitter: int
) -> None:
    host = stage(hold=True, workers=2, name=f"host-{next(numbers)}")
    key = f"job-{next(numbers)}"
    job = host.add(key, **first, **more, jitter=jitter)

    for seconds, deed, trigger in history:
        clock.advance(seconds)
        host = act(stage, host, key, deed, trigger)
    host.beat()

    check(host, job)
    host.control.remove(key)
    host.stop()


def act(stage: Stage, host: StandingHost, key: str, deed: str, trigger: Any) -> StandingHost:
    """One line of a history; an order that is refused is an ordinary answer."""
    try:
        if deed == "beat":
            host.beat()
        elif deed == "poll":
            host.poll()
        elif deed == "edit":
            host.control.edit(key, {"cron": None, "every": None, **trigger})
        elif deed == "name":
            host.control.edit(key, {"name": f"{key} anew"})
        elif deed in {"pause", "resume", "run"}:
            getattr(host.control, deed)(key)
        elif deed in {"finish", "fail"}:
            for run_id in list(host.held):
                host.finish(run_id, failed("exit_code", exit_code=1) if deed == "fail" else None)
            host.poll()
        elif deed == "back":
            host.clock.step(-900)
        elif deed == "die":
            host.die()
            return stage(hold=True, workers=2, name=f"host-{next(numbers)}")
    except Conflict:
        pass
    return host


def check(host: StandingHost, job: int) -> None:
    """Every slot of every definition up to ``last_slot`` has one decision, and nothing else has."""
    row = host.job(job)
    runs = [run for run in host.runs(job) if run["trigger_word"] == "schedule"]
    skips = host.skip_rows(job)
    last = row["last_slot"] if row["last_slot"] is not None else -1
    for held in host.definitions(job):
        trigger = Trigger.from_dict(orjson.loads(held["trigger"]))
        until = last if held["valid_to"] is None else min(last, held["valid_to"] - 1)
        mine = [run["scheduled_for"] for run in runs if run["definition"] == held["number"]]
        ranges = [s for s in skips if s["definition"] == held["number"]]
        owed = slots(trigger, held["valid_from"], until)
        decided = sorted(mine + [slot for s in ranges for slot in slots(trigger, s["first_slot"], s["last_slot"])
                                 if slot not in mine])  # fmt: skip
        assert decided == owed
        assert len(mine) + sum(s["slots"] for s in ranges) == len(owed)
    firsts = sorted((s["first_slot"], s["last_slot"]) for s in skips)
    assert all(a[1] < b[0] for a, b in pairwise(firsts))
    opened = {run["id"]: run for run in runs}
    for s in skips:
        if s["reason"] == "coalesced" and s["run_id"] is not None:
            assert opened[s["run_id"]]["scheduled_for"] > s["last_slot"]


def slots(trigger: Trigger, first: int, last: int) -> list[int]:
    """The slots in [first, last], one by one."""
    found = []
    at = first - 1
    while (slot := trigger.next(at)) is not None and slot <= last:
        found.append(slot)
        at = slot
    return found
