"""What is wrong, or worth a look: every check reads, none writes, and one that raises is a finding (R-11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from schedcore._host.control import doctor_host, doctor_jobs, doctor_secrets
from schedcore._host.control.instants import ago_or_instant
from schedcore._host.control.ordering import now_of
from schedcore.domain.errors import SchedcoreError

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["CHECKS", "doctor"]

Check = Callable[["Asker", "Connection", int, int], Iterator[dict[str, Any]]]
CHECKS: tuple[Check, ...] = (*doctor_host.CHECKS, *doctor_jobs.CHECKS)
_KEYS = ("level", "check", "what", "remedy", "job", "run", "host", "plugin")


def doctor(control: Asker, since: str) -> list[dict[str, Any]]:
    """See :meth:`Control.doctor`."""
    told: list[dict[str, Any]] = []
    with control.ledger.read() as c:
        now = now_of(control, c)
        start = ago_or_instant(since, now, "since") or 0
        for check in CHECKS:
            try:
                found = list(check(control, c, now, start))
            except SchedcoreError as error:
                found = [{"level": "bad", "what": str(error)}]
            except Exception as error:  # one check that breaks does not silence the others
                found = [{"level": "bad", "what": f"the check raised {type(error).__name__}: {error}"}]
            told += [_whole({"check": check.__name__, **finding}) for finding in found]
        wanted = doctor_secrets.granted(control, c)
    told += [_whole(finding) for finding in doctor_secrets.secrets(control.engine.toolbox, wanted)]
    told += [_whole(finding) for finding in _plugins(control)]
    return sorted(told, key=lambda finding: finding["level"] != "bad")


def _plugins(control: Asker) -> Iterator[dict[str, Any]]:
    """The checks that plugins declare, outside any transaction."""
    for plugin, check in control.engine.toolbox.checks:
        if check.look is None:
            continue
        try:
            for finding in check.look():
                told = {"level": finding.level, "what": finding.what, "remedy": finding.remedy}
                yield {**told, "check": check.name, "plugin": plugin}
        except Exception as error:
            what = f"check {check.name!r} of plugin {plugin!r} raised {type(error).__name__}: {error}"
            yield {"level": "bad", "check": check.name, "what": what, "plugin": plugin}


def _whole(finding: dict[str, Any]) -> dict[str, Any]:
    return {name: finding.get(name) for name in _KEYS}
