"""What this plugin declares; nothing is begun here."""

from __future__ import annotations

from schedcore.spec import Check, Executor, SettingsModel, hookimpl
from schedcore_script.execute import ScriptExecutor
from schedcore_script.payload import ScriptPayload
from schedcore_script.settings import ScriptSettings

api_version = 1

_executor = ScriptExecutor()


@hookimpl
def schedcore_settings() -> list[SettingsModel]:
    """The table ``[plugins.script]``."""
    return [SettingsModel("script", ScriptSettings, _executor.accept)]


@hookimpl
def schedcore_executors() -> list[Executor]:
    """The kind ``script``."""
    return [
        Executor(
            kind="script",
            payload=ScriptPayload,
            execute=_executor.execute,
            limit=300,
            attempts=3,
            verbatim=frozenset({"command"}),
            start=_executor.start,
            close=_executor.close,
            classes=_executor.classes,
            content=_executor.content,
            limit_of=lambda payload: payload.timeout,
        )
    ]


@hookimpl
def schedcore_checks() -> list[Check]:
    """What ``doctor`` says of the limits on memory and processes."""
    return [Check("script_limits", _executor.look)]
