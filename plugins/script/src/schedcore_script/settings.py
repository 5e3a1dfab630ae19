"""The table ``[plugins.script]``: one frozen value, checked at start."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["ScriptSettings"]

_KIB = 1024


class ScriptSettings(BaseModel):
    """What all scripts of a host have in common. A limit that is not set is not applied."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)

    path: str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    """The PATH that scripts are given."""
    kill_grace: Annotated[float, Field(ge=0, le=300)] = 10.0
    """Seconds between TERM and KILL."""
    cwd: str | None = None
    """Where scripts start that name no ``cwd``; unset, the run's own folder."""
    report_max: Annotated[int, Field(ge=_KIB, le=_KIB * _KIB)] = 64 * _KIB
    """Bytes of the file named by ``SCHEDCORE_REPORT``."""
    quarantine_days: Annotated[int, Field(ge=1, le=365)] = 30
    """Days after which what a script left in its run's folder is removed."""
    memory_limit: Annotated[int, Field(ge=16 * _KIB * _KIB)] | None = None
    """Bytes of memory of a run; where no control group may be made, of address space of each of its processes."""
    pid_limit: Annotated[int, Field(ge=1, le=4_194_304)] | None = None
    """Processes of a run; where no control group may be made, of its user, and then not for root."""
    file_size_limit: Annotated[int, Field(ge=0)] | None = None
    """Bytes of any one file that a script writes."""
    nice: Annotated[int, Field(ge=0, le=19)] = 0
    """Added to the priority number of scripts."""
    uid: Annotated[int, Field(ge=0)] | None = None
    """User to run scripts as; needs a host that runs as root, ``gid`` and ``folder``."""
    gid: Annotated[int, Field(ge=0)] | None = None
    folder: Path | None = None
    """Where run folders are made in place of the host's state folder, which another user cannot enter."""
    python: str | None = None
    """The interpreter of the spawner, where this program does not know its own."""

    @property
    def counted(self) -> bool:
        """Whether a limit is set that a control group keeps better than rlimits do."""
        return self.memory_limit is not None or self.pid_limit is not None

    @property
    def confined(self) -> bool:
        """Whether scripts are started under limits or as another user."""
        return self.nice > 0 or any(
            limit is not None for limit in (self.uid, self.memory_limit, self.pid_limit, self.file_size_limit)
        )

    @model_validator(mode="after")
    def _whole_user(self) -> ScriptSettings:
        if (self.uid is None) != (self.gid is None):
            raise ValueError("uid and gid go together")
        if self.uid is not None and self.folder is None:
            raise ValueError("uid needs folder: a place for run folders that this user can enter")
        if self.folder is not None and not self.folder.is_absolute():
            raise ValueError("folder must be an absolute path")
        if self.cwd is not None and not self.cwd.startswith("/"):
            raise ValueError("cwd must be an absolute path")
        return self
