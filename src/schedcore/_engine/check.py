"""The job's assertion: what decides whether work that ended ``ok`` was really done (A-01 to A-04).

A command runs by ``bash -lc`` in the job's workspace with a reduced environment and the key variables, in a process
group of its own that is killed at the limit. Its output is bounded while it runs, not after.
A plugin's check is found before the work begins, and called in a thread of its own; one that outlasts the limit
has failed, whatever it says later.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from schedcore.domain.assertion import Assertion
from schedcore.domain.outcome import Outcome, failed
from schedcore.spec.context import CheckContext, RunContext

if TYPE_CHECKING:
    from schedcore._engine.secrets import Vault
    from schedcore._engine.state import Finish
    from schedcore.spec.declarations import Check

__all__ = ["REDUCED_PATH", "NobodyChecks", "check", "judge_of"]

REDUCED_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TAIL = 8 * 1024
_OF_RUN = tuple(
    one.name for one in fields(CheckContext) if one.name not in {"outcome", "options", "workspace", "limit"}
)

Judge = Callable[[Outcome], str | None]
"""A plugin's check that was found for a run: given how the work ended, why it was not done, or ``None``."""


class NobodyChecks(Exception):
    """No plugin of this host offers the check that an assertion names, or not with these options."""


def judge_of(assertion: Assertion, context: RunContext, offered: Mapping[str, Check]) -> Judge | None:
    """The check that an assertion names, ready to be asked; ``None`` for a command. Raises :class:`NobodyChecks`."""
    name = assertion.check
    if name is None:
        return None
    found = offered.get(name)
    if found is None or found.judge is None:
        raise NobodyChecks(f"no plugin of this host offers the check {name!r}")
    options, given = None, assertion.options or {}
    if found.options is not None:
        try:
            options = found.options.model_validate(given)
        except (ValueError, TypeError) as error:
            raise NobodyChecks(f"the options do not fit the check {name!r}: {error}") from error
    elif given:
        raise NobodyChecks(f"the check {name!r} takes no options")
    judge = found.judge
    return lambda outcome: judge(_handed(context, assertion, outcome, options))


def check(
    assertion: Assertion,
    context: RunContext,
    finish: Finish,
    outcome: Outcome,
    vault: Vault,
    judge: Judge | None = None,
) -> Outcome:
    """Run the assertion once, note its exit code, duration and output on the finish, and decide.

    ``judge`` is what :func:`judge_of` found before the work began.
    """
    began = time.monotonic()
    if judge is not None:
        code, output = _ask(judge, assertion, outcome)
    else:
        try:
            cwd = assertion.cwd or _workspace(context)
            code, output = _run(assertion, cwd, _environment(assertion, context))
        except OSError as error:
            code, output = 127, str(error).encode()
    finish.assert_ms = int((time.monotonic() - began) * 1000)
    finish.assert_exit = code
    text = output.decode("utf-8", "replace").replace("\x00", "\ufffd")
    finish.assert_output = vault.masker().text(text) or None
    if code == 0:
        return outcome
    why = "ran into its limit" if code is None else f"exited {code}" if judge is None else "says it was not"
    detail = outcome.detail
    lost = failed(
        "assertion", f"the work ended ok, but its check {why}", exit_code=outcome.exit_code, retry=False
    )
    return Outcome(lost.kind, lost.reason, lost.text, lost.exit_code, lost.retry, detail, outcome.usage)


def _ask(judge: Judge, assertion: Assertion, outcome: Outcome) -> tuple[int | None, bytes]:
    """(0 or 1, what it says); the code is ``None`` at the limit."""
    said: SimpleQueue[tuple[int, str]] = SimpleQueue()

    def ask() -> None:
        try:
            answer = judge(outcome)
        except BaseException as error:  # whatever a plugin raises: not done
            said.put((1, f"{type(error).__name__}: {error}"))
        else:
            said.put((0, "") if answer is None else (1, str(answer)))

    threading.Thread(target=ask, name=f"schedcore-check-{assertion.check}", daemon=True).start()
    try:
        code, text = said.get(timeout=assertion.timeout)
    except Empty:
        return None, b""
    return code, text.encode("utf-8", "replace")[-_TAIL:]


def _handed(context: RunContext, assertion: Assertion, outcome: Outcome, options: Any) -> CheckContext:
    where = _workspace(context)
    return CheckContext(
        **{name: getattr(context, name) for name in _OF_RUN},
        outcome=outcome,
        options=options,
        workspace=None if where is None else Path(where),
        limit=assertion.timeout,
    )


def _workspace(context: RunContext) -> str | None:
    payload = context.payload
    for name in ("cwd", "workspace"):
        value = payload.get(name) if isinstance(payload, Mapping) else getattr(payload, name, None)
        if value:
            return str(value)
    return None


def _environment(assertion: Assertion, context: RunContext) -> dict[str, str]:
    if assertion.env == "inherit":
        mine = {k: v for k, v in os.environ.items() if not k.startswith(("NOTIFY_", "WATCHDOG_"))}
        return {**mine, **context.variables}
    home = os.environ.get("HOME")
    return {"PATH": REDUCED_PATH, **({"HOME": home} if home else {}), **context.variables}


def _run(assertion: Assertion, cwd: str | None, env: Mapping[str, str]) -> tuple[int | None, bytes]:
    """(exit code, the last 8 KiB of output); the code is ``None`` at the limit."""
    process = subprocess.Popen(
        ["bash", "-lc", assertion.command or "false"],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    until = time.monotonic() + assertion.timeout
    tail = bytearray()
    assert process.stdout is not None
    with process.stdout as pipe, selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0:
            if not selector.select(min(left, 0.05)):
                if process.poll() is not None:
                    break
                continue
            data = os.read(pipe.fileno(), 65536)
            if not data:
                break
            tail += data
            del tail[:-_TAIL]
    try:
        process.wait(max(0.0, until - time.monotonic()))
        code: int | None = process.returncode
    except subprocess.TimeoutExpired:
        code = None
    try:
        os.killpg(process.pid, signal.SIGKILL)  # whatever it left behind in its group
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()
    return code, bytes(tail)
