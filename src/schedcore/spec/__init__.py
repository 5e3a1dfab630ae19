"""The plugin door: everything a plugin may import, and nothing else.

A plugin imports from here only. If it needs something this door does not offer, widen the door.
"""

from __future__ import annotations

from schedcore.domain.calendar import Calendar
from schedcore.domain.errors import Refused, SchedcoreError, nearest
from schedcore.domain.outcome import Outcome, blocked, failed, findings, no_op, ok
from schedcore.spec.context import CheckContext, Output, RunContext, Stop
from schedcore.spec.declarations import (
    Check,
    Executor,
    Finding,
    Gate,
    Listener,
    Secrets,
    SensitivityClass,
    Service,
    SettingsModel,
    TriggerKind,
    Veto,
)
from schedcore.spec.markers import hookimpl
from schedcore.spec.secrets import SecretRefused

API_VERSION = 1
"""The major version of this door; a plugin names the one it was written for as ``api_version``."""

__all__ = [
    "API_VERSION",
    "Calendar",
    "Check",
    "CheckContext",
    "Executor",
    "Finding",
    "Gate",
    "Listener",
    "Outcome",
    "Output",
    "Refused",
    "RunContext",
    "SchedcoreError",
    "SecretRefused",
    "Secrets",
    "SensitivityClass",
    "Service",
    "SettingsModel",
    "Stop",
    "TriggerKind",
    "Veto",
    "blocked",
    "failed",
    "findings",
    "hookimpl",
    "nearest",
    "no_op",
    "ok",
]
