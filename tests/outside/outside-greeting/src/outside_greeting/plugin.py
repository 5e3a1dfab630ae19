"""What this plugin declares."""

from __future__ import annotations

from outside_greeting.greeting import Greeter, Greeting, GreetingSettings
from outside_greeting.heard import Heard, heard
from outside_greeting.quiet import QuietHours
from schedcore.spec import Check, Executor, Gate, Service, SettingsModel, hookimpl

api_version = 1
requires_core = ">=0.1,<0.2"

_greeter = Greeter()
_quiet = QuietHours()


def _accept(settings: GreetingSettings) -> None:
    _greeter.settings = settings
    _quiet.names = frozenset(settings.leave_alone)


@hookimpl
def schedcore_settings() -> list[SettingsModel]:
    """The table ``[plugins.greeting]``."""
    return [SettingsModel("greeting", GreetingSettings, _accept)]


@hookimpl
def schedcore_executors() -> list[Executor]:
    """The kind ``greeting``."""
    return [Executor("greeting", Greeting, _greeter.greet, version="3", limit=30, attempts=2)]


@hookimpl
def schedcore_gates() -> list[Gate]:
    """Nobody is greeted who wants to be left alone."""
    return [Gate("quiet", _quiet.ask, frozenset({"greeting"}))]


@hookimpl
def schedcore_checks() -> list[Check]:
    """The check ``greeting.heard``, for ``assert = {check = "greeting.heard", options = {name = "Ada"}}``."""
    return [Check("greeting.heard", judge=heard, options=Heard)]


@hookimpl
def schedcore_services() -> list[Service]:
    """The greeter, for whoever asks."""
    return [Service("greeting.greeter", lambda: _greeter)]
