"""What the settings themselves declare, as a plugin would: secrets, and calendars."""

from __future__ import annotations

from collections.abc import Mapping

from schedcore._host.secret_resolver import SettingsSecrets
from schedcore._host.settings import Settings
from schedcore.spec import Calendar, hookimpl

__all__ = ["SettingsPlugin"]


class SettingsPlugin(SettingsSecrets):
    """A plugin that is always there, before all others; its name is ``settings``."""

    def __init__(self, settings: Settings, env: Mapping[str, str] | None = None) -> None:
        super().__init__(settings, env)
        self._calendars = settings.calendars

    @hookimpl
    def schedcore_calendars(self) -> list[Calendar]:
        """Those of the table ``calendars`` (F-15)."""
        return list(self._calendars.values())
