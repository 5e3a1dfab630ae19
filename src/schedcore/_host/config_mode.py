"""Who else can read or change what a host is told: the file's mode, for ``doctor``."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from schedcore._host.setting_views import holds_secret
from schedcore._host.settings import Settings
from schedcore.spec import Finding

__all__ = ["config_findings"]

_WRITE = stat.S_IWGRP | stat.S_IWOTH
_READ = stat.S_IRGRP | stat.S_IROTH
_ROOT = 0


def config_findings(settings: Settings) -> list[Finding]:
    """What is wrong with the modes of the settings file, its folder and the state folder. Read only."""
    found: list[Finding] = []
    if settings.config is not None:
        found += _of_file(settings.config, settings)
    mode = _mode(settings.state_folder)
    if mode is not None and mode & (_WRITE | stat.S_IROTH):
        found.append(
            Finding(
                "bad" if mode & _WRITE else "note",
                f"the state folder {settings.state_folder} has mode {mode:04o}",
                f"chmod 700 {settings.state_folder}",
            )
        )
    return found


def _of_file(path: Path, settings: Settings) -> list[Finding]:
    found = []
    mode, above = _mode(path), _mode(path.absolute().parent)
    if mode is None or above is None:
        return [Finding("bad", f"the settings file {path} is gone", "restore it before the next start")]
    if mode & _WRITE:
        what = f"others may write the settings file {path} (mode {mode:04o}), and so decide what runs here"
        found.append(Finding("bad", what, f"chmod go-w {path}"))
    if above & _WRITE and not above & stat.S_ISVTX:
        what = f"others may replace the settings file {path}: its folder has mode {above:04o}"
        found.append(Finding("bad", what, f"chmod go-w {path.absolute().parent}"))
    owner = path.stat().st_uid
    if owner not in {os.geteuid(), _ROOT}:
        found.append(Finding("bad", f"the settings file {path} belongs to user {owner}", f"chown {path}"))
    if mode & _READ and holds_secret(settings):
        what = f"others may read the settings file {path} (mode {mode:04o}), and there is a secret in it"
        found.append(Finding("bad", what, f"chmod 600 {path}, or move the secret to [secrets]"))
    return found


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None
