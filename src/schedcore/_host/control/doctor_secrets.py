"""Do the secrets that were granted resolve? Asked here, as a run would ask; a value is thrown away at once (R-11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from schedcore._host.control.doctor_jobs import active_jobs
from schedcore.spec.secrets import SecretRefused

if TYPE_CHECKING:
    from schedcore._engine.toolbox import Toolbox
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["granted", "secrets"]

_ASK = "if only the service has it, ask where its environment is"


def granted(control: Asker, c: Connection) -> dict[str, list[str]]:
    """The secrets granted to active jobs, each with the keys of those jobs."""
    found: dict[str, list[str]] = {}
    for row, job in active_jobs(control, c):
        if not isinstance(job, Exception):
            for name in job.policies.secrets:
                found.setdefault(name, []).append(row["key"])
    return found


def secrets(toolbox: Toolbox, wanted: Mapping[str, list[str]]) -> Iterator[dict[str, Any]]:
    """A finding for each job and secret that cannot be had here; outside any transaction, each name asked once."""
    for name, keys in sorted(wanted.items()):
        why = _why_not(toolbox, name)
        for key in keys if why is not None else ():
            yield {"level": "bad", "check": "secrets", "what": why, "remedy": _ASK, "job": key}


def _why_not(toolbox: Toolbox, name: str) -> str | None:
    try:
        value = toolbox.secret(name)
    except SecretRefused as error:
        return error.message
    except Exception as error:  # its text may hold what nobody may read
        return f"a resolver of the secret {name!r} raised {type(error).__name__}"
    return f"no resolver knows the secret {name!r}" if value is None else None
