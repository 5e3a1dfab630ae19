"""A job as it is ordered: read from TOML, JSON or a form, whole and checked, before anything is written.

This is the one reader for job files, the command line, REST and MCP; it knows every alias of
``features.md`` 0. What the payload's fields mean, whether a kind is offered and whether the key is free are
asked elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Self

from schedcore.domain import job_fields as read
from schedcore.domain.calendar import Calendars
from schedcore.domain.errors import Refused
from schedcore.domain.job_form import payload_of, read_form, repair
from schedcore.domain.job_trigger import Appointed, read_trigger
from schedcore.domain.names import KINDS
from schedcore.domain.policy import Policies
from schedcore.domain.reading import plain, wrong
from schedcore.domain.trigger import Trigger
from schedcore.domain.trigger_parts import TriggerKinds

__all__ = ["JobOrder"]

_LINE = 200
_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class JobOrder:
    """What somebody wants done, and when.

    ``state`` is ``active`` or ``paused``; ``reason`` why it was classified as it was; ``labels`` maps names
    to short texts. ``notify`` and ``deliver_to`` are kept for the rooms that deliver. ``immediate`` says that
    no trigger was given, so that it is a one-shot due at once (T-21).
    """

    key: str
    name: str
    kind: str
    payload: Mapping[str, Any]
    appointed: Appointed
    policies: Policies
    toolset: tuple[str, ...] = ()
    owner: str | None = None
    scope: str | None = None
    labels: Mapping[str, str] | None = None
    state: str = "active"
    description: str | None = None
    reason: str | None = None
    notify: Mapping[str, Any] | None = None
    deliver_to: Mapping[str, Any] | None = None

    @property
    def trigger(self) -> Trigger:
        """When it has its slots."""
        return self.appointed.trigger

    @property
    def zone(self) -> str:
        """The job's zone, an IANA key."""
        return self.appointed.trigger.zone

    @property
    def immediate(self) -> bool:
        """Was no trigger given?"""
        return self.appointed.relative == "now"

    @classmethod
    def parse(
        cls,
        data: Mapping[str, Any],
        *,
        now_us: int,
        default_zone: str = "UTC",
        floor_s: int = 60,
        known_kinds: tuple[str, ...] | None = None,
        trigger_kinds: TriggerKinds | None = None,
        calendars: Calendars | None = None,
        past_ok: bool = False,
    ) -> Self:
        """Read a job ordered at ``now_us``; ``default_zone`` and ``floor_s`` are the host's.

        ``known_kinds`` are the kinds of work there are, if that is known; ``calendars`` what there is of
        calendars; ``past_ok`` takes a one-shot of any age, for a declaration that is read again. Raises
        ``Refused`` with the path of the field, the value and what to write instead.
        """
        form = read_form(data)
        key = form.read("key", read.read_key)
        if key is None:
            raise wrong("a job needs a key", "key", None, "missing", "such as 'backup'")
        kind = form.read("kind", lambda value, field: read.read_kind(value, known_kinds, field))
        if kind is None:
            offered = ", ".join(known_kinds or KINDS.own)
            raise wrong("a job needs a kind of work", "kind", None, "missing", f"one of: {offered}")
        return cls(
            key=key,
            name=form.read("name", _line, key),
            kind=kind,
            payload=read.read_payload(payload_of(form), form.name("payload")),
            appointed=read_trigger(
                form.given.get("trigger"),
                form.flat,
                now_us=now_us,
                default_zone=default_zone,
                floor_s=floor_s,
                past_ok=past_ok,
                kinds=trigger_kinds,
                calendars=calendars,
                nested_name=form.name("trigger"),
            ),
            policies=Policies.parse(form.policies),
            toolset=form.read("toolset", read.read_toolset, ()),
            owner=form.read("owner", _line),
            scope=form.read("scope", _line),
            labels=form.read("labels", read.read_labels, {}),
            state=form.read("state", read.read_state, "active"),
            description=form.read("description", _text),
            reason=form.read("reason", _text),
            notify=form.read("notify", read.read_notify),
            deliver_to=form.read("deliver_to", read.read_deliver_to),
        )

    @classmethod
    def errors(cls, data: Mapping[str, Any], **how: Any) -> list[Refused]:
        """Everything :meth:`parse` would refuse, at most one error a field; empty for a good order."""
        found: list[Refused] = []
        rest = dict(data)
        for _ in range(len(rest) + 3):
            try:
                cls.parse(rest, **how)
            except Refused as error:
                found.append(error)
                repair(rest, error.field or "", how.get("known_kinds") or KINDS.own)
            else:
                break
        return found

    def like(self, key: Any, name: Any, payload: Any, named: tuple[str, str, str]) -> Self:
        """The same order for another job, of which these three are read; ``named`` says under which names.

        Raises ``Refused`` as :meth:`parse` does.
        """
        own = read.read_key(key, named[0])
        return replace(
            self,
            key=own,
            name=own if name is None else _line(name, named[1]),
            payload=read.read_payload({} if payload is None else payload, named[2]),
        )

    def content(self) -> dict[str, Any]:
        """All that determines what runs and when, as JSON values; names and states are not in it."""
        content: dict[str, Any] = {
            "kind": self.kind,
            "payload": self.payload,
            "policies": self.policies.to_dict(),
            "toolset": list(self.toolset),
            "trigger": self.appointed.content(),
        }
        for name in ("notify", "deliver_to"):
            if (value := getattr(self, name)) is not None:
                content[name] = dict(value)
        return content

    def frame(self) -> tuple[str, str]:
        """The canonical text of :meth:`content` before and after the payload, which orders that are alike share."""
        before, after = read.canonical(self.content() | {"payload": 0}).split('"payload":0', 1)
        return f'{before}"payload":', after

    def digest(self) -> str:
        """The SHA-256 of :meth:`content`, in hex; the same whenever the same declaration is read."""
        return sha256(read.canonical(self.content()).encode()).hexdigest()


def _line(value: Any, field: str) -> str:
    return plain(value, field, _LINE)


def _text(value: Any, field: str) -> str:
    return plain(value, field, _TEXT, lines=True)
