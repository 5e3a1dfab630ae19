"""The hooks: what a plugin may declare.

Every hook is called **once, at the start of a host**, in the thread that starts it, outside any
transaction, and returns a list of frozen declarations. A plugin whose hook raises, or returns something
else, is named, left out whole, and the host starts without it (P-30).

One whole plugin::

    from pydantic import BaseModel
    from schedcore.spec import Executor, hookimpl, ok

    api_version = 1

    class Greeting(BaseModel):
        name: str

    def greet(ctx):
        ctx.output.stdout(f"hello {ctx.payload.name}\\n".encode())
        return ok()

    @hookimpl
    def schedcore_executors():
        return [Executor(kind="greeting", payload=Greeting, execute=greet)]
"""

# A hookspec has no body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from schedcore.domain.calendar import Calendar
from schedcore.spec.declarations import (
    Check,
    Executor,
    Gate,
    Listener,
    Secrets,
    SensitivityClass,
    Service,
    SettingsModel,
    TriggerKind,
)
from schedcore.spec.markers import hookspec

__all__ = [
    "schedcore_calendars",
    "schedcore_checks",
    "schedcore_executors",
    "schedcore_gates",
    "schedcore_listeners",
    "schedcore_secrets",
    "schedcore_sensitivity",
    "schedcore_services",
    "schedcore_settings",
    "schedcore_triggers",
]


@hookspec
def schedcore_settings() -> list[SettingsModel]:
    """The plugin's own settings table. Called first; a table that does not fit turns the plugin off."""


@hookspec
def schedcore_executors() -> list[Executor]:
    """Kinds of work. Two plugins that claim one kind stop the start, and both are named (E-01)."""


@hookspec
def schedcore_gates() -> list[Gate]:
    """Functions that may veto a run before its claim. Asked outside any transaction; raising is a veto."""


@hookspec
def schedcore_listeners() -> list[Listener]:
    """Readers of the outbox. Told in a thread of their own; raising means being told again later."""


@hookspec
def schedcore_secrets() -> list[Secrets]:
    """Resolvers of secret names, asked in the order of plugin names until one answers. Asked at spawn."""


@hookspec
def schedcore_sensitivity() -> list[SensitivityClass]:
    """Further classes of sensitive work. Pure words; matched where scripts are judged."""


@hookspec
def schedcore_services() -> list[Service]:
    """Objects shared with other plugins by name, made when first asked for, in the asker's thread."""


@hookspec
def schedcore_checks() -> list[Check]:
    """Checks of ``doctor`` and of finished work.

    ``look`` is read only and called in the thread of whoever asks; raising is a finding. ``judge`` is called in
    a thread of its own after work that ended ok; raising is a failed assertion (A-01).
    """


@hookspec
def schedcore_calendars() -> list[Calendar]:
    """Closed days and quiet hours that jobs name (F-15). A definition keeps what its calendar said; what another
    start declares instead holds from then on. A name that the settings or another plugin have is not taken."""


@hookspec
def schedcore_triggers() -> list[TriggerKind]:
    """Further kinds of trigger. A rule that raises at three beats in a row pauses its job (T-17)."""
