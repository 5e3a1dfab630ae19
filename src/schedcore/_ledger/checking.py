"""Is a ledger whole? The store's own check, its schema, and what refers to what (hot tables have no foreign keys)."""

from __future__ import annotations

import sqlalchemy as sa

from schedcore._ledger.schema import SCHEMA, metadata

__all__ = ["relations", "schema", "store"]

_SHOWN = 20

# Each finds rows that should not be: what is wrong, and a query of what names them.
_WRONG = {
    "runs of no job": """
        select r.id from {s}runs r left join {s}jobs j on j.id=r.job_id where j.id is null""",
    "runs of no definition": """
        select r.id from {s}runs r left join {s}definitions d on d.job_id=r.job_id and
        d.number=r.definition where d.number is null""",
    "skipped rows of no definition": """
        select s.id from {s}skipped s left join {s}definitions d on d.job_id=s.job_id and
        d.number=s.definition where d.number is null""",
    "skipped rows that point at no run": """
        select s.id from {s}skipped s left join {s}runs r on r.id=s.run_id where s.run_id is not
        null and r.id is null""",
    "attempts of no run": """
        select a.run_id from {s}attempts a left join {s}runs r on r.id=a.run_id where r.id is null""",
    "runs whose attempts are not numbered from 1 to their count": """
        select a.run_id from {s}attempts a join {s}runs r on r.id=a.run_id group by a.run_id,
        r.attempts having count(*) <> r.attempts or max(a.number) <> r.attempts""",
    "final runs with an open attempt": """
        select r.id from {s}runs r join {s}attempts a on a.run_id=r.id where r.state > 2 and
        a.finished_at is null""",
    "running runs without a lease": """
        select id from {s}runs where state=1 and lease_end is null""",
    "jobs without their row of due": """
        select j.id from {s}jobs j left join {s}due d on d.job_id=j.id where d.job_id is null""",
    "rows of due of no job": """
        select d.job_id from {s}due d left join {s}jobs j on j.id=d.job_id where j.id is null""",
    "jobs whose definition in force is not the open one": """
        select j.id from {s}jobs j left join {s}due d on d.job_id=j.id left join {s}definitions f on
        f.job_id=j.id and f.number=j.definition and f.valid_to is null where f.number is null or
        d.definition <> j.definition""",
    "jobs whose definitions are not numbered without a gap": """
        select job_id from {s}definitions group by job_id having count(*) <> max(number) or
        min(number) <> 1""",
    "jobs whose events are not numbered without a gap": """
        select job_id from {s}events group by job_id having count(*) <> max(number) or min(number)
        <> 1""",
    "places of runs that do not run": """
        select p.run_id from {s}places p left join {s}runs r on r.id=p.run_id where r.id is null or
        r.state > 2""",
    "slots that a run and a skipped row of one slot both answer for": """
        select r.id from {s}runs r join {s}skipped k on k.job_id=r.job_id and
        k.first_slot=r.scheduled_for and k.last_slot=r.scheduled_for where r.trigger=0""",
}


def store(c: sa.Connection, is_sqlite: bool) -> list[str]:
    """What the database finds wrong with itself."""
    if not is_sqlite:
        return []
    told = [str(row[0]) for row in c.exec_driver_sql("pragma integrity_check(20)") if row[0] != "ok"]
    broken = list(c.exec_driver_sql("pragma foreign_key_check"))
    return told + [f"{row[0]}: row {row[1]} refers to no row of {row[2]}" for row in broken[:_SHOWN]]


def schema(c: sa.Connection) -> list[str]:
    """Tables and columns that are missing."""
    inspector = sa.inspect(c)
    where = None if c.dialect.name == "sqlite" else SCHEMA
    there = set(inspector.get_table_names(schema=where))
    told = []
    for table in metadata.sorted_tables:
        if table.name not in there:
            told.append(f"the table {table.name} is missing")
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name, schema=where)}
        told += [
            f"the column {table.name}.{n.name} is missing" for n in table.columns if n.name not in columns
        ]
    return told


def relations(c: sa.Connection) -> list[tuple[str, str]]:
    """What refers to what, and is not there; numbers with gaps."""
    prefix = "" if c.dialect.name == "sqlite" else f"{SCHEMA}."
    told = []
    for what, query in _WRONG.items():
        found = c.exec_driver_sql(query.format(s=prefix) + f" limit {_SHOWN + 1}").scalars().all()
        if found:
            some = ", ".join(str(n) for n in found[:_SHOWN]) + (" …" if len(found) > _SHOWN else "")
            told.append(("relations", f"{what}: {some}"))
    return told
