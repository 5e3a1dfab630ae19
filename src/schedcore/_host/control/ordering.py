"""One order, one writing transaction, answered only after its commit is known (P-25, G5).

A commit that raised may have happened: the order's token is looked for in the ledger before anything is said.
What is not there never was, and is tried again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from schedcore._ledger import events
from schedcore._ledger.ledger import CommitUnknown
from schedcore.domain.errors import LedgerError, Refused

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.events import Actor
    from schedcore._ledger.ledger import Connection

__all__ = ["clean_reason", "now_of", "order", "required_reason"]

T = TypeVar("T")
_TRIES = 3
_LONGEST = 1_000


def order(control: Asker, deed: Callable[[Connection, Actor, int], T]) -> T:
    """Do ``deed(c, actor, now)`` in one writing transaction; answers what it answered, once that is durable."""
    ledger = control.ledger
    for left in reversed(range(_TRIES)):
        token = secrets.token_hex(8)
        actor = replace(control.actor, token=token)
        answers: list[T] = []

        def act(c: Connection, actor: Actor = actor, answers: list[T] = answers, token: str = token) -> None:
            events.guard(c, token)
            answers[:] = [deed(c, actor, ledger.times.now(c))]

        try:
            ledger.run(act)
        except CommitUnknown as error:
            if not _taken(control, token, error):
                if left:
                    continue
                raise
        return answers[0]
    raise AssertionError("unreachable")


def _taken(control: Asker, token: str, error: CommitUnknown) -> bool:
    try:
        return control.ledger.run(lambda c: events.found(c, token))
    except LedgerError as again:
        raise CommitUnknown(
            f"{error.message}; it could not be read back: {again.message}",
            value=token,
            hint="look at the history before you order it again",
        ) from error


def now_of(control: Asker, c: Connection) -> int:
    """Now, as the ledger tells it."""
    return control.ledger.times.now(c)


def clean_reason(reason: str | None) -> str | None:
    """A reason as it is stored: one text of at most 1,000 characters, or ``None``."""
    if reason is None or not reason.strip():
        return None
    if len(reason) > _LONGEST or "\x00" in reason:
        raise Refused(
            f"the reason has {len(reason)} characters",
            code="length",
            field="reason",
            value=reason,
            hint=f"at most {_LONGEST}, without NUL",
        )
    return reason.strip()


def required_reason(reason: str | None) -> str:
    """The reason of an order that needs one (F-11)."""
    text = clean_reason(reason)
    if text is None:
        raise Refused("this order needs a reason", code="missing", field="reason", hint='add --reason "…"')
    return text
