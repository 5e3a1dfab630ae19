"""The file source while a host serves: files are read again when they change, and what is bad changes nothing.

A job that vanishes from the files while they are watched is retired. One that had vanished before is only
named: this host cannot know whether another host's files declare it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from schedcore._host import job_files
from schedcore.domain.errors import Conflict, LedgerError, NotFound, Refused, SchedcoreError

if TYPE_CHECKING:
    from schedcore._host.control import Control
    from schedcore._host.settings import Settings

__all__ = ["FileSource"]

log = logging.getLogger("schedcore.files")


class FileSource:
    """Keeps the jobs of one host's files in its ledger.

    ``load`` reads the settings anew, ``control`` orders as the source. What the ledger cannot take now is taken
    at a later :meth:`look`: nothing is noted as seen before it is done.
    """

    def __init__(self, settings: Settings, load: Callable[[], Settings], control: Control) -> None:
        self._settings = settings
        self._load = load
        self._control = control
        self._stamp: Mapping[str, Any] = {}
        self._known: dict[str, Mapping[str, Any]] = {}

    def begin(self) -> dict[str, Any] | None:
        """Take what the files declare; answers what that changed, or ``None`` where they declare nothing."""
        stamp = job_files.stamp(self._settings)
        declared = job_files.read_all(self._settings)
        self._complain(declared.faults)
        found = self._apply(declared.orders) if declared.orders else None
        self._stamp = stamp
        if found is None:
            return None
        self._known = dict(declared.orders)
        if strangers := found.get("would_retire"):
            keys = ", ".join(str(job["key"]) for job in strangers)
            log.warning("no longer declared, and left as they are: %s; see `schedcore apply --prune`", keys)
        return found

    def look(self) -> dict[str, Any] | None:
        """Take changes, if the files have changed since the last look; answers what that changed.

        A file that cannot be read keeps all jobs as they are; a job that is refused keeps its old form. Raises
        what the ledger raises; the next look tries again.
        """
        stamp = job_files.stamp(self._settings)
        if stamp == self._stamp:
            return None
        found = self._taken()
        self._stamp = stamp
        return found

    def _taken(self) -> dict[str, Any] | None:
        try:
            settings = self._load()
        except Refused as error:
            log.warning("the settings were not read again, nothing was changed: %s", error)
            return None
        self._compare(settings)
        declared = job_files.read_all(settings)
        if declared.faults:
            self._complain(declared.faults)
            log.warning("nothing was changed, because the files could not be read whole")
            return None
        found: dict[str, Any] = {"changes": False, "retires": []}
        if declared.orders:
            found = self._apply(declared.orders)
        gone = [key for key in self._known if key not in declared.orders]
        found["retires"] = [*found["retires"], *(job for key in gone if (job := self._retire(key)))]
        found["changes"] = bool(found["changes"] or found["retires"])
        self._known = dict(declared.orders)
        return found

    def _apply(self, orders: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        found = self._control.apply(orders, source=job_files.SOURCE)
        for job in found["rejects"]:
            for error in job["errors"]:
                hint = f" ({error['hint']})" if error.get("hint") else ""
                where = ".".join(part for part in (job["external_id"], error.get("field")) if part)
                log.warning("job %s is refused: %s%s", where, error["message"], hint)
        return found

    def _retire(self, key: str) -> dict[str, Any] | None:
        try:
            shown = self._control.show(key)
            if shown["key"] != key or shown["source"] != job_files.SOURCE or shown["state"] == "retired":
                return None
            return self._control.remove(shown["id"], reason="its file no longer declares it")
        except (Conflict, NotFound):  # somebody was faster
            return None
        except LedgerError:
            raise
        except SchedcoreError as error:
            log.warning("job %s could not be retired: %s", key, error)
            return None

    def _compare(self, settings: Settings) -> None:
        """Settings hold from the start of a host; only its jobs are taken while it serves."""
        old, new = self._settings.shown(), settings.shown()
        changed = sorted(
            name
            for name in old.keys() | new.keys()
            if old.get(name, {}).get("value") != new.get(name, {}).get("value")
            and not name.startswith("jobs")
        )
        changed = [name for name in changed if name not in {"name", "job_files"}]
        if changed:
            log.warning("changed, and taken only at the next start: %s", ", ".join(changed))
        self._settings = settings

    @staticmethod
    def _complain(faults: list[Refused]) -> None:
        for error in faults:
            log.warning("a job file was refused: %s", error)
