"""The job's assertion: a command that decides whether work that ended ``ok`` was really done (A-01 to A-04).

It runs by ``bash -lc`` in the job's workspace with a reduced environment and the key variables, in a process
group of its own that is killed at the limit. Its output is bounded while it runs, not after.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from schedcore.domain.assertion import Assertion
from schedcore.domain.outcome import Outcome, failed
from schedcore.spec.context import RunContext

if TYPE_CHECKING:
    from schedcore._engine.secrets import Vault
    from schedcore._engine.state import Finish

__all__ = ["REDUCED_PATH", "check"]

REDUCED_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TAIL = 8 * 1024


def check(
    assertion: Assertion, context: RunContext, finish: Finish, outcome: Outcome, vault: Vault
) -> Outcome:
    """Run the assertion once, note its exit code, duration and output on the finish, and judge."""
    cwd = assertion.cwd or _workspace(context)
    began = time.monotonic()
    try:
        code, output = _run(assertion, cwd, _environment(assertion, context))
    except OSError as error:
        code, output = 127, str(error).encode()
    finish.assert_ms = int((time.monotonic() - began) * 1000)
    finish.assert_exit = code
    text = output.decode("utf-8", "replace").replace("\x00", "\ufffd")
    finish.assert_output = vault.masker().text(text) or None
    if code == 0:
        return outcome
    why = "ran into its limit" if code is None else f"exited {code}"
    detail = outcome.detail
    lost = failed(
        "assertion", f"the work ended ok, but its check {why}", exit_code=outcome.exit_code, retry=False
    )
    return Outcome(lost.kind, lost.reason, lost.text, lost.exit_code, lost.retry, detail, outcome.usage)


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
        ["bash", "-lc", assertion.command],
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
