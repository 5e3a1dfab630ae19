"""The suite for executors finds what breaks it, and holds for a third party's plugin."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from schedcore.spec import Executor, Outcome, RunContext, failed, ok
from schedcore.testing import ExecutorContract, noop
from tests.outside.installing import HERE


class TestNoop(ExecutorContract):
    def good(self) -> dict[str, object]:
        return {"any": "thing"}

    def executor(self) -> Executor:
        return noop()

    def test_a_good_payload_is_taken_and_a_bad_one_refused_with_its_field(self) -> None:
        pytest.skip("its schema takes everything")


class TestGreeting(ExecutorContract):
    def good(self) -> dict[str, object]:
        return {"name": "Ada"}

    def bad(self) -> dict[str, object]:
        return {"name": ""}

    @pytest.fixture(autouse=True)
    def _plugin(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.syspath_prepend(str(HERE / "outside-greeting" / "src"))

    def executor(self) -> Executor:
        from outside_greeting.plugin import schedcore_executors

        executors: list[Executor] = schedcore_executors()
        return executors[0]


def late(ctx: RunContext) -> Outcome:
    threading.Timer(0.05, lambda: ctx.output.stdout(b"and another thing")).start()
    return ok()


def leaking(ctx: RunContext) -> Outcome:
    os.environ["SCHEDCORE_LEAK"] = "1"
    return ok()


def deaf(ctx: RunContext) -> Outcome:
    time.sleep(1)
    return ok()


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"kind": "Two Words"}, "test_its_kind_is_one_plain_word"),
    ({"limit": 0}, "test_its_defaults_are_within_their_ranges"),
    ({"attempts": 11}, "test_its_defaults_are_within_their_ranges"),
    ({"limit_of": lambda payload: "soon"}, "test_what_it_says_of_a_payload_are_plain_values"),
    ({"execute": lambda ctx: "fine"}, "test_its_outcome_is_a_value_that_can_be_stored"),
    ({"execute": lambda ctx: failed("because")}, "test_its_outcome_is_a_value_that_can_be_stored"),
    ({"execute": lambda ctx: failed("exit_code")}, "test_good_work_ends_well_on_a_host"),
    ({"execute": late}, "test_no_output_comes_after_its_end"),
    ({"execute": leaking}, "test_it_leaves_the_process_as_it_was"),
    ({"execute": deaf}, "test_it_stops_when_it_is_told_to"),
    ({"execute": deaf}, "test_it_does_not_begin_what_was_stopped_before"),
]


@pytest.mark.parametrize(("broken", "by"), BROKEN, ids=[by for _, by in BROKEN])
def test_the_suite_sees(
    broken: dict[str, Any], by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCHEDCORE_LEAK", raising=False)

    class Broken(ExecutorContract):
        def good(self) -> dict[str, object]:
            return {}

        def slow(self) -> dict[str, object]:
            return {"any": "thing"}

        def executor(self) -> Executor:
            return noop(**broken)

    test = getattr(Broken(), by)
    given = [tmp_path] if "tmp_path" in test.__code__.co_varnames[: test.__code__.co_argcount] else []

    with pytest.raises(AssertionError):
        test(*given)
    os.environ.pop("SCHEDCORE_LEAK", None)
