"""Restoring: looked at whole before anything is written, and then all of it or nothing (G12)."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.auditing import untrue
from tests.host.backing import ANNA, backup, beaten, everything, into, is_there, ledger_url, left, of, restore

from schedcore._engine import clock as machine
from schedcore._host.drilling import drill
from schedcore._host.settings import Settings
from schedcore._ledger.backups import manifest
from schedcore._ledger.backups.manifest import Table
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.schema import groups, hosts
from schedcore.domain.errors import Conflict, LedgerError, NotFound, Refused, SchedcoreError

__all__ = ["into", "ledger_url", "of"]


def rewrite(file: Path, **changed: Any) -> None:
    manifest.write(file, replace(manifest.read(file), **changed))


def tables_of(file: Path, name: str, **changed: Any) -> dict[str, Table]:
    there = dict(manifest.read(file).tables)
    return {**there, name: replace(there[name], **changed)}


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


SPOILT = {
    "bad_checksum": flip,
    "backup_cut": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "not_a_backup": lambda file: manifest.beside(file).unlink(),
    "ledger_too_new": lambda file: rewrite(file, schema="9999"),
    "other_database": lambda file: rewrite(file, database="oracle"),
    "backup_differs": lambda file: rewrite(file, tables=tables_of(file, "runs", sha256="0")),
}


@pytest.mark.parametrize("code", SPOILT)
def test_a_spoilt_backup_is_refused_and_nothing_is_written(of: Settings, into: Settings, code: str) -> None:
    file = backup(of)
    SPOILT[code](file)

    with pytest.raises(SchedcoreError) as caught:
        restore(into, file)

    assert caught.value.code == code
    assert not is_there(into)


@pytest.mark.parametrize("code", SPOILT)
def test_a_spoilt_backup_leaves_the_ledger_that_is_there(of: Settings, code: str) -> None:
    file = backup(of)
    SPOILT[code](file)
    before = everything(of.ledger)

    with pytest.raises(SchedcoreError):
        restore(of, file, replace=True)

    assert everything(of.ledger) == before


def test_a_manifest_that_is_no_manifest_is_refused(of: Settings, into: Settings) -> None:
    file = backup(of)
    for text in ("", "[]", "{}", '{"what": "a backup of a schedcore ledger", "v": 1}', "\xff"):
        manifest.beside(file).write_text(text, "latin-1")
        with pytest.raises(Refused) as caught:
            restore(into, file)
        assert caught.value.code == "not_a_backup"


def test_no_backup_is_told_from_a_bad_one(of: Settings, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no backup in"):
        restore(of)
    with pytest.raises(NotFound, match="no backup at"):
        restore(of, tmp_path / "none.backup")


def test_a_ledger_with_jobs_is_written_over_by_order_only(of: Settings) -> None:
    file = backup(of)
    before = everything(of.ledger)

    with pytest.raises(Conflict) as caught:
        restore(of, file)

    assert caught.value.code == "ledger_not_empty"
    assert everything(of.ledger) == before


def test_a_ledger_on_which_a_host_lives_is_not_written_over(of: Settings, ledger: Ledger) -> None:
    file = backup(of)
    beaten(ledger, machine.wall())

    with pytest.raises(Conflict) as caught:
        restore(of, file, replace=True)

    assert caught.value.code == "ledger_in_use"


def test_a_host_whose_process_is_gone_is_not_waited_for(of: Settings, ledger: Ledger) -> None:
    if not ledger.is_sqlite:
        pytest.skip("on PostgreSQL the process may be on another machine, and three beats are waited for")
    file = backup(of)
    beaten(ledger, machine.wall())
    gone = subprocess.Popen(["true"])
    gone.wait()
    with ledger.write() as c:
        c.execute(sa.update(hosts).values(pid=gone.pid))

    assert restore(of, file, replace=True)["incarnation"] == 2


def test_a_preview_says_what_would_be_lost_and_writes_nothing(of: Settings) -> None:
    file = backup(of)
    before = everything(of.ledger)

    told = restore(of, file, dry_run=True)

    assert (told["target"]["jobs"], told["target"]["runs"], told["incarnation"]) == (1, 4, 2)
    assert told["target"]["newest_event_at"] is not None
    assert everything(of.ledger) == before


def test_what_came_after_the_backup_is_gone_and_the_ledger_is_true(of: Settings, ledger: Ledger) -> None:
    file = backup(of)
    with ledger.write() as c:
        c.execute(sa.insert(groups).values(name="later", places=1))

    restore(of, file, replace=True)

    assert everything(of.ledger)["groups"] == []
    assert untrue(of.ledger) == []


def test_a_restored_ledger_is_of_a_new_incarnation_and_on_hold(of: Settings, into: Settings) -> None:
    restore(into, backup(of))

    there = everything(into.ledger)
    ((_, ledger_id, incarnation, _),) = there["ledger"]
    assert (ledger_id, incarnation) == (everything(of.ledger)["ledger"][0][1], 2)
    assert [(hold[1], hold[5]) for hold in there["holds"]] == [("restored", None)]
    assert {row[5] for row in there["hosts"]} == {"dead"}


def test_each_restore_is_of_a_higher_incarnation_than_what_it_writes_over(of: Settings) -> None:
    file = backup(of)

    told = [restore(of, file, replace=True)["incarnation"] for _ in range(3)]

    assert told == [2, 3, 4]


def test_the_log_of_a_ledger_that_is_gone_is_not_taken_for_the_restored_ones(
    of: Settings, into: Settings
) -> None:
    if not into.ledger.startswith("sqlite"):
        pytest.skip("on PostgreSQL a ledger is no file of ours")
    path = Path(into.ledger.removeprefix("sqlite:///"))
    path.parent.mkdir()
    path.with_name("ledger.db-wal").write_bytes(b"of another")

    with pytest.raises(Conflict) as caught:
        restore(into, backup(of))

    assert caught.value.code == "log_left"
    assert not path.exists()


def test_a_damaged_ledger_is_to_be_moved_away(of: Settings, into: Settings) -> None:
    if not into.ledger.startswith("sqlite"):
        pytest.skip("on PostgreSQL a ledger is no file of ours")
    path = Path(into.ledger.removeprefix("sqlite:///"))
    path.parent.mkdir()
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)

    with pytest.raises(LedgerError) as caught:
        restore(into, backup(of))

    assert "move it away" in (caught.value.hint or "")


def test_a_drill_restores_compares_and_audits_and_leaves_nothing(of: Settings) -> None:
    file = backup(of)

    told = drill(of, ANNA)

    assert (told["ok"], told["problems"], told["findings"]) == (True, [], [])
    assert told["backup"]["file"] == str(file)
    assert left(of.backup_folder) == []


def test_a_drill_takes_the_newest(of: Settings) -> None:
    backup(of)
    newest = backup(of)

    assert drill(of, ANNA)["backup"]["file"] == str(newest)


@pytest.mark.parametrize("code", ["bad_checksum", "backup_cut", "backup_differs"])
def test_a_drill_finds_a_spoilt_backup(of: Settings, code: str) -> None:
    SPOILT[code](backup(of))

    told = drill(of, ANNA)

    assert not told["ok"]
    assert len(told["problems"]) == 1


def test_a_drill_finds_what_the_auditor_finds(of: Settings) -> None:
    ledger = Ledger(of.ledger, wall=lambda: 0)
    with ledger.write() as c:
        c.exec_driver_sql(f"update {'' if ledger.is_sqlite else 'schedcore.'}runs set fence=7 where state=3")
    ledger.close()
    backup(of)

    told = drill(of, ANNA)

    assert (told["ok"], told["problems"], told["found"]) == (False, [], 3)
    assert {one["rule"] for one in told["findings"]} == {"I9"}


def databases(url: str) -> list[str]:
    ledger = Ledger(url, wall=lambda: 0)
    with ledger.read() as c:
        found = c.exec_driver_sql("select datname from pg_database where datname like 'schedcore_drill%%'")
        names = list(found.scalars())
    ledger.close()
    return names


@pytest.mark.parametrize("ledger_url", ["postgresql"], indirect=True)
def test_a_drill_on_a_server_is_in_a_database_of_its_own_that_is_gone_afterwards(of: Settings) -> None:
    backup(of)
    during = []

    def look(stage: str, done: int, whole: int) -> None:
        if stage == "restoring":
            during.append(databases(of.ledger))

    assert drill(of, ANNA, progress=look)["ok"]
    assert [len(names) for names in during] == [1] * len(during)
    assert during
    assert databases(of.ledger) == []


@pytest.mark.parametrize("ledger_url", ["postgresql"], indirect=True)
def test_a_drill_may_be_given_an_empty_database(of: Settings, into: Settings) -> None:
    backup(of)

    assert drill(of, ANNA, scratch=into.ledger)["ok"]
    assert not is_there(into)


@pytest.mark.parametrize("ledger_url", ["postgresql"], indirect=True)
def test_a_drill_takes_no_ledger_for_a_scratch_one(of: Settings, into: Settings) -> None:
    backup(of)
    restore(into, backup(of))
    before = everything(into.ledger)

    with pytest.raises(Refused) as caught:
        drill(of, ANNA, scratch=into.ledger)

    assert caught.value.code == "scratch_taken"
    assert everything(into.ledger) == before
