"""Filling a ledger by SQL alone: many jobs, or many finished runs, in a second or two.

The rows are those that ``Control.add`` writes, made from one order that was parsed as always; only the way in
is shorter.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schedcore._engine import clock
from schedcore._engine.ordered import stored
from schedcore._engine.toolbox import needs_text
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.migrate import migrate
from schedcore.domain.clock import HOUR, text
from schedcore.domain.job import JobOrder
from schedcore.domain.zones import tz_version

__all__ = ["Filler", "filling"]

_SERIES = {
    "sqlite": "with recursive s(i) as (select {a} union all select i+1 from s where i<{b})",
    "postgresql": "with s(i) as (select generate_series({a}::bigint,{b}::bigint))",
}


class Filler:
    """Writes rows through a connection of the driver's own."""

    def __init__(self, url: str, connection: Any) -> None:
        self.database = "sqlite" if url.startswith("sqlite") else "postgresql"
        self.prefix = "" if self.database == "sqlite" else "schedcore."
        self._c = connection
        self.filled: set[str] = set()

    def jobs(
        self,
        first: int,
        last: int,
        slot: int,
        *,
        apart_us: int = 0,
        kind: str = "noop",
        payload: dict[str, Any] | None = None,
        groups: list[str] | None = None,
    ) -> None:
        """Jobs with the ids ``first`` to ``last``, every hour; the first slot of each is ``slot``, the next
        one ``apart_us`` microseconds later."""
        now = clock.wall()
        mark = "2030-01-01T00:00:00.000Z"
        order = {"key": "k", "kind": kind, "payload": payload or {"a": 1}, "every": "1h", "anchor": mark}
        policies = {"groups": groups} if groups else {}
        parsed = JobOrder.parse({**order, **policies}, now_us=now)
        texts = stored(parsed)
        lane = self._lane(needs_text(kind, parsed.policies))
        sqlite = self.database == "sqlite"
        source = _SERIES[self.database].format(a=first, b=last)
        at = f"({slot}+(i-{first})*{apart_us})"
        uid = "'j-'||" + ("printf('%016x',i)" if sqlite else "lpad(to_hex(i),16,'0')")
        key, stamp = "'k'||i", str(now)
        self._each(
            "jobs", source, id="i", uid=uid, key=key, name=key, kind=_quoted(kind), state="'active'",
            state_at=stamp, definition="1", digest=_quoted(parsed.digest()), labels="'{}'", creator="'bench'",
            creator_kind="'person'", created_at=stamp, updated_at=stamp, extra="'{}'",
        )  # fmt: skip
        trigger = _quoted(texts["trigger"])
        if apart_us:
            trigger = f"replace({trigger},{_quoted(mark)},{self._instant(at)})"
        else:
            trigger = _quoted(texts["trigger"].replace(mark, text(slot)))
        fixed = {name: _quoted(texts[name]) for name in ("kind", "policies", "payload", "toolset")}
        self._each(
            "definitions", source, job_id="i", number="1", valid_from="0", state="'active'",
            trigger=trigger, tz_version=_quoted(tz_version()), digest=_quoted(parsed.digest()), **fixed,
        )  # fmt: skip
        self._each(
            "due", source, job_id="i", lane=str(lane), next_run_at=at, anchor=f"{at}-{HOUR}", definition="1",
        )  # fmt: skip

    def runs(self, runs: int, jobs: int, *, before: int) -> None:
        """Finished runs of the jobs 1 to ``jobs``, a minute apart and newest last, all older than ``before``."""
        source = _SERIES[self.database].format(a=1, b=runs)
        rounds = -(-runs // jobs)
        slot = f"({before}-({rounds}-(i-1)/{jobs})*60000000)"
        job, lane = f"((i-1)%{jobs}+1)", str(self._lane('{"kind":"noop"}'))
        self._each(
            "runs", source, id="i", job_id=job, definition="1", lane=lane, scheduled_for=slot, trigger="0",
            state="3", start_at=slot, attempts="1", fence="1", host_id="1", opened_at=f"{slot}+500",
            started_at=f"{slot}+1000", finished_at=f"{slot}+3000", duration_ms="2", latency_ms="1", outcome="'ok'",
        )  # fmt: skip
        self._each(
            "attempts", source, run_id="i", number="1", fence="1", host_id="1", claimed_at=f"{slot}+500",
            started_at=f"{slot}+1000", finished_at=f"{slot}+3000", outcome="'ok'",
        )  # fmt: skip
        if self.database == "postgresql":
            self._c.execute(f"select setval(pg_get_serial_sequence('schedcore.runs','id'),{runs})")

    def _each(self, table: str, source: str, **columns: str) -> None:
        self.filled.add(table)
        names, values = ",".join(columns), ",".join(columns.values())
        self._c.execute(f"insert into {self.prefix}{table}({names}) {source} select {values} from s")

    def _lane(self, needs: str) -> int:
        found = self._c.execute(f"select id from {self.prefix}lanes where needs={_quoted(needs)}").fetchone()
        if found is None:
            self._c.execute(
                f"insert into {self.prefix}lanes(id,needs) select coalesce(max(id),0)+1,{_quoted(needs)}"
                f" from {self.prefix}lanes"
            )
            return self._lane(needs)
        return int(found[0])

    def _instant(self, us: str) -> str:
        """The 24 characters of an instant."""
        if self.database == "sqlite":
            return (
                f"strftime('%Y-%m-%dT%H:%M:%S',{us}/1000000,'unixepoch')||printf('.%03dZ',({us}/1000)%1000)"
            )
        return (
            f"""to_char(to_timestamp({us}/1000/1000.0) at time zone 'UTC','YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
        )


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


@contextmanager
def filling(url: str) -> Iterator[Filler]:
    """A migrated ledger to fill; at the end everything is on disk and its statistics are known."""
    ledger = Ledger(url, wall=clock.wall, create=True)
    migrate(ledger)
    ledger.close()
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        c = sqlite3.connect(path, isolation_level=None)
        c.execute("pragma synchronous=off")
        c.execute("begin")
        yield Filler(url, c)
        c.execute("commit")
        c.execute("pragma synchronous=full")
        c.execute("pragma wal_checkpoint(truncate)")
        c.close()
        return
    import psycopg

    with psycopg.connect(url, autocommit=True) as pg:
        with pg.transaction():
            filler = Filler(url, pg)
            yield filler
        # Not the empty ones: the planner would believe that they stay so.
        for table in sorted(filler.filled):
            pg.execute(f"vacuum analyze schedcore.{table}")
        pg.execute("checkpoint")
