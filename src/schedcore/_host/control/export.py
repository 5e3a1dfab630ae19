"""The ledger as lines of JSON: every row once, in the words of everybody, page by page.

Pages are reads of their own, up to what was there at the start, so that a slow reader holds nothing up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from schedcore._host.control.ordering import now_of
from schedcore._host.control.views import decoded
from schedcore._host.progress import Progress
from schedcore._ledger import migrate, pages
from schedcore.domain.clock import text
from schedcore.domain.run import RunState, RunTrigger

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker

__all__ = ["export"]

_PAGE = 1000
_LINE = {"definitions": "definition", "attempts": "attempt", "events": "event", "runs": "run", "jobs": "job"}
_ENDS = ("_at", "_slot", "_until", "_through")
_INSTANTS = {"at", "scheduled_for", "valid_from", "valid_to", "anchor"}
_JSON = {
    "trigger",
    "policies",
    "payload",
    "toolset",
    "labels",
    "extra",
    "changes",
    "origin",
    "usage",
    "detail",
}


def export(
    control: Asker, *, jobs: bool, runs: bool, events: bool, progress: Progress | None = None
) -> Iterator[dict[str, Any]]:
    """See :meth:`Control.export`."""
    with control.ledger.read() as c:
        identity, incarnation = migrate.identity(c)
        ends = pages.ends(c)
        now = now_of(control, c)
    head = {"v": 1, "type": "ledger", "id": identity, "incarnation": incarnation}
    yield head | {"schema": migrate.HEAD, "exported_at": text(now)}
    wanted = [("jobs", "definitions")] * jobs + [("runs", "attempts"), ("skipped", None)] * runs
    for table, part in wanted + [("events", None)] * events:
        after = 0
        while True:
            with control.ledger.read() as c:
                rows, parts = pages.page(c, table, part, after, ends[table], _PAGE)
            if not rows:
                break
            for row in rows:
                yield _line(table, row)
                for inner in parts.get(row["id"], ()):
                    yield _line(str(part), inner)
            after = rows[-1]["id"]
            if progress is not None:
                progress(table, after, ends[table])


def _line(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {"v": 1, "type": _LINE.get(table, table)}
    for name, value in row.items():
        if value is None:
            line[name] = None
        elif name in _INSTANTS or (name.endswith(_ENDS) and isinstance(value, int)):
            line[name] = text(value)
        elif table == "runs" and name == "state":
            line[name] = RunState(value).word
        elif table == "runs" and name == "trigger":
            line[name] = RunTrigger(value).word
        else:
            line[name] = decoded(value) if name in _JSON else value
    return line
