"""How a ledger is read: at one instant, beside those who write, and without leaving a trace."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from tests.audit.conftest import Told

from schedcore._audit import audit
from schedcore._audit.on_postgresql import PostgresSnapshot
from schedcore._audit.snapshot import Snapshot, open_snapshot
from schedcore.domain.errors import LedgerError, LedgerTooNew, Refused
from schedcore.testing import open_ledger

RUNS = "select count(*) from {s}runs"


@pytest.fixture
def view(told: Told) -> Iterator[Snapshot]:
    with open_snapshot(told.url) as snapshot:
        yield snapshot


def test_what_is_committed_meanwhile_is_not_seen(told: Told, view: Snapshot) -> None:
    before = view.value(RUNS)

    told.sql("delete from {s}runs where id={run}")

    assert view.value(RUNS) == before == len(list(view.stream("select id from {s}runs")))
    with open_snapshot(told.url) as later:
        assert later.value(RUNS) == before - 1


def test_nothing_can_be_written_through_it(told: Told, view: Snapshot) -> None:
    for statement in (
        "delete from {s}runs",
        "update {s}jobs set name='x'",
        "create table {s}mine(id integer)",
    ):
        with open_snapshot(told.url) as snapshot, pytest.raises(Exception, match=r"(?i)read.?only"):
            snapshot.rows(statement)

    assert view.value(RUNS) == told.rows(RUNS)[0][0] > 0


def test_postgresql_reads_one_instant_and_only_reads(postgres_told: Told) -> None:
    with open_snapshot(postgres_told.url) as snapshot:
        assert snapshot.value("show transaction_isolation") == "repeatable read"
        assert snapshot.value("show transaction_read_only") == "on"


def test_an_audit_leaves_the_file_and_its_log_as_they_were(sqlite_told: Told) -> None:
    path = Path(sqlite_told.url.removeprefix("sqlite:///"))
    keeper = sqlite3.connect(path)  # whose log is not yet copied back
    keeper.execute("pragma wal_autocheckpoint=0")
    keeper.execute("update jobs set name=name || '!'")
    keeper.commit()
    wal = path.with_name(path.name + "-wal")
    before = [hashlib.sha256(p.read_bytes()).hexdigest() for p in (path, wal)]

    assert audit(sqlite_told.url).ok

    assert [hashlib.sha256(p.read_bytes()).hexdigest() for p in (path, wal)] == before
    keeper.close()


def test_the_last_to_close_copies_no_log_back(sqlite_told: Told) -> None:
    path = Path(sqlite_told.url.removeprefix("sqlite:///"))
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)  # it leaves its log behind
    wal = path.with_name(path.name + "-wal")
    before = (path.read_bytes(), wal.read_bytes())
    assert before[1]

    report = audit(sqlite_told.url)

    assert report.ok
    assert (path.read_bytes(), wal.read_bytes()) == before


KILLED = """
import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("pragma wal_autocheckpoint=0")
c.execute("update jobs set name=name || '!'")
c.commit()
os._exit(9)
"""
LOOK = """
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], timeout=0)
try:
    c.execute("begin immediate")
except sqlite3.OperationalError:
    sys.exit(9)
"""


def test_fault_r41_the_writers_lock_of_this_process_survives_an_audit(sqlite_told: Told) -> None:
    path = sqlite_told.url.removeprefix("sqlite:///")
    ledger = open_ledger(sqlite_told.url)
    with ledger.write() as c:
        c.exec_driver_sql("update ledger set incarnation = incarnation")

        assert audit(sqlite_told.url).ok

        assert subprocess.run([sys.executable, "-S", "-c", LOOK, path], check=False).returncode == 9
    ledger.close()


def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.db"

    with pytest.raises(LedgerError) as refused:
        audit(f"sqlite:///{path}")

    assert refused.value.code == "no_ledger"
    assert not path.exists()


@pytest.mark.parametrize(("version", "code"), [("9999", "ledger_too_new"), (None, "no_ledger")])
def test_a_ledger_of_another_schema_is_not_judged(told: Told, version: str | None, code: str) -> None:
    if version is None:
        told.sql("drop table {s}schedcore_version")
    else:
        told.sql(f"update {{s}}schedcore_version set version_num='{version}'")

    with pytest.raises(LedgerError) as refused:
        told.audit()

    assert refused.value.code == code
    assert isinstance(refused.value, LedgerTooNew) == (code == "ledger_too_new")


def test_what_is_no_database_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("nothing of the kind " * 1000)

    with pytest.raises(LedgerError) as refused:
        audit(f"sqlite:///{path}")

    assert refused.value.code == "ledger_corrupt"


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://u@h/db"])
def test_other_ledgers_are_refused(url: str) -> None:
    with pytest.raises(Refused):
        audit(url)


def test_a_server_that_is_not_there_is_a_misfortune(tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as refused:
        audit(f"postgresql://nobody:SECRET@/none?host={tmp_path}")

    assert refused.value.code == "ledger_unreachable"
    assert "SECRET" not in str(refused.value.as_dict())


def test_a_server_that_goes_away_meanwhile_is_one_too(postgres_told: Told) -> None:
    with open_snapshot(postgres_told.url) as snapshot:
        with psycopg.connect(postgres_told.url.replace("+psycopg", ""), autocommit=True) as other:
            other.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where application_name='schedcore-fsck'"
                " and datname=current_database()"
            )

        with pytest.raises(LedgerError):
            snapshot.value(RUNS)


BROKEN_CHECK = """
create function public.bt_index_check(i regclass) returns void language plpgsql as $$
begin if i::text like '%ix_runs_live' then raise 'item order invariant violated for index'; end if; end $$
"""


class WithAmcheck(PostgresSnapshot):
    """A database that has the extension, or a function of that name at least."""

    def value(self, statement: str, *values: Any) -> Any:
        return "public" if "pg_extension" in statement else super().value(statement, *values)


def test_what_amcheck_says_of_an_index_is_told_and_the_view_lives_on(postgres_told: Told) -> None:
    with psycopg.connect(postgres_told.url.replace("+psycopg", ""), autocommit=True) as other:
        other.execute(BROKEN_CHECK)
    snapshot = WithAmcheck(sa.make_url(postgres_told.url))
    before = snapshot.value(RUNS)

    told, why_not = snapshot.damage(thorough=True)

    assert told == ["schedcore.ix_runs_live: item order invariant violated for index"]
    assert why_not is None
    assert snapshot.value(RUNS) == before
    snapshot.close()


def test_a_user_who_may_not_call_amcheck_is_told_so(postgres_told: Told) -> None:
    with psycopg.connect(postgres_told.url.replace("+psycopg", ""), autocommit=True) as other:
        other.execute("create function public.bt_index_check(i regclass) returns void language sql as ''")
        other.execute("revoke execute on function public.bt_index_check(regclass) from public")
        other.execute("drop role if exists reader_of_the_ledger")
        other.execute("create role reader_of_the_ledger")
        other.execute("grant usage on schema schedcore to reader_of_the_ledger")
    snapshot = WithAmcheck(sa.make_url(postgres_told.url))
    snapshot._c.execute("set local role reader_of_the_ledger")

    told, why_not = snapshot.damage(thorough=True)

    snapshot.close()
    assert (told, why_not) == ([], "the extension amcheck may not be used by this user")
