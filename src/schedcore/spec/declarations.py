"""What hooks return: frozen values, nothing else.

A declaration names things; it starts nothing. The host collects all of them once, before any loop runs,
into a toolbox that never changes afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schedcore.domain.outcome import Outcome
from schedcore.spec.context import CheckContext, RunContext

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "Check",
    "Executor",
    "Finding",
    "Gate",
    "Listener",
    "Secrets",
    "SensitivityClass",
    "Service",
    "SettingsModel",
    "TriggerKind",
    "Veto",
]


@dataclass(frozen=True, slots=True)
class Executor:
    """A kind of work (E-01).

    ``execute(ctx)`` is called in a worker thread, outside any transaction, once per attempt, and returns an
    :class:`Outcome`. What it raises ends the run ``failed: executor_error`` with the plugin's name. It should
    look at ``ctx.stop`` and return soon after it is set; when it does not, the run is settled without it.

    ``payload`` is a pydantic model, or a JSON Schema as a dict. ``limit`` is the default time limit in
    seconds, ``attempts`` the default number of attempts in all, ``retry_lost=False`` forbids
    ``on_lost = "retry"``. ``verbatim`` names payload fields whose placeholders the executor replaces itself.
    ``check(payload)`` may refuse a payload at creation with ``Refused``, after the model was satisfied.
    ``start`` and ``close`` are called at the host's start and stop, in its own thread.
    ``classes(payload, extra)`` gives the sensitivity classes of a payload, each with the words that matched;
    ``extra`` are the :class:`SensitivityClass` declarations of all plugins and may be left out (E-13).
    ``content(payload)`` names what a payload only points at, with its hash (a script file), so that the digest
    of an approval covers it (E-14). ``limit_of(payload)`` is the payload's own time limit in seconds, if any.
    """

    kind: str
    payload: type[BaseModel] | Mapping[str, Any]
    execute: Callable[[RunContext], Outcome]
    version: str = "1"
    limit: int = 300
    attempts: int = 1
    retry_lost: bool = True
    verbatim: frozenset[str] = frozenset()
    check: Callable[[Any], None] | None = None
    start: Callable[[], None] | None = None
    close: Callable[[], None] | None = None
    classes: Callable[..., Mapping[str, tuple[str, ...]]] | None = None
    content: Callable[[Any], Mapping[str, str]] | None = None
    limit_of: Callable[[Any], int | None] | None = None


@dataclass(frozen=True, slots=True)
class Veto:
    """A gate's no: why, and whether asking again later makes sense (A-17)."""

    reason: str
    passing: bool = True


@dataclass(frozen=True, slots=True)
class Gate:
    """A function that may veto a run before its claim; outside any transaction; raising is ``blocked: gate``.

    ``ask(run)`` gets a mapping with ``job_key``, ``job_id``, ``run_id``, ``run_key``, ``kind``, ``payload``,
    ``scheduled_for`` and ``trigger``, and answers ``None`` (let through) or a :class:`Veto`.
    ``kinds`` limits it to these kinds of work; empty means all.
    """

    name: str
    ask: Callable[[Mapping[str, Any]], Veto | None]
    kinds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Listener:
    """Told of what has happened, at least once, from the outbox, with a mark and a lease of its own (F-05).

    ``topics`` are among ``job.before_create`` (may raise ``Refused``; called in the order's own thread, before
    anything is written), ``job.created``, ``job.paused``, ``job.retired``, ``job.breaker`` (so many runs
    failed in a row that the breaker opened, or stays open after its probe), ``run.final``, ``run.failed``.
    ``tell(event)`` gets a mapping with ``number``, ``topic``, ``at`` (24 characters), ``job`` and, for runs,
    ``run``; raising makes it come again later.
    """

    name: str
    topics: frozenset[str]
    tell: Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Secrets:
    """A resolver of secret names: ``resolve(name)`` answers the value or ``None``. Called at spawn."""

    name: str
    resolve: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class SensitivityClass:
    """A further class of sensitive work: words that, found as whole words, put a script into it (E-13)."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of ``doctor``: how grave (``bad`` or ``note``), what, and what to do."""

    level: str
    what: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A check by name: of the host for ``doctor``, of finished work for the jobs that ask for it, or both.

    ``look`` is read only; what it raises becomes a finding with the plugin's name. ``judge(context)`` is the
    assertion ``{check = NAME}`` of a job (A-01): called once, in a thread of its own, after work that ended ok,
    outside any transaction. It answers ``None`` when the work was really done, else why it was not, in a line.
    Raising, answering something else and running over the assertion's limit count as not done.
    ``options`` is the pydantic model of ``assert.options``; without one the check takes none (A-01).
    """

    name: str
    look: Callable[[], list[Finding]] | None = None
    judge: Callable[[CheckContext], str | None] | None = None
    options: type[BaseModel] | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """An object offered to other plugins by name; made at the first request."""

    name: str
    make: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class SettingsModel:
    """The plugin's table ``[plugins.NAME]`` of the settings: a pydantic model, checked at start.

    ``accept(model)`` is called with the checked settings before any other declaration is used; a table that
    does not fit turns this plugin off, names it, and leaves the others running (R-14).
    """

    name: str
    model: type[BaseModel]
    accept: Callable[[Any], None] = field(default=lambda model: None)


@dataclass(frozen=True, slots=True)
class TriggerKind:
    """A further kind of trigger: ``parse(text, zone)`` gives a slot rule (``schedcore.domain.trigger``)."""

    kind: str
    parse: Callable[[str, str], Any]
