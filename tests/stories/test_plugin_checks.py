"""A job's assertion may be a check that a plugin offers (A-01): what it does not vouch for is never green."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from schedcore.domain.errors import Refused
from schedcore.spec import Check, CheckContext, ok
from schedcore.testing import ManualClock, StandingHost
from schedcore.testing.plays import Player
from tests.outside.installing import HERE
from tests.stories.conftest import Stage


class Rows(BaseModel):
    """What the check ``rows`` is told."""

    least: int = Field(ge=1)


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
    asked: list[CheckContext] = []

    def judge(context: CheckContext) -> str | None:
        asked.append(context)
        return answer

    host, _ = _host(stage, Check("rows", judge=judge, options=Rows))

    run = _run(host, clock, **{"assert": {"check": "rows", "options": {"least": 3}}})

    assert (run["word"], run["assert_exit"], run["assert_output"]) == (word, code, said)
    assert run["reason"] == (None if answer is None else "assertion")
    assert [context.options for context in asked] == [Rows(least=3)]


def test_a_check_is_handed_the_run_how_it_ended_and_where_it_worked(stage: Stage, clock: ManualClock) -> None:
    asked: list[CheckContext] = []
    player = Player(ok("three rows"))
    host = stage(player.plays(), toolbox={"checks": (("proofs", Check("rows", judge=asked.append)),)})

    run = _run(host, clock, payload={"cwd": "/srv/rows"}, **{"assert": {"check": "rows", "timeout": "2s"}})

    (context,) = asked
    assert (context.job_key, context.run_id, context.attempt) == ("report", run["id"], 1)
    assert context.variables["SCHEDCORE_RUN_KEY"] == context.run_key
    assert (context.outcome, context.options) == (ok("three rows"), None)
    assert (context.workspace, context.limit, context.payload) == (Path("/srv/rows"), 2, {"cwd": "/srv/rows"})


def test_a_check_can_write_nothing_into_what_it_is_handed(stage: Stage, clock: ManualClock) -> None:
    def judge(context: CheckContext) -> str | None:
        context.outcome = ok("mine")  # type: ignore[misc]  # it is frozen, which is the point
        return None

    host, _ = _host(stage, Check("rows", judge=judge))

    run = _run(host, clock, **{"assert": {"check": "rows"}})

    assert (run["word"], run["reason"]) == ("failed", "assertion")
    assert "FrozenInstanceError" in run["assert_output"]


def test_a_check_that_raises_has_not_vouched(stage: Stage, clock: ManualClock) -> None:
    def judge(context: CheckContext) -> str | None:
        raise ConnectionError("the database is away")

    host, _ = _host(stage, Check("rows", judge=judge))

    run = _run(host, clock, **{"assert": {"check": "rows"}})

    assert (run["word"], run["reason"]) == ("failed", "assertion")
    assert run["assert_output"] == "ConnectionError: the database is away"


def test_a_check_that_outlasts_its_limit_has_not_vouched(stage: Stage, clock: ManualClock) -> None:
    hold = threading.Event()
    host, _ = _host(stage, Check("rows", judge=lambda context: str(hold.wait(30))))

    run = _run(host, clock, **{"assert": {"check": "rows", "timeout": "1s"}})
    hold.set()

    assert (run["word"], run["reason"], run["assert_exit"]) == ("failed", "assertion", None)
    assert "ran into its limit" in run["text"]


def test_work_whose_check_nobody_offers_is_not_begun(stage: Stage, clock: ManualClock) -> None:
    host, player = _host(stage)

    run = _run(host, clock, **{"assert": {"check": "rows"}})

    assert (run["word"], run["reason"]) == ("blocked", "gate")
    assert run["text"] == "no plugin of this host offers the check 'rows'"
    assert player.seen == []


@pytest.mark.parametrize(
    ("options", "said"), [(Rows, "the options do not fit the check 'rows'"), (None, "takes no options")]
)
def test_work_whose_options_its_check_no_longer_takes_is_not_begun(
    stage: Stage, clock: ManualClock, options: type[BaseModel] | None, said: str
) -> None:
    host, player = _host(stage, Check("rows", judge=lambda context: None, options=options))

    run = _run(host, clock, **{"assert": {"check": "rows", "options": {"least": 0}}})

    assert (run["word"], run["reason"]) == ("blocked", "gate")
    assert said in run["text"]
    assert player.seen == []


def test_a_check_that_nobody_offers_is_refused_with_the_nearest_name(
    stage: Stage, clock: ManualClock
) -> None:
    host, _ = _host(stage, Check("rows", judge=lambda context: None))
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


@pytest.mark.parametrize(
    ("model", "options", "code", "field"),
    [
        (Rows, {"least": 0}, "payload", "assert.options.least"),
        (Rows, {}, "missing", "assert.options.least"),
        (Rows, {"least": 3, "lest": 3}, "unknown_field", "assert.options.lest"),
        (None, {"least": 3}, "not_taken", "assert.options"),
    ],
)
def test_options_that_do_not_fit_the_check_are_refused(
    stage: Stage,
    model: type[BaseModel] | None,
    options: dict[str, Any],
    code: str,
    field: str,
) -> None:
    host, _ = _host(stage, Check("rows", judge=lambda context: None, options=model))
    asserted = {"check": "rows", "options": options}

    with pytest.raises(Refused) as refused:
        host.control.add({"key": "report", "kind": "noop", "payload": {}, "every": "60s", "assert": asserted})

    assert (refused.value.code, refused.value.field) == (code, field)


def test_doctor_names_the_job_whose_check_has_gone(stage: Stage, clock: ManualClock) -> None:
    host, _ = _host(stage)
    host.add("report", every="60s", **{"assert": {"check": "rows"}})

    (told,) = (one for one in host.control.doctor() if one["check"] == "unresolved")

    assert (told["level"], told["job"]) == ("bad", "report")
    assert "no plugin here offers the check 'rows'" in told["what"]


@pytest.mark.parametrize(("greeted", "word"), [("Ada", "succeeded"), ("Bob", "failed")])
def test_the_check_of_a_third_party_judges_the_work_of_its_plugin(
    stage: Stage, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, greeted: str, word: str
) -> None:
    monkeypatch.syspath_prepend(str(HERE / "outside-greeting" / "src"))
    from outside_greeting import plugin

    checks = tuple(("greeting", check) for check in plugin.schedcore_checks())
    host = stage(*plugin.schedcore_executors(), toolbox={"checks": checks})
    asserted = {"check": "greeting.heard", "options": {"name": "Ada"}}

    run = _run(host, clock, kind="greeting", payload={"name": greeted}, **{"assert": asserted})

    assert run["word"] == word
    assert run["assert_output"] == (None if word == "succeeded" else "Ada was not greeted: 'hello Bob'")
