"""What a host is told: one frozen value, checked whole before anything starts (R-14).

Reading it costs no more than TOML and a table of fields: models of plugins, the ledger and its drivers are
not imported here, because every command loads settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from schedcore._host.folders import default_config_path
from schedcore._host.setting_layers import gather_layers
from schedcore._host.setting_readers import Group, SecretSource
from schedcore._host.setting_reading import origins, places, read_layers
from schedcore.domain.calendar import Calendar
from schedcore.domain.clock import SECOND
from schedcore.domain.errors import Refused
from schedcore.domain.policy import Policies

if TYPE_CHECKING:
    from schedcore._engine.state import EngineSettings

__all__ = [
    "Examined",
    "Group",
    "SecretSource",
    "Settings",
    "default_config_path",
    "examine",
    "load",
    "to_engine",
]


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of one host. Lengths of time are seconds.

    ``jobs`` and ``job_files`` are raw: the file source reads them. ``plugin_tables`` are raw too: each plugin
    checks its own. ``origin`` maps dotted keys to where the value came from: a path, a variable,
    ``command line`` or ``default``. ``config`` is the file that was read.
    """

    ledger: str
    state_folder: Path
    backup_folder: Path
    name: str
    timezone: str = "UTC"
    language: str = "en"
    workers: int = 4
    beat: float = 60
    lease: float = 60
    batch: int = 500
    claim_ahead: int = 500
    accept_weaker: tuple[str, ...] = ()
    catch_up_apart: float = 5
    late_warning: float = 300
    backup_keep: int = 14
    drain: float = 30
    kill_grace: float = 10
    every_floor: int = 60
    day_time: str = "09:00"
    output_max: int = 64 * 1024 * 1024
    tags: tuple[str, ...] = ()
    environment: str | None = None
    log_level: str = "info"
    log_format: str = "auto"
    groups: Mapping[str, Group] = field(default_factory=_nothing)
    calendars: Mapping[str, Calendar] = field(default_factory=_nothing)
    policies: Policies = field(default_factory=Policies)
    secrets: Mapping[str, SecretSource] = field(default_factory=_nothing)
    kind_limits: Mapping[str, int] = field(default_factory=_nothing)
    """Default time limits by kind of work that replace the executor's own; only older names set them."""
    plugins_enabled: tuple[str, ...] | None = None
    plugins_disabled: tuple[str, ...] = ()
    plugin_tables: Mapping[str, Mapping[str, Any]] = field(default_factory=_nothing)
    jobs: Any = field(default_factory=_nothing)
    job_files: tuple[str, ...] = ()
    config: Path | None = None
    origin: Mapping[str, str] = field(default_factory=_nothing)
    warnings: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder that relative paths of the file are below: that of the file, else the working one."""
        return self.config.absolute().parent if self.config is not None else Path.cwd()

    def shown(self) -> dict[str, dict[str, Any]]:
        """Every setting with ``value`` and ``origin``, by dotted key; what may be secret is masked."""
        from schedcore._host.setting_views import shown

        return shown(self)


@dataclass(frozen=True, slots=True)
class Examined:
    """What ``config check`` says: the settings, if they can be used, and everything that is wrong."""

    settings: Settings | None
    faults: tuple[Refused, ...]
    warnings: tuple[str, ...]


def load(
    config: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    spoken: str = "command line",
) -> Settings:
    """The settings of a host; ``config=None`` reads no file (see :func:`default_config_path`).

    ``env`` is the process's own unless given; ``overrides`` maps dotted keys to values, ``None`` meaning "not
    given", and ``spoken`` is what their origin is called. Raises ``Refused`` with the field path, the value and
    what to write instead; nothing is created.
    """
    found = examine(config, env, overrides, spoken=spoken)
    if found.settings is None:
        raise found.faults[0]
    return found.settings


def examine(
    config: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    spoken: str = "command line",
) -> Examined:
    """As :func:`load`, with all faults at once."""
    env = os.environ if env is None else env
    file = Path(config) if config is not None else None
    try:
        layers = gather_layers(file, env, overrides or {}, spoken)
    except Refused as error:
        return Examined(None, (error,), ())
    values, faults = read_layers(layers)
    faults = [*layers.faults, *faults]
    warnings = tuple(layers.warnings)
    if faults:
        return Examined(None, tuple(faults), warnings)
    values.update(places(values, layers, file, env))
    settings = Settings(**values, config=file, origin=origins(layers), warnings=warnings)
    return Examined(settings, (), warnings)


def to_engine(settings: Settings) -> EngineSettings:
    """What the engine is told; windows of groups are in microseconds there, as in the ledger."""
    from schedcore._engine.state import EngineSettings

    return EngineSettings(
        workers=settings.workers,
        beat=settings.beat,
        lease=settings.lease,
        batch=settings.batch,
        claim_ahead=settings.claim_ahead,
        catch_up_apart=settings.catch_up_apart,
        late_warning=settings.late_warning,
        drain=settings.drain,
        kill_grace=settings.kill_grace,
        tags=frozenset(settings.tags),
        environment=settings.environment,
        output_max=settings.output_max,
        groups=tuple(
            (name, g.places, g.rate, g.window * SECOND if g.window else None)
            for name, g in settings.groups.items()
        ),
        policies=settings.policies,
    )
