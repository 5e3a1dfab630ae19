"""Small stand-ins for what a host hands to an executor, and a way to find every process of a run."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schedcore.spec import Outcome, RunContext, SecretRefused
from schedcore_script.execute import ScriptExecutor
from schedcore_script.payload import ScriptPayload
from schedcore_script.settings import ScriptSettings

GRACE = 0.3


class FakeStop:
    def __init__(self) -> None:
        self.reason: str | None = None
        self._set = threading.Event()
        self._calls: list[Callable[[str], None]] = []

    def is_set(self) -> bool:
        return self._set.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._set.wait(timeout)

    def then(self, call: Callable[[str], None]) -> None:
        self._calls.append(call)
        if self.reason is not None:
            call(self.reason)

    def order(self, reason: str) -> None:
        self.reason = reason
        self._set.set()
        for call in self._calls:
            call(reason)


class FakeOutput:
    """Keeps the last 64 KiB of each stream and counts the rest."""

    def __init__(self) -> None:
        self.out = b""
        self.err = b""
        self.count = 0
        self.something = threading.Event()

    def stdout(self, data: bytes) -> None:
        self.count += len(data)
        self.out = (self.out + data)[-65_536:]
        self.something.set()

    def stderr(self, data: bytes) -> None:
        self.count += len(data)
        self.err = (self.err + data)[-65_536:]
        self.something.set()


class Bench:
    """One executor, and runs on it; every run carries a mark in its environment."""

    def __init__(self, state: Path, settings: ScriptSettings) -> None:
        self.state = state
        self.executor = ScriptExecutor(settings)
        self.secrets: dict[str, str] = {}
        self.number = 0

    def context(
        self,
        *,
        limit: float = 20,
        options: dict[str, Any] | None = None,
        run_id: int | None = None,
        **payload: Any,
    ) -> RunContext:
        self.number += 1
        ctx = RunContext()
        ctx.job_id, ctx.job_key, ctx.run_id = "j1", "backup", run_id or self.number
        ctx.run_key = ctx.delivery_key = "j1|2030-01-01T00:00:00.000Z"
        ctx.scheduled_for = datetime(2030, 1, 1, tzinfo=UTC)
        ctx.attempt, ctx.fence, ctx.trigger, ctx.zone = 1, 1, "schedule", "UTC"
        ctx.payload = ScriptPayload(**payload)
        ctx.limit = limit
        ctx.variables = {"SCHEDCORE_JOB": "backup", "SCHEDCORE_RUN": f"mark-{uuid.uuid4().hex}"}
        ctx.granted = tuple(self.secrets)
        ctx.options = options or {}
        ctx.stop, ctx.output = FakeStop(), FakeOutput()
        ctx.folder = self.state / "runs" / str(ctx.run_id)
        ctx.end_note = self.state / "ends" / f"{ctx.run_id}-{ctx.attempt}"
        ctx.shelf = None
        ctx.renderer = lambda text: text.replace("{{run_key}}", ctx.run_key)
        ctx.resolver = self._secret
        ctx.masker = self._mask
        ctx.services = lambda name: None
        return ctx

    def _secret(self, name: str) -> str:
        if name not in self.secrets:
            raise SecretRefused(f"the secret {name} was not granted to this job")
        return self.secrets[name]

    def _mask(self, text: str) -> str:
        for value in self.secrets.values():
            text = text.replace(value, "***")
        return text

    def run(self, **given: Any) -> tuple[Outcome, RunContext]:
        ctx = self.context(**given)
        return self.executor.execute(ctx), ctx

    def sh(self, text: str, **given: Any) -> tuple[Outcome, RunContext]:
        return self.run(command=text, shell=True, **given)

    def beside(self, ctx: RunContext) -> tuple[threading.Thread, list[Outcome]]:
        ends: list[Outcome] = []
        thread = threading.Thread(target=lambda: ends.append(self.executor.execute(ctx)))
        thread.start()
        return thread, ends


def living(mark: str) -> list[int]:
    """The processes that carry this mark in their environment or arguments, zombies left out."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and name != str(os.getpid()):
            with suppress(OSError):
                seen = Path(f"/proc/{name}/environ").read_bytes() + Path(f"/proc/{name}/cmdline").read_bytes()
                if mark.encode() in seen:
                    found.append(int(name))
    return found


def until(question: Callable[[], Any], seconds: float = 10.0) -> Any:
    """Ask again and again until the answer is true; the last answer."""
    end = time.monotonic() + seconds
    while not (answer := question()) and time.monotonic() < end:
        time.sleep(0.005)
    return answer


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    made = Bench(state, ScriptSettings(kill_grace=GRACE))
    yield made
    made.executor.close()


@pytest.fixture(name="living")
def _living() -> Callable[[str], list[int]]:
    return living


@pytest.fixture(name="until")
def _until() -> Callable[..., Any]:
    return until
