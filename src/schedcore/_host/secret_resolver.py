"""The core's own resolver of secrets: those that ``[secrets]`` names, then ``SCHEDCORE_SECRET_NAME`` (F-08).

A value is read when a run needs it, and kept by nobody here. A secret that the settings name and that is
not where they say is refused: another resolver's value would not be what was meant.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from schedcore._host.setting_readers import SecretSource, absolute
from schedcore._host.settings import Settings
from schedcore.spec import SecretRefused, Secrets, hookimpl

__all__ = ["SettingsSecrets"]

_MOST = 64 * 1024


class SettingsSecrets:
    """What the settings say of secrets, as a plugin has it."""

    def __init__(self, settings: Settings, env: Mapping[str, str] | None = None) -> None:
        self._sources = settings.secrets
        self._folder = settings.folder
        self._env = os.environ if env is None else env

    @hookimpl
    def schedcore_secrets(self) -> list[Secrets]:
        """The resolver."""
        return [Secrets("settings", self.resolve)]

    def resolve(self, name: str) -> str | None:
        """The value, or ``None`` for a name nobody gave here.

        Raises ``SecretRefused`` when the settings name it and it cannot be had.
        """
        source = self._sources.get(name)
        if source is None:
            variable = "SCHEDCORE_SECRET_" + re.sub(r"[^A-Z0-9_]", "_", name.upper())
            return self._env.get(variable) or None
        value = self._value(name, source)
        if not value:
            raise _missing(name, source, "is empty")
        return value

    def _value(self, name: str, source: SecretSource) -> str:
        if source.how == "env":
            if source.where not in self._env:
                raise _missing(name, source, "is not set")
            return self._env[source.where]
        if source.how == "credential":
            folder = self._env.get("CREDENTIALS_DIRECTORY")
            if not folder:
                raise _missing(name, source, "is not here: CREDENTIALS_DIRECTORY is not set")
            return _text(name, source, Path(folder) / Path(source.where).name)
        return _text(name, source, absolute(source.where, self._folder))


def _text(name: str, source: SecretSource, path: Path) -> str:
    """The text of a file, without the line end that editors add."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
        text = data.decode()
    except OSError as error:
        raise _missing(name, source, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _missing(name, source, "is not UTF-8") from None
    if len(data) > _MOST:
        raise _missing(name, source, f"is longer than {_MOST} bytes")
    return text.removesuffix("\n").removesuffix("\r")


def _missing(name: str, source: SecretSource, why: str) -> SecretRefused:
    what = {"env": "the variable", "file": "the file", "credential": "the credential"}[source.how]
    return SecretRefused(
        f"{what} {source.where} of the secret {name!r} {why}",
        field=f"secrets.{name}",
        value=name,
        hint="see [secrets] in the settings",
    )
