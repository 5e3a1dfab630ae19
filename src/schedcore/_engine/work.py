"""Doing one claimed attempt: render, execute, check. In a worker thread, outside any transaction.

Whatever the plugin does (raise, return nonsense, leave the thread), one :class:`Finish` goes back to the loop,
with the plugin's name on it (T-17).
"""

from __future__ import annotations

import logging
import threading
import traceback

from schedcore._engine.check import NobodyChecks, check, judge_of
from schedcore._engine.context import Contexts
from schedcore._engine.outputs import FileOutput
from schedcore._engine.secrets import Vault
from schedcore._engine.state import Claimed, Engine, Finish
from schedcore.domain.keys import EmptyKey
from schedcore.domain.lines import cut
from schedcore.domain.outcome import OUTCOMES, Outcome, blocked, failed
from schedcore.spec.secrets import SecretRefused

__all__ = ["Worker", "stopped"]

log = logging.getLogger("schedcore.work")
_ERROR_TEXT = 8 * 1024
_UNDONE = failed("executor_error")
_STOPPED = {
    "timeout": ("failed", "timeout"),
    "operator": ("cancelled", "operator"),
    "replaced": ("cancelled", "replaced"),
    "shutdown": ("interrupted", "shutdown"),
    "stopped_itself": ("interrupted", "stopped_itself"),
    "lease_lost": ("interrupted", "lease_lost"),
}


class Worker:
    """The deed of the pool: one claimed attempt in, one finish out through the engine's inbox."""

    def __init__(self, engine: Engine, vault: Vault) -> None:
        self._engine = engine
        self._vault = vault
        self._contexts = Contexts(engine, vault)

    def __call__(self, item: Claimed) -> None:
        """Never raises."""
        engine = self._engine
        item.thread = threading.get_ident()
        item.began = engine.clocks.boot()
        started = engine.instant()
        output = FileOutput(engine.folder, item.run_id, engine.settings.output_max, self._vault.masker)
        finish = Finish(item, _UNDONE, started, started)
        try:
            try:
                self._perform(item, output, finish)
            except BaseException as error:  # the run ends, the worker lives
                finish.outcome = failed("executor_error", f"schedcore itself: {_told(error)}", retry=False)
            if output.used:
                output.close()
                finish.stdout_tail, finish.stderr_tail = output.tails()
                finish.output_ref = output.reference
        finally:  # a worker may die; its run ends all the same
            finish.finished_at = max(engine.instant(), started)
            item.ended = True  # however long the ledger is away, this is how it ended
            engine.inbox.put(finish)

    def _perform(self, item: Claimed, output: FileOutput, finish: Finish) -> None:
        job = item.job
        plugin, executor = self._engine.toolbox.executors[job.kind]
        if item.stop.reason is not None:
            finish.outcome = stopped(item.stop.reason)
            return
        try:
            context = self._contexts.of(item, output, executor)
        except EmptyKey as error:
            finish.outcome = blocked("empty_key", str(error))
            return
        except (ValueError, TypeError) as error:
            text = f"the payload does not fit kind {job.kind!r}: {error}"
            finish.outcome = Outcome("failed", "executor_error", cut(text, _ERROR_TEXT), retry=False)
            return
        asserted, judge = job.policies.assertion, None
        if asserted is not None:
            try:
                judge = judge_of(asserted, context, self._engine.toolbox.judges())
            except NobodyChecks as error:  # before the work: what nobody can check is not begun
                finish.outcome = blocked("gate", cut(str(error), _ERROR_TEXT))
                return
        try:
            outcome = executor.execute(context)
            if not isinstance(outcome, Outcome) or outcome.kind not in OUTCOMES:
                outcome = failed(
                    "executor_error", f"plugin {plugin!r} returned {outcome!r:.200}", retry=False
                )
        except SecretRefused as error:
            outcome = blocked("secret", error.message)
        except BaseException as error:  # SystemExit and KeyboardInterrupt of a plugin alike
            log.debug("plugin %s raised", plugin, exc_info=True)
            outcome = failed("executor_error", f"plugin {plugin!r}: {_told(error)}")
        if item.stop.reason is not None and outcome.kind not in {"ok", "no_op", "findings"}:
            outcome = stopped(item.stop.reason, outcome)
        if outcome.kind == "ok" and asserted is not None:
            outcome = check(asserted, context, finish, outcome, self._vault, judge)
        if outcome.text is not None:
            masked = cut(self._vault.masker().text(outcome.text), _ERROR_TEXT)
            if masked != outcome.text:
                outcome = _with_text(outcome, masked)
        finish.outcome = outcome


def stopped(reason: str, outcome: Outcome | None = None) -> Outcome:
    """What an attempt ends with that was told to stop."""
    kind, why = _STOPPED.get(reason, ("interrupted", reason))
    text = outcome.text if outcome is not None else None
    code = outcome.exit_code if outcome is not None else None
    return Outcome(kind, why, text, code)  # type: ignore[arg-type]  # kinds of _STOPPED only


def _with_text(outcome: Outcome, text: str) -> Outcome:
    return Outcome(
        outcome.kind, outcome.reason, text, outcome.exit_code, outcome.retry, outcome.detail, outcome.usage
    )


def _told(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({last[0].name}, line {last[0].lineno})" if last else ""
    return f"{type(error).__name__}: {error}{where}"
