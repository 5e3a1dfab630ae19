"""The plans of all that a working host says to its ledger, with the parameters that it really binds.

A host opens, claims, renews, settles, retries and recovers on a ledger that remembers many finished runs; every
statement is noted on its way to the driver, and then explained. A statement may seek in an index, or take the
first entry of one; what reads a big table, or the whole of an index over one, makes its cost grow with what
exists. On PostgreSQL both plans are looked at, the one for these parameters and the one that is kept for any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from schedcore._ledger.ledger import Ledger
from schedcore._ledger.schema import metadata
from schedcore.spec import failed
from schedcore.testing import Ear, ManualClock, Player, StandingHost, noop

BIG = {"jobs", "definitions", "due", "runs", "attempts", "skipped", "events", "outbox", "archive"}
LIVE = {"ix_runs_live", "ix_runs_queued", "ix_runs_lost"}
"""They hold what is not finished, whatever was."""
MANY = 20_000
PATHS = {
    "open": r"insert into \S*runs\(",
    "move on": r"update \S*due set next_run_at=",
    "claim": r"update \S*runs set state=1,host_id=",
    "renew": r"update \S*runs set lease_end=",
    "end well": r"update \S*runs set state=3,.*outcome='ok'",
    "end otherwise": r"update \S*runs set state=v\.",
    "end an attempt": r"update \S*attempts set started_at=v\.\w+,finished_at=v\.\w+,outcome=v\.",
    "recover": r"update \S*runs set .*lost_until=",
    "tell": r"insert into \S*outbox\(",
    "mark the write": r"update \S*hosts set last_write=",
}
"""A statement of each path, as both databases say it; what was not said has no plan that could be looked at."""
Said = dict[str, Any]
HISTORY = {"runs": "scheduled_for", "skipped": "first_slot", "events": "number"}
"""Of one job there may be very many: who seeks by the job alone reads its whole history."""


@contextmanager
def noted(ledger: Ledger) -> Iterator[Said]:
    """What is said to the ledger within the block: each statement with the parameters that it last had."""
    said: Said = {}

    def note(
        conn: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool
    ) -> None:
        if re.match(r"\s*(select|insert|update|delete|with)\b", statement, re.IGNORECASE):
            said[statement] = parameters[0] if executemany else parameters

    sa.event.listen(ledger.engine, "before_cursor_execute", note)
    try:
        yield said
    finally:
        sa.event.remove(ledger.engine, "before_cursor_execute", note)


def remember(ledger: Ledger, job: int, host: int) -> None:
    """Very many finished runs of a job, each with its attempt and a line in the skipped."""
    instants = "with recursive s(i) as (select 1 union all select i+1 from s where i<:n)"
    columns = {
        "runs": "id,job_id,definition,lane,scheduled_for,trigger,state,start_at,attempts,fence,host_id,opened_at",
        "attempts": "run_id,number,fence,host_id,claimed_at,started_at,finished_at,outcome",
        "skipped": "job_id,definition,first_slot,last_slot,slots,reason,decided_at",
    }
    values = {
        "runs": f"1000000+i,{job},1,1,i,0,3,i,1,1,{host},i",
        "attempts": f"1000000+i,1,1,{host},i,i,i,'ok'",
        "skipped": f"{job},1,i+100000000,i+100000000,1,'coalesced',i",
    }
    prefix = "" if ledger.is_sqlite else "schedcore."
    with ledger.write() as c:
        for table, names in columns.items():
            text = f"insert into {prefix}{table}({names}) {instants} select {values[table]} from s"
            c.execute(sa.text(text), {"n": MANY})
    if not ledger.is_sqlite:
        with ledger.write() as c:
            c.exec_driver_sql("analyze")  # as the server itself does within a minute


@pytest.fixture
def working(ledger: Ledger, clock: ManualClock, tmp_path: Path) -> Said:
    """All that hosts said: one that works, one that dies in the middle, with every way a run may go."""
    player = Player(then=failed("exit_code", exit_code=1))
    tries = player.plays("tries", attempts=2)
    ear = Ear()
    groups = (("mail", 2, None, None), ("slow", 1, 5, 60_000_000))
    a = StandingHost(
        ledger, clock, tmp_path / "a", [noop(), tries], listeners=[ear.listens("ear")], groups=groups
    )
    b = a.beside("b", hold=True)
    for i in range(8):
        a.add(f"plain-{i}", cron="*/5 * * * *")
    old = a.add("old", cron="0 0 1 1 *")
    a.add("all", cron="* * * * *", catch_up="all", catch_up_max=5)
    a.add("mails", cron="*/5 * * * *", groups=["mail", "slow"])
    a.add("fails", kind="tries", cron="*/5 * * * *", retry_delay="10s", breaker=1, breaker_cooldown="2m")
    a.add("gives-up", kind="tries", cron="*/5 * * * *", retry_delay="10s")
    a.add("jumps", cron="*/5 * * * *", jitter=20, overlap="replace")
    a.add("late", at="2026-06-01T08:20:00Z", late_limit="1m")
    a.add("elsewhere", cron="*/5 * * * *", tags=["nowhere"])
    a.add("queues", cron="*/5 * * * *", overlap="queue_one")
    remember(ledger, old, a.engine.host_id)
    with noted(ledger) as said:
        clock.advance(minutes=5)
        b.beat()
        a.control.run("old")
        a.beat()
        b.die()
        for _ in range(6):
            clock.advance(seconds=11)
            a.beat()
        clock.advance(minutes=20)
        for _ in range(4):
            a.beat()
            clock.advance(seconds=11)
        a.control.run("plain-0")
        a.control.pause("plain-1", reason="not now")
        a.control.resume("plain-1", reason="now")
        a.beat()
        a.tell()
    assert {run["word"] for run in a.runs() if run["scheduled_for"] > MANY} >= {
        "succeeded",
        "failed",
        "interrupted",
        "queued",
    }
    a.stop()
    return said


def test_no_statement_of_a_working_host_reads_what_is_not_its_business(working: Said, ledger: Ledger) -> None:
    assert len(working) > 50
    assert [path for path, part in PATHS.items() if not any(spoken(part, said) for said in working)] == []

    bad = {}
    with ledger.write() as c:
        for statement, parameters in working.items():
            if found := reads_too_much(c, statement, parameters):
                bad[statement] = found
    assert bad == {}, "\n\n".join(f"{found}:\n{statement}" for statement, found in bad.items())


def spoken(part: str, statement: str) -> bool:
    return re.search(part, statement, re.IGNORECASE | re.DOTALL) is not None


def reads_too_much(c: sa.Connection, statement: str, parameters: Any) -> list[str]:
    """The parts of a statement's plans that cost the more, the more there is."""
    if c.dialect.name == "sqlite":
        rows = c.exec_driver_sql("explain query plan " + statement, parameters)
        return sqlite_scans([row[3] for row in rows], statement)
    return [scan for plan in plans(c, statement, parameters) for scan in postgresql_scans(plan)]


def sqlite_scans(lines: list[str], statement: str) -> list[str]:
    found = []
    for line in lines:
        search = re.match(r"SEARCH (\w+) USING (?:COVERING )?INDEX (\w+) \(job_id=\?\)", line)
        if search and search[2] not in LIVE and named(search[1], statement) in HISTORY:
            found += [] if seeks_one(statement) else [line]
        scan = re.match(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?", line)
        if scan is None:
            continue
        name, index = scan.groups()
        table = named(name, statement)
        seeks = index is not None and re.search(
            r"\b(?:min|max|exists) ?\(|\blimit\b", statement, re.IGNORECASE
        )
        if table in BIG and index not in LIVE and not seeks:
            found.append(line)
    return found


def seeks_one(statement: str) -> bool:
    """Does it take the first entries of an index?"""
    return re.search(r"\b(?:min|max|exists) ?\(|\blimit\b", statement, re.IGNORECASE) is not None


def named(name: str, statement: str) -> str:
    """The table that a plan names by its alias."""
    if name in metadata.tables or f"schedcore.{name}" in metadata.tables:
        return name
    said = re.search(rf"\b(\w+)(?:\s+as)?\s+{name}\b", statement, re.IGNORECASE)
    return said.group(1) if said else name


def plans(c: sa.Connection, statement: str, parameters: Any) -> Iterator[dict[str, Any]]:
    """The plan for these parameters and the plan that is kept for any, as the driver's prepared statement has it."""
    from psycopg import ClientCursor

    names = re.findall(r"%\((\w+)\)s", statement)
    given = [parameters[name] for name in names] if names else list(parameters)
    numbers = iter(range(1, len(given) + 1))
    text = re.sub(r"%(?:\(\w+\))?s", lambda found: f"${next(numbers)}", statement)
    driver = c.connection.driver_connection
    with driver.cursor() as cursor:
        cursor.execute("prepare looked_at as " + text.replace("%%", "%"))
        try:
            values = ClientCursor(driver).mogrify(",".join(["%s"] * len(given)), given) if given else ""
            for mode in ("force_custom_plan", "force_generic_plan"):
                cursor.execute(f"set local plan_cache_mode={mode}")
                asked = f"explain (format json) execute looked_at{f'({values})' if given else ''}"
                cursor.execute(asked)
                yield cursor.fetchone()[0][0]["Plan"]
        finally:
            cursor.execute("deallocate looked_at")


def postgresql_scans(node: dict[str, Any], above: str = "") -> list[str]:
    found = []
    kind, table = node["Node Type"], node.get("Relation Name")
    if table in BIG and "Scan" in kind:
        first = (
            above == "Limit" or node.get("Parent Relationship") == "InitPlan"
        )  # of `exists`, which stops at one
        seeks = "Index Cond" in node or node.get("Index Name") in LIVE or first
        if kind in {"Seq Scan", "Bitmap Heap Scan"} or not seeks:
            found.append(f"{kind} on {table} {node.get('Index Name', '')}")
        elif node.get("Index Name", "").startswith("uq_") and above != "Limit":
            whole = table in HISTORY and HISTORY[table] not in node.get("Index Cond", "")
            found += [f"all {table} of a job: {node}"] if whole and not first else []
    for part in node.get("Plans", ()):
        found += postgresql_scans(part, kind)
    return found
