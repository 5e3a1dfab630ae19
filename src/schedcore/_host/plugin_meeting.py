"""One plugin on its way in, and the report on what became of it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedcore._host.plugin_declarations import declared
from schedcore._host.plugin_finding import Candidate
from schedcore.domain.errors import PluginFault, SchedcoreError
from schedcore.domain.masking import Masker

__all__ = ["Met", "PluginReport"]

log = logging.getLogger("schedcore.plugins")


@dataclass(frozen=True, slots=True)
class PluginReport:
    """What became of one plugin. ``state`` is ``ok``, ``failed`` or ``disabled``; ``error`` says why."""

    name: str
    distribution: str | None
    version: str | None
    state: str
    error: str | None = None
    hooks: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    load_ms: float | None = None


class Met:
    """One plugin on its way in."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.plugin: Any = None
        self.functions: dict[str, Any] = {}
        self.declared: dict[str, list[Any]] = {}
        self.state = "ok"
        self.error: str | None = None
        self.load_ms: float | None = None

    def attempt(self, deed: Callable[[Met], None]) -> None:
        """Do one thing with it; what that raises ends this plugin, and nothing else."""
        if self.state != "ok":
            return
        try:
            deed(self)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module may raise SystemExit as well as ImportError
            self.fail(_told(error))
            log.debug("plugin %s", self.candidate.name, exc_info=True)

    def ask(self, hook: str) -> list[Any]:
        """What it declares for a hook. Raises ``PluginFault`` naming the hook."""
        try:
            returned = self.functions[hook]()
        except Exception as error:
            raise PluginFault(f"{hook} raised {_told(error)}", code="hook_raised") from error
        return declared(hook, returned)

    def fail(self, why: str) -> None:
        """It was wanted, and cannot be had."""
        self.state, self.error = "failed", Masker().text(why)
        log.warning("plugin %s is left out: %s", self.candidate, self.error)

    def leave_out(self, why: str) -> None:
        """It is not wanted."""
        self.state, self.error = "disabled", why

    def report(self) -> PluginReport:
        """What became of it."""
        one = self.candidate
        kinds = (
            tuple(e.kind for e in self.declared.get("schedcore_executors", ())) if self.state == "ok" else ()
        )
        return PluginReport(
            one.name, one.distribution, one.version, self.state, self.error, tuple(self.functions), kinds,
            self.load_ms,
        )  # fmt: skip


def _told(error: BaseException) -> str:
    """What went wrong and, for what no plugin says on purpose, where."""
    if isinstance(error, SchedcoreError):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({Path(last[0].filename).name}, line {last[0].lineno})" if last else ""
    return f"{type(error).__name__}: {error}{where}"
