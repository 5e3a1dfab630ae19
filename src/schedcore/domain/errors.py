"""Errors that speak to the person who must act.

::

    SchedcoreError
    ├── Mistake                 somebody must change something before it can work
    │   ├── Refused             input that was not taken; nothing was written        exit 2
    │   ├── NotFound            no such job, run, plugin …                           exit 3
    │   ├── Conflict            the state does not allow it, or the race was lost    exit 4
    │   └── PluginFault         a plugin broke the contract; it is named             exit 1
    └── Misfortune              the world failed; the same order may work later
        └── LedgerError         the ledger cannot be used now                        exit 5
            ├── LedgerBusy      another writer held it for too long
            └── LedgerTooNew    written by a newer schedcore; not opened

Every error has a ``code`` (one word, with a page in ``docs/errors.md``), a message that says what
happened, and, where it helps, the field path, the value given and what to write instead.
"""

from __future__ import annotations

from difflib import get_close_matches
from math import isfinite
from typing import Any, ClassVar

__all__ = [
    "Conflict",
    "LedgerBusy",
    "LedgerError",
    "LedgerTooNew",
    "Misfortune",
    "Mistake",
    "NotFound",
    "PluginFault",
    "Refused",
    "SchedcoreError",
    "nearest",
    "shown",
]

_SHOWN = 200
_NAME = 100


class SchedcoreError(Exception):
    """The root of all errors that schedcore raises on purpose.

    ``code`` is stable and machine readable; ``field`` is the dotted path of the input at fault;
    ``value`` is what was given; ``hint`` says what to do next.
    """

    exit_code: ClassVar[int] = 1
    default_code: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        field: str | None = None,
        value: Any = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.message = message
        self.field = field
        self.value = value
        self.hint = hint

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        then = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.message}{then}"

    def under(self, prefix: str) -> SchedcoreError:
        """The same error with its field path put below ``prefix``; returns itself."""
        self.field = f"{prefix}.{self.field}" if self.field else prefix
        return self

    def as_dict(self) -> dict[str, Any]:
        """The form that ``--json``, REST and MCP print, all of it JSON; long values are cut to 200 characters."""
        value = self.value
        if isinstance(value, str):
            value = value[:_SHOWN] + "…" if len(value) > _SHOWN else value
        elif value is not None and not _is_json(value):
            value = repr(value)[:_SHOWN]
        told = {"message": self.message, "field": self.field, "value": value, "hint": self.hint}
        return {"code": self.code, **{name: _encodable(said) for name, said in told.items()}}


def _is_json(value: Any) -> bool:
    """A number or flag that every reader of JSON takes."""
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and -(2**63) <= value < 2**64


def _encodable(said: Any) -> Any:
    """Half a character, which no encoding takes, as its escape."""
    return said.encode("utf-8", "backslashreplace").decode() if isinstance(said, str) else said


class Mistake(SchedcoreError):
    """Somebody must change something before this can work."""


class Refused(Mistake):
    """Input that was not taken. Nothing was written."""

    exit_code = 2
    default_code = "refused"


class NotFound(Mistake):
    """No such job, run, host, plugin or kind."""

    exit_code = 3
    default_code = "not_found"


class Conflict(Mistake):
    """The present state does not allow the order, or another writer was first."""

    exit_code = 4
    default_code = "conflict"


class PluginFault(Mistake):
    """A plugin broke the contract; the message names it."""

    default_code = "plugin_fault"


class Misfortune(SchedcoreError):
    """The world failed; the same order may work later."""


class LedgerError(Misfortune):
    """The ledger cannot be used now."""

    exit_code = 5
    default_code = "ledger_unreachable"


class LedgerBusy(LedgerError):
    """Another writer held the ledger for longer than 30 seconds (L-02)."""

    default_code = "ledger_busy"


class LedgerTooNew(LedgerError):
    """The ledger was written by a newer schedcore and is not opened (L-03)."""

    default_code = "ledger_too_new"


def nearest(name: str, known: list[str] | tuple[str, ...] | set[str]) -> str | None:
    """A hint that proposes the nearest known name, or ``None`` when none is near.

    A name beyond 100 characters is near to none: looking for it would cost more than it helps.
    """
    if len(name) > _NAME:
        return None
    found = get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"did you mean {found[0]!r}?" if found else None


def shown(value: object, most: int = 60) -> str:
    """A value as a message shows it: quoted, ASCII, one line, cut after ``most`` characters."""
    if isinstance(value, str):
        value = value[: most + 1]
    said = ascii(value)
    return said if len(said) <= most + 2 else said[:most] + "…"
