"""Names taken and given: how words are compared, and which aliases are read beside our own.

Own names are written everywhere; aliases are read wherever the own name is (``features.md`` 0). Two words
are the same when they agree after NFKC, case folding, removal of accents and of outer blanks; in states a
``_`` equals a blank.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from schedcore.domain.errors import Refused, nearest

__all__ = [
    "CASTES",
    "CHANNELS",
    "INTAKE",
    "JOB_FIELDS",
    "JOB_STATES",
    "KINDS",
    "NOTIFICATION_FIELDS",
    "NOTION_PROPERTIES",
    "POLICY_FIELDS",
    "REGISTRY_KINDS",
    "ROUTES",
    "RUN_STATES",
    "SECRET_SERVERS",
    "TOOLSETS",
    "TOOL_ARGUMENTS",
    "TRANSPORTS",
    "TRIGGER_FIELDS",
    "TRIGGER_KINDS",
    "Names",
    "fold",
]


def fold(word: str) -> str:
    """The form in which two words are compared: NFKC, case folded, accents removed, outer blanks dropped."""
    if word.isascii():
        return word.strip().lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", word).casefold())
    bare = "".join(c for c in apart if not unicodedata.combining(c))
    return unicodedata.normalize("NFKC", bare).strip()


class Names:
    """A closed list of own names, each with its aliases.

    ``Names("a state", {"active": ("actif",)})`` reads ``Actif`` as ``active``. With ``blanks=True`` a ``_``
    equals a blank. An alias may be a path (``assert.command``): only the field names are listed here.
    """

    __slots__ = ("_blanks", "_own", "own", "what")

    def __init__(self, what: str, names: Mapping[str, Iterable[str]], *, blanks: bool = False) -> None:
        self.what = what
        self.own: tuple[str, ...] = tuple(names)
        self._blanks = blanks
        self._own = {self._key(a): own for own, aliases in names.items() for a in (own, *aliases)}

    def _key(self, word: str) -> str:
        key = fold(word)
        return " ".join(key.replace("_", " ").split()) if self._blanks else key

    @lru_cache(4096)  # noqa: B019  # the lists live as long as the process
    def find(self, word: str) -> str | None:
        """The own name meant by ``word``, or ``None``."""
        return self._own.get(self._key(word))

    def read(self, word: Any, field: str) -> str:
        """The own name meant by ``word``; anything else is :class:`Refused` with the nearest own name."""
        found = self.find(word) if isinstance(word, str) else None
        if found is None:
            near = nearest(self._key(word), set(self._own)) if isinstance(word, str) else None
            raise Refused(
                f"{word!r} is not {self.what}",
                code="unknown_value",
                field=field,
                value=word,
                hint=near or "one of: " + ", ".join(self.own),
            )
        return found


JOB_STATES = Names(
    "a job state",
    {
        "active": ("actif", "scheduled"),
        "paused": ("en pause",),
        "pending": ("a valider",),
        "done": ("termine", "completed"),
        "retired": (),
    },
    blanks=True,
)
RUN_STATES = Names(
    "a run state",
    {
        "queued": ("pending",),
        "running": (),
        "waiting": (),
        "succeeded": ("success", "done", "completed"),
        "no_op": (),
        "findings": (),
        "failed": ("failure",),
        "blocked": (),
        "interrupted": (),
        "skipped": (),
        "cancelled": (),
    },
    blanks=True,
)
TRIGGER_KINDS = Names(
    "a kind of trigger", {"cron": (), "every": ("interval",), "at": ("once", "one-shot"), "after": ()}
)
KINDS = Names("a kind of work", {"notification": (), "script": (), "agent": ()})
CHANNELS = Names(
    "a channel",
    {
        "email": ("mail", "imap"),
        "whatsapp": ("wa",),
        "sms": ("twilio", "texto"),
        "feishu": (),
        "session": (),
        "webhook": (),
        "apprise": (),
    },
)
TRANSPORTS = Names("a transport", {"mcp": (), "smtp": (), "http": ()})
INTAKE = Names("an intake class", {"run": (), "question": (), "project": ("chantier",), "noise": ("bruit",)})
REGISTRY_KINDS = Names(
    "a kind of registry entry", {"recurring": (), "oneshot": (), "tool": (), "lib": (), "meta": ()}
)
CASTES = Names(
    "a caste",
    {"Vigies": (), "Scribes": (), "Oracles": (), "Horlogers": (), "Bâtisseurs": (), "Tisserands": ()},
)
ROUTES = Names("a route", {"run": ("trigger",), "next": ("preview",), "costs": ("usage",)})
TOOLSETS = ("imap", "browser", "voicecall", "twilio", "whatsapp", "notion", "ssh")
SECRET_SERVERS = frozenset({"bw", "bitwarden"})

NOTIFICATION_FIELDS = Names(
    "a field of a notification",
    {
        "channel": ("canal",),
        "to": ("destinataire", "recipient", "numero"),
        "subject": ("sujet", "objet"),
        "body": ("corps", "message", "texte"),
        "options": (),
    },
)
NOTION_PROPERTIES = Names(
    "a property",
    {
        "name": ("Nom",),
        "kind": ("type",),
        "schedule": ("échéance/cron",),
        "payload": (),
        "toolset": (),
        "state": ("statut",),
        "next_run": ("prochain run",),
        "last_run": ("dernière exécution",),
        "reason": ("raison de classif",),
    },
)
TOOL_ARGUMENTS = Names(
    "an argument",
    {
        "name": ("nom",),
        "state": ("statut",),
        "kind": ("type",),
        "schedule": (),
        "description": (),
        "task_id": (),
    },
)
TRIGGER_FIELDS = Names(
    "a field of a trigger",
    {
        "kind": ("type",),
        "text": ("expression",),
        "zone": ("timezone",),
        "cron": (),
        "every": ("interval",),
        "at": ("once",),
        "in": (),
        "anchor": (),
        "gap": (),
        "fold": (),
        "jitter": (),
        "not_before": (),
        "not_after": (),
        "count": (),
        "calendar": (),
        "on_closed": (),
        "day_time": (),
    },
)
POLICY_FIELDS = Names(
    "a policy",
    {
        "catch_up": ("catchUpPolicy",),
        "catch_up_max": (),
        "late_limit": (),
        "overlap": (),
        "overlap_max": (),
        "attempts": (),
        "retry_delay": (),
        "retry_backoff": (),
        "retry_on": (),
        "timeout": (),
        "soft_fail": (),
        "findings_exit": (),
        "breaker": (),
        "breaker_cooldown": (),
        "on_lost": (),
        "stop_when_cut": (),
        "on_full": (),
        "groups": (),
        "tags": (),
        "environments": (),
        "block_sensitive": (),
        "assert": (),
        "unchecked": (),
        "secrets": (),
        "gate_asks": (),
        "delivery_key": ("deliveryKey",),
    },
)
JOB_FIELDS = Names(
    "a field of a job",
    {
        "key": ("id",),
        "name": (),
        "kind": (),
        "trigger": (),
        "payload": (),
        "toolset": (),
        "owner": (),
        "scope": (),
        "labels": (),
        "state": (),
        "description": (),
        "reason": (),
        "notify": (),
        "deliver_to": ("deliverTo",),
    },
)
