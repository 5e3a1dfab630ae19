"""Where things are on this machine when nobody says: the state folder, the configuration file.

A service never guesses: what systemd hands over comes first, then the XDG folders of the user.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from schedcore.domain.errors import Refused

__all__ = ["default_config_path", "default_state_folder", "host_name", "make_state_folder"]

CONFIG_NAME = "schedcore.toml"


def default_config_path(env: Mapping[str, str]) -> Path | None:
    """The configuration file to read when none is named, or ``None`` when there is none.

    ``SCHEDCORE_CONFIG`` (whether it exists or not), the folder systemd gives, ``./schedcore.toml``, the
    user's, ``/etc/schedcore/schedcore.toml``.
    """
    if named := env.get("SCHEDCORE_CONFIG"):
        return Path(named)
    folders = [Path(part) for part in env.get("CONFIGURATION_DIRECTORY", "").split(":") if part]
    folders += [Path(), _xdg(env, "XDG_CONFIG_HOME", ".config") / "schedcore", Path("/etc/schedcore")]
    return next((path for folder in folders if (path := folder / CONFIG_NAME).is_file()), None)


def default_state_folder(env: Mapping[str, str]) -> Path:
    """``$STATE_DIRECTORY`` (its first folder), else ``~/.local/state/schedcore``. Nothing is created."""
    for part in env.get("STATE_DIRECTORY", "").split(":"):
        if part:
            return Path(part)
    return _xdg(env, "XDG_STATE_HOME", ".local/state") / "schedcore"


def make_state_folder(folder: Path) -> Path:
    """The folder, made with mode 0700 where it is missing; one that is there keeps its mode.

    Raises ``Refused`` when it cannot be made or written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, f"cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unusable(folder, "cannot be written by this user")
    return folder


def host_name() -> str:
    """The name of a host that was given none: the machine and the process."""
    machine = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in os.uname().nodename)
    return f"{machine.strip('.-')[:80] or 'host'}-{os.getpid()}"


def _xdg(env: Mapping[str, str], name: str, below_home: str) -> Path:
    """An XDG folder; a relative one counts as not set, as the specification has it."""
    given = Path(env.get(name) or ".")
    return given if given.is_absolute() else Path(env.get("HOME") or os.path.expanduser("~")) / below_home


def _unusable(folder: Path, why: str) -> Refused:
    hint = "name another folder as state_folder, or $STATE_DIRECTORY"
    return Refused(
        f"the folder {folder} {why}", code="state_folder", field="state_folder", value=str(folder), hint=hint
    )
