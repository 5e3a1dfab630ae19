"""Declarations that are read alike are read once, and nothing tells the difference (docs/decisions/0018)."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from schedcore._host.control import reading
from schedcore._host.control.alike import Readings
from schedcore._ledger import jobs
from schedcore.domain.errors import SchedcoreError
from schedcore.testing import StandingHost

FIRST: dict[str, Any] = {
    "key": "first",
    "kind": "noop",
    "cron": "0 9 * * *",
    "payload": {"a": 1},
    "labels": ["x"],
}
LATER: list[dict[str, Any]] = [
    {**FIRST, "key": "second"},
    {**FIRST, "key": "named", "name": "The named one"},
    {**FIRST, "key": "second", "payload": None},
    {**FIRST, "key": "second", "payload": {"deep": [{"b": "{{run_key}}"}], "c": 1.5}},
    {**FIRST, "key": "second", "payload": {"wrong": "{{DSH_SCHED_RUNKEY}}"}},
    {**FIRST, "key": "second", "payload": {"big": 2**70}},
    {**FIRST, "key": "second", "payload": {"\ud800": "x"}},
    {**FIRST, "key": "second", "payload": {"text": "\ud800"}},
    {**FIRST, "key": "second", "payload": "no table"},
    {**FIRST, "key": "second", "payload": {str(i): "x" * 999 for i in range(300)}},
    {**FIRST, "key": "not a key"},
    {**FIRST, "key": None},
    {**FIRST, "key": "second", "name": "two\nlines"},
    {**FIRST, "key": "second", "Name": "by alias", "name": "twice"},
    {**FIRST, "key": "second", "prompt": "goes into the payload"},
    {**FIRST, "key": "second", "cron": "61 9 * * *"},
    {**FIRST, "key": "second", "kind": "nobody"},
    {**FIRST, "key": "second", "strange": 1},
    {"key": "dated", "kind": "noop", "at": date(2026, 6, 3)},
    {"key": "dated-too", "kind": "noop", "at": "2026-06-03"},
    {"key": "now", "kind": "noop"},
    {"key": "now-too", "kind": "noop"},
    {"kind": "noop"},
]


def said(read: Any, data: dict[str, Any]) -> Any:
    try:
        order = read(data)
    except SchedcoreError as error:
        return error.as_dict()
    return order, order.digest()


@pytest.mark.parametrize("data", LATER, ids=range(len(LATER)))
def test_what_is_read_after_another_reads_as_it_does_alone(host: StandingHost, data: dict[str, Any]) -> None:
    now = host.clock.wall()
    with host.ledger.read() as c:
        known = reading.offer(host.control, c, now)
    many = Readings(host.control, now, known)
    many.order(FIRST, past_ok=False)
    many.order({**FIRST, "key": "named", "name": "another"}, past_ok=False)
    for before in LATER[-5:]:
        said(lambda one: many.order(one, past_ok=False), before)

    assert said(lambda one: many.order(one, past_ok=False), data) == said(
        lambda one: reading.read_order(host.control, one, now, known), data
    )


def test_what_is_written_of_many_is_what_each_says_alone(host: StandingHost) -> None:
    declared = {
        f"job-{i}": {**FIRST, "key": f"job-{i}", "payload": {"a": i}, "jitter": i % 2 * 30} for i in range(8)
    }
    del declared["job-7"]["payload"]
    host.control.apply(declared, source="many")

    for external_id, data in declared.items():
        host.control.apply({external_id: {**data, "key": f"alone-{external_id}"}}, source="alone")

    for external_id in declared:
        assert rows(host, external_id) == rows(host, f"alone-{external_id}")


def rows(host: StandingHost, key: str) -> Any:
    """What is written of a job, but for what is its own."""
    own = {"id", "uid", "key", "name", "source", "external_id", "declared", "job_id"}
    with host.ledger.read() as c:
        job = jobs.find(c, key)[0]
    if job["next_run_at"] % 60_000_000:
        own |= {"next_run_at"}  # jitter is a function of the job's id
    (told,) = host.control.history(key)
    assert told["changes"].keys() == {"key", "kind", "trigger", "policies", "payload", "toolset"}
    (definition,) = host.definitions(job["id"])
    assert definition["digest"] == told["digest_after"] == job["digest"]
    return [{n: v for n, v in row.items() if n not in own} for row in (job, definition)]
