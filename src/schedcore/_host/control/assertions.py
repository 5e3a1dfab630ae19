"""How the work of a job is checked: who may say so, and whether somebody here can (A-01)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from schedcore._host.payloads import fitted
from schedcore.domain.assertion import Assertion
from schedcore.domain.errors import Refused, nearest
from schedcore.domain.policy import Policies

if TYPE_CHECKING:
    from schedcore._engine.toolbox import Toolbox
    from schedcore._ledger.events import Actor

__all__ = ["check_assertion", "refuse_self_made"]

_SELF = ("model", "run")
_OPTIONS = "assert.options"


def refuse_self_made(actor: Actor, policies: Policies, before: Mapping[str, Any]) -> None:
    """A model or a run may neither grant itself a secret nor say how its own work is checked (A-01, F-08).

    ``before`` are the stored policies: what an order leaves as it is was said by somebody else. Taking an
    assertion away is saying how work is checked, too.
    """
    if actor.kind not in _SELF:
        return
    wanted = policies.to_dict()
    for field in ("secrets", "assert"):
        if wanted.get(field) != before.get(field):
            raise Refused(
                f"{field} is set by a person or a source, never by a {actor.kind}",
                code="needs_person",
                field=field,
                hint="leave it as it is, and let a person edit the job",
            )


def check_assertion(toolbox: Toolbox, asserted: Assertion | None) -> None:
    """Refuse an assertion that names a check no plugin offers here, or options that do not fit it."""
    if asserted is None or asserted.check is None:
        return
    offered = toolbox.judges()
    check = offered.get(asserted.check)
    if check is None:
        near = nearest(asserted.check, tuple(offered))
        raise Refused(
            f"no plugin here offers the check {asserted.check!r}",
            code="unknown_check",
            field="assert.check",
            value=asserted.check,
            hint=f"did you mean {near!r}?" if near else "offered: " + (", ".join(sorted(offered)) or "none"),
        )
    options = asserted.options or {}
    if check.options is not None:
        _, errors = fitted(check.options, options, _OPTIONS)
        if errors:
            raise errors[0]
    elif options:
        raise Refused(
            f"the check {check.name!r} takes no options",
            code="not_taken",
            field=_OPTIONS,
            value=options,
            hint="leave them out",
        )
