"""The file source: jobs declared in the settings file and in job files, by key (F-16).

A job file is TOML or JSON. It holds ``[jobs.KEY]`` tables, or a list ``[[jobs]]`` with a key in each; a JSON
file may also be such a list alone. ``{{folder}}`` in its texts is the folder that it lies in, because a job
starts nowhere in particular. Reading writes nothing; what is at fault stands apart from what is good.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedcore._host.setting_fields import FIELDS, RAW
from schedcore.domain.errors import Refused, nearest

if TYPE_CHECKING:
    from schedcore._host.settings import Settings

__all__ = ["SOURCE", "Declared", "files_of", "read_all", "read_file", "source_of", "stamp"]

SOURCE = "file"
"""The source of the jobs that a host's own settings declare."""

_FOLDER = "{{folder}}"
_MOST = 64 * 1024 * 1024
_SETTINGS = {key.partition(".")[0] for key in FIELDS} | set(RAW)


@dataclass(slots=True)
class Declared:
    """Orders by key, where each was found, and what could not be read."""

    orders: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    found_in: dict[str, str] = field(default_factory=dict)
    faults: list[Refused] = field(default_factory=list)

    def take(self, jobs: Any, where: str) -> None:
        """Add what one file declares; a key that is there already is a fault that names both files."""
        for key, order in self._pairs(jobs, where):
            if key in self.orders:
                said = f"job {key!r} is declared in {self.found_in[key]} and in {where}"
                self.faults.append(Refused(said, code="given_twice", field=f"jobs.{key}", hint="keep one"))
            else:
                self.orders[key], self.found_in[key] = order, where

    def _pairs(self, jobs: Any, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        folder = str(Path(where).absolute().parent)
        if isinstance(jobs, Mapping):
            pairs: Iterable[tuple[Any, Any]] = jobs.items()
        elif isinstance(jobs, list | tuple):
            pairs = (
                (job.get("key", job.get("id")) if isinstance(job, Mapping) else None, job) for job in jobs
            )
        else:
            pairs = ((None, jobs),)
        for number, (key, order) in enumerate(pairs):
            if not isinstance(order, Mapping) or not isinstance(key, str) or not key:
                what = "a job in a list needs a key" if isinstance(order, Mapping) else "a job is a table"
                hint = "write [jobs.KEY] tables, or [[jobs]] with a key in each"
                at = f"jobs[{number}]" if key is None else f"jobs.{key}"
                self.faults.append(Refused(f"{what} ({where})", code="bad_type", field=at, hint=hint))
                continue
            yield key, _placed(order, folder)


def read_all(settings: Settings) -> Declared:
    """Everything that a host declares: its settings file's jobs, and those of ``job_files``."""
    declared = Declared()
    if settings.jobs:
        declared.take(settings.jobs, str(settings.config or settings.folder / "settings"))
    for path in files_of(settings):
        _read_into(declared, path)
    return declared


def read_file(path: Path) -> Declared:
    """What one job file declares; a settings file may be given, too."""
    declared = Declared()
    _read_into(declared, path)
    return declared


def source_of(settings: Settings, path: Path) -> str:
    """The source of a file given by hand: the host's own for one of its own files, else one by its name."""
    own = {file.resolve() for file in files_of(settings)}
    if settings.config is not None:
        own.add(settings.config.resolve())
    return SOURCE if path.resolve() in own else f"{SOURCE}:{path.name}"


def files_of(settings: Settings) -> list[Path]:
    """The job files there are, in order of name: those of a folder, or that fit a glob; no hidden ones."""
    found: set[Path] = set()
    for pattern in settings.job_files:
        base = settings.folder / pattern
        if base.is_dir():
            found |= {*base.glob("*.toml"), *base.glob("*.json")}
        else:
            anchor = Path(base.anchor)
            found |= set(anchor.glob(str(base.relative_to(anchor))))
    return sorted(path for path in found if path.is_file() and not path.name.startswith("."))


def stamp(settings: Settings) -> dict[str, tuple[int, int, int]]:
    """What tells cheaply that a file has changed: time, size and inode of each."""
    paths = [*([settings.config] if settings.config else []), *files_of(settings)]
    stamps = {}
    for path in paths:
        try:
            state = path.stat()
        except OSError:
            continue
        stamps[str(path)] = (state.st_mtime_ns, state.st_size, state.st_ino)
    return stamps


def _read_into(declared: Declared, path: Path) -> None:
    try:
        jobs = _jobs(path)
    except Refused as error:
        declared.faults.append(error)
    else:
        declared.take(jobs, str(path))


def _jobs(path: Path) -> Any:
    data = _parsed(path)
    if isinstance(data, list):
        return data
    if not isinstance(data, Mapping):
        raise Refused(f"{path} holds no jobs", code="bad_file", field="jobs", hint="write [jobs.KEY] tables")
    for name in data:
        if name != "jobs" and name not in _SETTINGS:
            hint = nearest(str(name), _SETTINGS) or "a job file has the table jobs"
            raise Refused(f"{path}: there is no such field", code="unknown_field", field=str(name), hint=hint)
    return data.get("jobs", {})


def _parsed(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
        if len(data) > _MOST:
            raise Refused(f"{path} is larger than 64 MiB", code="bad_file", field="jobs")
        text = data.decode("utf-8-sig")
        return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}", code="bad_file", field="jobs") from None
    except UnicodeDecodeError:
        raise Refused(f"{path} is not UTF-8", code="bad_file", field="jobs") from None
    except (ValueError, RecursionError) as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise Refused(f"{path} is not {kind}: {error}", code="bad_file", field="jobs") from None


def _placed(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace(_FOLDER, folder)
    if isinstance(value, Mapping):
        return {name: _placed(part, folder) for name, part in value.items()}
    if isinstance(value, list):
        return [_placed(part, folder) for part in value]
    return value
