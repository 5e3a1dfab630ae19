"""Suites of conformance: what every plugin of a sort must hold, as test classes to inherit from (P-15, E-01).

A plugin's tests begin with one::

    class TestGreeting(ExecutorContract):
        def executor(self):
            return schedcore_executors()[0]

        def good(self):
            return {"name": "Ada"}

        def bad(self):
            return {"name": ""}

They run in pytest, on the real engine and a real ledger; only the clock is manual.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schedcore._engine.context import Contexts
from schedcore.domain.outcome import OUTCOMES, Outcome
from schedcore.domain.run import BLOCKED_REASONS, CANCELLED_REASONS, FAILED_REASONS, INTERRUPTED_REASONS
from schedcore.spec.context import RunContext
from schedcore.spec.declarations import Executor
from schedcore.testing.clock import ManualClock
from schedcore.testing.hosts import StandingHost
from schedcore.testing.ledgers import fresh_sqlite, open_ledger

__all__ = ["ExecutorContract"]

_KIND = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}", re.ASCII)
_REASONS = {
    "failed": FAILED_REASONS,
    "blocked": BLOCKED_REASONS,
    "interrupted": INTERRUPTED_REASONS,
    "cancelled": CANCELLED_REASONS,
}
_AFTER_S = 0.2
_SOON_S = 15.0


class _Heard:
    """An output that knows when the work said that it had ended."""

    def __init__(self) -> None:
        self.data = b""
        self.over = False
        self.late = b""
        self.something = threading.Event()

    def stdout(self, data: bytes) -> None:
        """See ``Output``."""
        self.data += data
        if self.over:
            self.late += data
        self.something.set()

    stderr = stdout


class ExecutorContract:
    """What an executor must hold. Inherit from it, give :meth:`executor` and the payloads.

    A test that needs a payload which is ``None`` is skipped.
    """

    def executor(self) -> Executor:
        """The declaration of the plugin, new for each test if it can be."""
        raise NotImplementedError

    def good(self) -> Mapping[str, Any]:
        """A payload whose work ends well within seconds."""
        raise NotImplementedError

    def bad(self) -> Mapping[str, Any] | None:
        """A payload that is refused."""
        return None

    def slow(self) -> Mapping[str, Any] | None:
        """A payload whose work takes 30 s or more unless it is stopped."""
        return None

    # -- the declaration ------------------------------------------------------------------------------

    def test_its_kind_is_one_plain_word(self) -> None:
        """Kinds are written in job files and columns, and shared by all plugins of a host."""
        kind = self.executor().kind

        assert _KIND.fullmatch(kind), f"{kind!r}: small letters, digits, '_', '.' and '-'"

    def test_its_defaults_are_within_their_ranges(self) -> None:
        """A default that no job may write would be refused at the first edit."""
        declared = self.executor()

        assert 1 <= declared.limit <= 86_400, f"limit {declared.limit}: 1 s to 24 h"
        assert 1 <= declared.attempts <= 10, f"attempts {declared.attempts}: 1 to 10"
        assert declared.version, "a version, so that hosts can be compared"

    def test_its_payload_has_a_schema_that_any_process_can_read(self) -> None:
        """Hosts announce it, and processes without the plugin validate by it (T-18)."""
        from schedcore._host.payload_schema import payload_schema

        schema = payload_schema(self.executor())

        assert json.loads(json.dumps(schema)) == schema, "the schema is not plain JSON"
        assert schema.get("type", "object") == "object", "a payload is a table"

    def test_what_it_renders_itself_are_fields_of_its_payload(self) -> None:
        """A misspelt name in ``verbatim`` would keep no placeholder."""
        from schedcore._host.payload_schema import payload_schema

        declared = self.executor()
        known = set(payload_schema(declared).get("properties", {}))

        assert not known or declared.verbatim <= known, f"verbatim: {sorted(declared.verbatim - known)}"

    def test_what_it_says_of_a_payload_are_plain_values(self) -> None:
        """Sensitivity, content and limit are asked at creation and at start."""
        declared = self.executor()
        payload = _model(declared, self.good())

        if declared.classes is not None:
            classes = declared.classes(payload)
            assert all(isinstance(words, tuple) for words in classes.values()), f"classes: {classes!r}"
        if declared.content is not None:
            named = declared.content(payload)
            assert all(isinstance(t, str) for pair in named.items() for t in pair), f"content: {named!r}"
        if declared.limit_of is not None:
            limit = declared.limit_of(payload)
            assert limit is None or (isinstance(limit, int) and 1 <= limit <= 86_400), f"limit_of: {limit!r}"

    # -- payloads -------------------------------------------------------------------------------------

    def test_a_good_payload_is_taken_and_a_bad_one_refused_with_its_field(self) -> None:
        """Refused means: at creation, with the path, and nothing is stored (L-06)."""
        from schedcore._host.payloads import payload_errors

        declared = self.executor()

        assert payload_errors(declared, self.good()) == []
        for payload in (_needed(self.bad(), "a bad payload"), {**self.good(), "no_such_field_": 1}):
            errors = payload_errors(declared, payload)
            assert errors, f"{payload!r} was not refused"
            assert (errors[0].field or "").startswith("payload"), f"the field is {errors[0].field!r}"

    def test_placeholders_stay_where_it_renders_them_itself_and_nowhere_else(self, tmp_path: Path) -> None:
        """Fields named ``verbatim`` arrive as they were written."""
        declared = self.executor()
        texts = {name: text for name, text in self.good().items() if isinstance(text, str)}
        own = [name for name in texts if name in declared.verbatim]
        payload = {**self.good(), **{name: texts[name] + " {{run_key}}" for name in own}}

        with _claimed(declared, payload, tmp_path) as ctx:
            for name in own:
                value = ctx.payload[name] if isinstance(ctx.payload, Mapping) else getattr(ctx.payload, name)
                assert "{{run_key}}" in str(value), f"{name} is verbatim, and was rendered"
                assert ctx.render(str(value)).endswith(ctx.run_key)

    # -- work -----------------------------------------------------------------------------------------

    def test_good_work_ends_well_on_a_host(self, tmp_path: Path) -> None:
        """Through the engine: claimed, done, settled."""
        with _host(self.executor(), tmp_path, hold=False) as host:
            host.add("work", kind=self.executor().kind, payload=self.good())
            host.poll()
            (run,) = host.runs()

        assert run["word"] in {"succeeded", "no_op", "findings"}, f"{run['word']}: {run['text']}"

    def test_its_outcome_is_a_value_that_can_be_stored(self, tmp_path: Path) -> None:
        """One of the seven words, a reason of the closed list or with the plugin's name, and plain JSON."""
        declared = self.executor()
        with _claimed(declared, self.good(), tmp_path) as ctx:
            outcome = declared.execute(ctx)

        assert isinstance(outcome, Outcome), f"{outcome!r} is no Outcome"
        assert outcome.kind in OUTCOMES, f"{outcome.kind!r} is none of {OUTCOMES}"
        known = _REASONS.get(outcome.kind, ())
        assert not known or outcome.reason in known or "." in (outcome.reason or ""), f"{outcome.reason!r}"
        json.dumps([dict(outcome.detail or {}), dict(outcome.usage or {})])

    def test_it_leaves_the_process_as_it_was(self, tmp_path: Path) -> None:
        """No variable, no working folder: other runs share them (S30)."""
        declared = self.executor()
        before = dict(os.environ), Path.cwd()
        with _claimed(declared, self.good(), tmp_path) as ctx:
            declared.execute(ctx)

        assert (dict(os.environ), Path.cwd()) == before, "os.environ or the working folder was changed"

    def test_no_output_comes_after_its_end(self, tmp_path: Path) -> None:
        """What comes later is lost: the file is closed and the tail is written."""
        declared = self.executor()
        with _claimed(declared, self.good(), tmp_path) as ctx:
            declared.execute(ctx)
            heard: Any = ctx.output
            heard.over = True
            threading.Event().wait(_AFTER_S)

        assert heard.late == b"", f"{heard.late[:100]!r} came after the end"

    def test_two_runs_at_once_both_end(self, tmp_path: Path) -> None:
        """It is called from several worker threads."""
        declared = self.executor()
        with (
            _claimed(declared, self.good(), tmp_path / "a") as one,
            _claimed(declared, self.good(), tmp_path / "b") as two,
        ):
            ends = [_beside(declared, ctx) for ctx in (one, two)]
            for thread, _ in ends:
                thread.join(60)

        assert [len(end) for _, end in ends] == [1, 1], "one of them did not end"
        assert {type(end[0]) for _, end in ends} == {Outcome}, f"{[end[0] for _, end in ends]!r}"

    def test_it_stops_when_it_is_told_to(self, tmp_path: Path) -> None:
        """Soon after ``ctx.stop`` is given, with an outcome that does not claim success."""
        declared, slow = self.executor(), _needed(self.slow(), "slow work")
        with _claimed(declared, slow, tmp_path) as ctx:
            thread, ends = _beside(declared, ctx)
            heard: Any = ctx.output
            heard.something.wait(_AFTER_S)
            _order(ctx, "operator")
            thread.join(_SOON_S)

        assert ends, f"it still works {_SOON_S:g} s after it was told to stop"
        assert isinstance(ends[0], Outcome), f"{ends[0]!r}"
        assert ends[0].kind not in {"ok", "no_op", "findings"}, f"it was stopped, and says {ends[0].kind}"

    def test_it_does_not_begin_what_was_stopped_before(self, tmp_path: Path) -> None:
        """The order may come before the work."""
        declared, slow = self.executor(), _needed(self.slow(), "slow work")
        with _claimed(declared, slow, tmp_path) as ctx:
            _order(ctx, "shutdown")
            thread, ends = _beside(declared, ctx)
            thread.join(_SOON_S)

        assert ends, f"it works {_SOON_S:g} s after it was told to stop"
        assert getattr(ends[0], "kind", "ok") not in {"ok", "no_op", "findings"}, f"{ends[0]!r}"

    def test_it_may_be_closed_twice_and_without_a_start(self) -> None:
        """A host that fails to start closes what it has."""
        declared = self.executor()

        for _ in range(2):
            if declared.close is not None:
                declared.close()


def _needed(payload: Mapping[str, Any] | None, what: str) -> Mapping[str, Any]:
    if payload is None:
        import pytest

        pytest.skip(f"there is no {what}")
    return payload


def _model(declared: Executor, payload: Mapping[str, Any]) -> Any:
    model = declared.payload
    return dict(payload) if isinstance(model, Mapping) else model.model_validate(payload)


@contextmanager
def _host(declared: Executor, folder: Path, *, hold: bool) -> Iterator[StandingHost]:
    """A host that offers this one executor, on a ledger of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    clock = ManualClock()
    ledger = open_ledger(fresh_sqlite(folder), clock)
    host = StandingHost(ledger, clock, folder / "state", [declared], hold=hold)
    try:
        yield host
    finally:
        host.stop()
        ledger.close()


@contextmanager
def _claimed(declared: Executor, payload: Mapping[str, Any], folder: Path) -> Iterator[RunContext]:
    """The context of a claimed run, as the engine makes it, with an output that is listened to."""
    with _host(declared, folder, hold=True) as host:
        host.add("work", kind=declared.kind, payload=payload)
        host.poll()
        (item,) = host.held.values()
        output: Any = _Heard()
        yield Contexts(host.engine, host.crew.vault).of(item, output, declared)


def _beside(declared: Executor, ctx: RunContext) -> tuple[threading.Thread, list[Any]]:
    ends: list[Any] = []

    def work() -> None:
        try:
            ends.append(declared.execute(ctx))
        except BaseException as error:  # whatever it raises is its answer
            ends.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, ends


def _order(ctx: RunContext, reason: str) -> None:
    stop: Any = ctx.stop
    stop.give(reason)
