"""What every executor must hold."""

from __future__ import annotations

from schedcore.spec import Executor
from schedcore.testing import ExecutorContract
from schedcore_script.plugin import schedcore_executors


class TestScript(ExecutorContract):
    def good(self) -> dict[str, object]:
        return {"command": "echo hello"}

    def bad(self) -> dict[str, object]:
        return {"command": ""}

    def slow(self) -> dict[str, object]:
        return {"args": ["sleep", "60"]}

    def executor(self) -> Executor:
        return schedcore_executors()[0]
