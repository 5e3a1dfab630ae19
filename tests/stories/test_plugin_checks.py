"""A job's assertion may be a check that a plugin offers (A-01): what it does not vouch for is never green."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from schedcore.domain.errors import Refused
from schedcore.spec import Check
from schedcore.testing import ManualClock, StandingHost
from schedcore.testing.plays import Player
from tests.stories.conftest import Stage


def _host(stage: Stage, *checks: Check) -> tuple[StandingHost, Player]:
    player = Player()
    return stage(player.plays(), toolbox={"checks": tuple(("proofs", check) for check in checks)}), player


def _run(host: StandingHost, clock: ManualClock, **fields: Any) -> dict[str, Any]:
    job = host.add("report", every="60s", **fields)
    clock.advance(60)
    host.beat()
    (run,) = host.runs(job)
    return run


@pytest.mark.parametrize(
    ("answer", "word", "code", "said"),
    [(None, "succeeded", 0, None), ("2 rows, 3 were asked for", "failed", 1, "2 rows, 3 were asked for")],
)
def test_the_check_decides_whether_the_work_was_done(
    stage: Stage,
    clock: ManualClock,
    answer: str | None,
    word: str,
    code: int,
    said: str,
) -> None:
    asked: list[tuple[str, Any]] = []

    def judge(context: Any, options: Any) -> str | None:
        asked.append((context.run_key, dict(options)))
        return answer

    host, _ = _host(stage, Check("rows", judge=judge))

    run = _run(host, clock, **{"assert": {"check": "rows", "options": {"least": 3}}})

    assert (run["word"], run["assert_exit"], run["assert_output"]) == (word, code, said)
    assert [options for _, options in asked] == [{"least": 3}]
    assert run["reason"] == (None if answer is None else "assertion")


def test_a_check_that_raises_has_not_vouched(stage: Stage, clock: ManualClock) -> None:
    def judge(context: Any, options: Any) -> str | None:
        raise ConnectionError("the database is away")

    host, _ = _host(stage, Check("rows", judge=judge))

    run = _run(host, clock, **{"assert": {"check": "rows"}})

    assert (run["word"], run["reason"]) == ("failed", "assertion")
    assert run["assert_output"] == "ConnectionError: the database is away"


def test_a_check_that_outlasts_its_limit_has_not_vouched(stage: Stage, clock: ManualClock) -> None:
    hold = threading.Event()
    host, _ = _host(stage, Check("rows", judge=lambda context, options: str(hold.wait(30))))

    run = _run(host, clock, **{"assert": {"check": "rows", "timeout": "1s"}})
    hold.set()

    assert (run["word"], run["reason"], run["assert_exit"]) == ("failed", "assertion", None)
    assert "ran into its limit" in run["text"]


def test_work_whose_check_nobody_offers_is_not_begun(stage: Stage, clock: ManualClock) -> None:
    host, player = _host(stage)

    run = _run(host, clock, **{"assert": {"check": "rows"}})

    assert (run["word"], run["reason"]) == ("blocked", "gate")
    assert player.seen == []


def test_a_check_that_nobody_offers_is_refused_with_the_nearest_name(
    stage: Stage, clock: ManualClock
) -> None:
    host, _ = _host(stage, Check("rows", judge=lambda context, options: None))
    order = {"key": "report", "kind": "noop", "payload": {}, "every": "60s", "assert": {"check": "row"}}

    with pytest.raises(Refused, match="no plugin here offers the check 'row'") as refused:
        host.control.add(order)

    assert (refused.value.code, refused.value.field) == ("unknown_check", "assert.check")
    assert "'rows'" in (refused.value.hint or "")


def test_a_check_of_the_host_alone_judges_no_work(stage: Stage, clock: ManualClock) -> None:
    host, _ = _host(stage, Check("disk", list))
    order = {"key": "report", "kind": "noop", "payload": {}, "every": "60s", "assert": {"check": "disk"}}

    with pytest.raises(Refused) as refused:
        host.control.add(order)

    assert refused.value.code == "unknown_check"
