"""What an executor is handed: one run, its payload, and the few things it may ask for.

A context lives for one attempt, in one worker thread, outside any transaction. One is made per run on the hot
path, so it is a plain slots class, and what work seldom asks for is made when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from schedcore.domain.outcome import Outcome

__all__ = ["CheckContext", "Output", "RunContext", "Stop"]


class Stop(Protocol):
    """The order to stop work. It never goes back."""

    reason: str | None
    """``timeout``, ``operator``, ``replaced``, ``shutdown``, ``stopped_itself`` or ``lease_lost``, once set."""

    def is_set(self) -> bool:
        """True once the work should stop."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the work should stop, at most ``timeout`` seconds."""
        ...

    def then(self, call: Callable[[str], None]) -> None:
        """Call ``call(reason)`` when the order comes, from the thread that gives it; at once if it has come."""
        ...


class Output(Protocol):
    """Where the work's output goes: masked, bounded, kept in a file and a tail (L-16)."""

    def stdout(self, data: bytes) -> None:
        """Add bytes to stdout. Never raises; what is over the limit is counted, not kept."""
        ...

    def stderr(self, data: bytes) -> None:
        """Add bytes to stderr, as :meth:`stdout`."""
        ...


class RunContext:
    """One attempt of one run.

    ``payload`` is the executor's own model (or a dict, where it declared a raw schema), with the
    placeholders of every text already replaced, except in the fields it declared ``verbatim``.
    ``variables`` are the ``SCHEDCORE_…`` (and ``DSH_SCHED_…``) variables that work is given.
    ``end_note`` is a path that whoever outlives the host may write (an empty file will do) to say that the
    work of this attempt has ended; a host on this machine reads it and the run stops counting as alive.
    """

    __slots__ = (
        "attempt", "delivery_key", "end_note", "fence", "folder", "granted", "job_id", "job_key", "limit",
        "maker", "masker", "options", "output", "payload", "renderer", "resolver", "run_id", "run_key",
        "scheduled_for", "services", "shelf", "stop", "trigger", "variables", "zone",
    )  # fmt: skip

    maker: Callable[[RunContext, str], Any]
    """How the engine makes what is first asked for; whoever builds a context by hand sets the fields instead."""

    def __getattr__(self, name: str) -> Any:
        if name == "maker" or name not in RunContext.__slots__:
            raise AttributeError(name)
        value = self.maker(self, name)
        setattr(self, name, value)
        return value

    job_id: str
    job_key: str
    run_id: int
    run_key: str
    delivery_key: str
    scheduled_for: datetime
    attempt: int
    fence: int
    trigger: str
    zone: str
    payload: Any
    limit: float
    """Seconds this attempt may take; the engine keeps it too."""
    variables: Mapping[str, str]
    granted: tuple[str, ...]
    """Names of the secrets a person granted to this job."""
    options: Mapping[str, Any]
    """The job's policies that concern its executor: ``block_sensitive``, ``soft_fail``, ``findings_exit``,
    ``approved`` (an approval covers this content) and ``made_by`` (the kind of actor that created the job)."""
    stop: Stop
    output: Output
    folder: Path
    """A folder of this run's own below the host's state folder, mode 0700; it may not exist yet."""
    end_note: Path
    shelf: Any
    renderer: Callable[[str], str]
    resolver: Callable[[str], str]
    masker: Callable[[str], str]
    services: Callable[[str], Any]

    def render(self, text: str) -> str:
        """Replace the placeholders of section 0 (``{{run_key}}`` …) in a text that was kept verbatim."""
        return self.renderer(text)

    def secret(self, name: str) -> str:
        """The value of a granted secret; it is masked in everything stored from now on.

        Raises :class:`schedcore.spec.SecretRefused` when it was not granted or no resolver knows it.
        """
        return self.resolver(name)

    def mask(self, text: str) -> str:
        """The text with every known secret value masked (E-25)."""
        return self.masker(text)

    def service(self, name: str) -> Any:
        """The object another plugin offers by this name, or ``None``."""
        return self.services(name)


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What a check of finished work is handed (A-01). It is read, and nothing goes back by it.

    ``outcome`` is how the work says it ended, ``options`` the checked model of ``assert.options`` (``None``
    where the check declared none). The fields of the run mean what they mean in :class:`RunContext`.
    """

    job_id: str
    job_key: str
    run_id: int
    run_key: str
    delivery_key: str
    scheduled_for: datetime
    attempt: int
    trigger: str
    zone: str
    payload: Any
    variables: Mapping[str, str]
    outcome: Outcome
    options: Any
    workspace: Path | None
    """The folder that the payload names as ``cwd`` or ``workspace``, where the work was done; it may be gone."""
    folder: Path
    """The run's own folder; it may not exist."""
    limit: float
    """Seconds the check may take. Nobody can end its thread: what goes on after them is not listened to."""
    stop: Stop
    """Set when the run is told to stop meanwhile."""
    resolver: Callable[[str], str]
    services: Callable[[str], Any]

    def secret(self, name: str) -> str:
        """As :meth:`RunContext.secret`."""
        return self.resolver(name)

    def service(self, name: str) -> Any:
        """As :meth:`RunContext.service`."""
        return self.services(name)
