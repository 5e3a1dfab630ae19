"""The frozen toolbox: what the plugins declared, and jobs compiled from their definitions.

A compiled job is made from one definition's texts and never changes; the cache of them is bounded and decides
nothing (L-01): drop it and the next batch reads the ledger again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

from schedcore.domain.calendar import Calendar
from schedcore.domain.policy import Policies, Resolved, resolve
from schedcore.domain.trigger import Trigger
from schedcore.domain.trigger_parts import TriggerKinds
from schedcore.spec.declarations import Check, Executor, Gate, Listener, Secrets, SensitivityClass

__all__ = ["Compiled", "Compiler", "Needs", "Toolbox", "needs_text"]

_KEPT = 4096
_OWN = ("cron", "every", "at")


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Everything declared by the plugins of this host, each with the name of its plugin."""

    executors: Mapping[str, tuple[str, Executor]] = field(default_factory=lambda: MappingProxyType({}))
    gates: tuple[tuple[str, Gate], ...] = ()
    listeners: tuple[tuple[str, Listener], ...] = ()
    secrets: tuple[tuple[str, Secrets], ...] = ()
    sensitivity: tuple[tuple[str, SensitivityClass], ...] = ()
    checks: tuple[tuple[str, Check], ...] = ()
    services: Mapping[str, Callable[[], Any]] = field(default_factory=lambda: MappingProxyType({}))
    triggers: TriggerKinds = field(default_factory=lambda: MappingProxyType({}))
    calendars: Mapping[str, Calendar] = field(default_factory=lambda: MappingProxyType({}))

    def gates_of(self, kind: str) -> tuple[tuple[str, Gate], ...]:
        """The gates that are asked about this kind of work."""
        return tuple((who, gate) for who, gate in self.gates if not gate.kinds or kind in gate.kinds)

    def judges(self) -> dict[str, Check]:
        """The checks of finished work, by name (A-01)."""
        return {check.name: check for _, check in self.checks if check.judge is not None}

    def secret(self, name: str) -> str | None:
        """The value of a secret, by the first resolver that knows it."""
        for _, resolver in self.secrets:
            value = resolver.resolve(name)
            if value is not None:
                return value
        return None


@dataclass(frozen=True, slots=True)
class Needs:
    """What a lane asks of a host, and the groups whose places its runs take."""

    kind: str
    tags: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @staticmethod
    @lru_cache(_KEPT)
    def read(text: str) -> Needs:
        """The inverse of :func:`needs_text`."""
        data = orjson.loads(text)
        return Needs(
            data["kind"],
            tuple(data.get("tags", ())),
            tuple(data.get("environments", ())),
            tuple(data.get("groups", ())),
        )


def needs_text(kind: str, policies: Policies | Resolved) -> str:
    """The canonical text of a lane."""
    data: dict[str, Any] = {"kind": kind}
    for name in ("tags", "environments", "groups"):
        if value := getattr(policies, name):
            data[name] = sorted(value)
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode()


class Compiled:
    """One definition of one job, ready to be decided about. Never changed after it is made."""

    __slots__ = (
        "bare",
        "creator_kind",
        "digest",
        "jittered",
        "job_id",
        "key",
        "kind",
        "limit",
        "name",
        "next",
        "number",
        "payload",
        "plain",
        "policies",
        "state",
        "state_reason",
        "swift",
        "trigger",
        "uid",
    )  # fmt: skip

    job_id: int
    number: int
    uid: str
    key: str
    name: str
    kind: str
    trigger: Trigger | None
    policies: Resolved
    payload: str
    state: str
    state_reason: str | None
    creator_kind: str
    digest: str
    jittered: bool
    bare: bool
    """A due slot of this job is its ``next_run_at``: no jitter puts it off, and no calendar drops slots before it."""
    limit: int
    """Seconds one attempt may take: the payload's own word, where its executor reads one, else the policy's."""
    plain: bool
    """Nothing but room stands between a due slot of this job and its start."""

    swift: bool
    """Active, plain and bare, with neither count nor late limit."""
    next: Callable[[int], int | None]
    """The next slot after an instant."""

    @property
    def zone(self) -> str:
        """The job's zone."""
        return self.trigger.zone if self.trigger is not None else "UTC"


class Compiler:
    """Compiles definitions of the ledger, each text once while it stays in the cache."""

    def __init__(self, toolbox: Toolbox, host_policies: Policies) -> None:
        self._toolbox = toolbox
        self._host = host_policies
        self._made: OrderedDict[tuple[int, int], Compiled | Exception] = OrderedDict()
        self.trigger = lru_cache(_KEPT)(self._read_trigger)
        self._policies = lru_cache(_KEPT)(self._resolve)
        self.shape = lru_cache(_KEPT)(self._shape)

    def of(
        self, keys: Iterable[tuple[int, int]], read: Callable[[list[tuple[int, int]]], list[list[Any]]]
    ) -> dict[tuple[int, int], Compiled | Exception]:
        """The compiled definitions of (job id, number) pairs; an unreadable one is its error.

        ``read`` is asked once for those that are not in the cache.
        """
        made = self._made
        wanted = set(keys)
        missing = [k for k in wanted if k not in made]
        found = {k: made[k] for k in wanted if k in made}
        if missing:
            for row in read(missing):
                key = (row[0], row[1])
                found[key] = self._compile(row)
                made[key] = found[key]
            while len(made) > _KEPT:
                made.popitem(last=False)
        return found

    def _read_trigger(self, text: str) -> Trigger | None:
        """The trigger of a stored text; ``None`` for a job without one. Raises what reading it raises."""
        data = orjson.loads(text)
        return None if data is None else Trigger.from_dict(data, kinds=self._toolbox.triggers)

    def _resolve(self, text: str, kind: str) -> Resolved:
        declared = self._toolbox.executors.get(kind)
        of_kind = Policies()
        retry_lost = True
        if declared is not None:
            of_kind = Policies(attempts=declared[1].attempts, timeout=declared[1].limit)
            retry_lost = declared[1].retry_lost
        return resolve(Policies.from_dict(orjson.loads(text)), self._host, of_kind, retry_lost=retry_lost)

    def policies(self, text: str, kind: str) -> Resolved:
        """The policies that hold here for a stored text."""
        return self._policies(text, kind)

    def _limit(self, job: Compiled, limit_of: Callable[[Any], int | None]) -> int:
        model = self._toolbox.executors[job.kind][1].payload
        payload = orjson.loads(job.payload)
        try:
            own = limit_of(payload if isinstance(model, Mapping) else model.model_validate(payload))
        except Exception:  # the run itself will say what is wrong with the payload
            return job.policies.timeout
        return own or job.policies.timeout

    def _shape(self, trigger_text: str, policies_text: str, kind: str) -> _Shape:
        """All that follows from texts many jobs share: made once for all of them."""
        trigger, policies = self.trigger(trigger_text), self._policies(policies_text, kind)
        jittered = trigger is not None and trigger.jitter > 0
        plain = not policies.groups and policies.on_full == "wait" and not self._toolbox.gates_of(kind)
        bare = trigger is not None and not jittered and not trigger.drops
        swift = (
            plain
            and bare
            and trigger is not None
            and trigger.kind in _OWN  # a plugin's rule may raise, and is asked with care
            and trigger.count is None
            and not policies.late_limit
        )
        following = trigger.line.next if trigger is not None else _never
        declared = self._toolbox.executors.get(kind)
        limit_of = declared[1].limit_of if declared is not None else None
        return _Shape(trigger, policies, jittered, bare, plain, swift, following, limit_of)

    def _compile(self, row: list[Any]) -> Compiled | Exception:
        job = Compiled()
        (
            job.job_id, job.number, job.uid, job.key, job.kind, trigger, policies, job.payload, job.state,
            job.state_reason, job.creator_kind, job.digest, job.name,
        ) = row  # fmt: skip
        try:
            shape = self.shape(trigger, policies, job.kind)
        except Exception as error:  # whatever storage holds, it stays with this job (G16)
            return error
        job.trigger, job.policies, job.jittered, job.bare, job.plain, swift, job.next, limit_of = shape
        job.swift = swift and job.state == "active"
        job.limit = job.policies.timeout if limit_of is None else self._limit(job, limit_of)
        return job


class _Shape(NamedTuple):
    trigger: Trigger | None
    policies: Resolved
    jittered: bool
    bare: bool
    plain: bool
    swift: bool
    next: Callable[[int], int | None]
    limit_of: Callable[[Any], int | None] | None


def _never(after: int) -> int | None:
    """The next slot of a job without a trigger."""
    return None
