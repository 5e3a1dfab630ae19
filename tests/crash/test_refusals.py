"""What a host does not open: damaged, newer, foreign, careless ledgers (L-02, L-03, G5, G10)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from schedcore import Host
from schedcore._ledger.dialects import sqlite
from schedcore._ledger.migrate import HEAD
from schedcore._ledger.schema import hosts
from schedcore.domain.errors import LedgerError, LedgerTooNew, Refused
from schedcore.testing import Told, fresh_sqlite, unstarted_host, until
from tests.crash.fleet import Fleet, ahead


@pytest.fixture
def filled(sqlite_fleet: Fleet) -> Fleet:
    """A ledger with something in it, and no host."""
    host = sqlite_fleet.start("once")
    sqlite_fleet.add_many([f"job-{n}" for n in range(50)], at=ahead(1.0))
    sqlite_fleet.final(50)
    host.stop()
    sqlite_fleet.hand.stop()
    sqlite_fleet._hand = None
    return sqlite_fleet


def path_of(fleet: Fleet) -> Path:
    return Path(sa.make_url(fleet.url).database or "")


def test_fault_r34_a_ledger_cut_in_half_is_refused_and_kept_as_it_is(filled: Fleet) -> None:
    path = path_of(filled)
    for beside in path.parent.glob(path.name + "-*"):
        beside.unlink()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 // 4096 * 4096)
    before = path.read_bytes()

    host = filled.host("b").begin()

    assert not host.ready()
    assert host.refused is not None
    assert host.refused.startswith("ledger_corrupt: ")
    assert path.read_bytes() == before


def test_fault_r34_a_file_that_is_no_ledger_is_refused_and_kept(memory_folder: Path) -> None:
    path = memory_folder / "ledger.db"
    path.write_bytes(b"not a database, but somebody's work\n" * 200)

    with pytest.raises(LedgerError) as refused:
        _host(f"sqlite:///{path}", memory_folder).start()

    assert refused.value.code == "ledger_corrupt"
    assert path.read_bytes().startswith(b"not a database, but somebody's work\n")


def test_a_newer_ledger_is_not_opened_and_both_versions_are_named(ledger_url: str, tmp_path: Path) -> None:
    given = _host(ledger_url, tmp_path)
    prefix = "" if given.ledger.is_sqlite else "schedcore."
    with given.ledger.write() as c:
        c.exec_driver_sql(f"update {prefix}schedcore_version set version_num = '9999'")
    given.stop()
    try:
        with pytest.raises(LedgerTooNew, match=f"schema 9999.*up to {HEAD}"):
            _host(ledger_url, tmp_path).start()
    finally:
        _set_version(ledger_url, HEAD)


def _set_version(url: str, version: str) -> None:
    engine = sa.create_engine(url)
    with engine.begin() as c:
        prefix = "" if url.startswith("sqlite") else "schedcore."
        c.exec_driver_sql(f"update {prefix}schedcore_version set version_num = '{version}'")
    engine.dispose()


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs"])
def test_a_file_on_a_network_file_system_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    mounts = f"1 0 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / {tmp_path} rw - {kind} server:/b rw\n"
    real = sqlite.file_system
    monkeypatch.setattr(sqlite, "file_system", lambda path: real(path, mounts))

    with pytest.raises(Refused, match=rf"network file system \({kind}\)") as refused:
        _host(f"sqlite:///{tmp_path}/ledger.db", tmp_path / "state").start()

    assert refused.value.code == "network_file_system"
    assert not (tmp_path / "ledger.db").exists()


def test_a_host_on_another_machine_is_refused_while_the_first_one_moves(sqlite_fleet: Fleet) -> None:
    sqlite_fleet.start("here")
    other = sqlite_fleet.host("elsewhere", boot_id="00000000-another-boot").begin()

    assert not other.ready()

    assert other.refused is not None
    assert other.refused.startswith("another_machine: ")
    assert "PostgreSQL" in other.refused


def test_a_host_of_an_earlier_boot_that_is_gone_is_buried_and_its_runs_are_found(sqlite_fleet: Fleet) -> None:
    before = sqlite_fleet.start("before", boot_id="00000000-earlier-boot")
    sqlite_fleet.add("long", at=ahead(0.05), payload={"seconds": 60})
    assert until(lambda: sqlite_fleet.record("began"))
    before.kill()

    sqlite_fleet.start("after")

    assert sqlite_fleet.final(1) == ["interrupted"]
    states = sqlite_fleet.read(lambda c: dict(iter(c.execute(sa.select(hosts.c.name, hosts.c.state)).all())))
    assert states["before"] == "dead"


def test_a_server_that_may_lose_what_it_acknowledged_is_refused_unless_it_is_named(
    postgres_fleet: Fleet, tmp_path: Path
) -> None:
    told = Told(postgres_fleet.url, tmp_path, "strict")
    strict = Host(settings=replace(unstarted_host(told).settings, accept_weaker=()), discover=False)

    with pytest.raises(Refused) as refused:
        strict.start()

    assert refused.value.code == "not_durable"
    assert "synchronous_commit=off" in str(refused.value)
    assert "fsync=off" in str(refused.value)
    assert not strict.running

    named = Host(
        settings=replace(strict.settings, accept_weaker=("fsync", "full_page_writes")), discover=False
    )
    with pytest.raises(Refused, match="synchronous_commit=off") as refused:
        named.start()
    assert "fsync=off" not in refused.value.message


def test_a_host_that_accepts_less_says_so_in_the_status(postgres_fleet: Fleet) -> None:
    postgres_fleet.start("weak")

    told = until(lambda: postgres_fleet.hand.control().status()["hosts"][0]["status"].get("weaker"))

    assert "synchronous_commit=off" in told


def test_hosts_that_start_together_on_nothing_migrate_once(together: Fleet) -> None:
    begun = [together.host(f"h{n}").begin() for n in range(4)]

    assert [host.ready() for host in begun] == [True] * 4, together.logs()

    assert together.logs().count("Running upgrade  -> 0001") == 1
    rows = together.read(lambda c: c.execute(sa.text(f"select count(*) from {_version(together)}")).scalar())
    assert rows == 1
    together.add("after", at=ahead(0.05))
    assert together.final(1) == ["succeeded"]


def _version(fleet: Fleet) -> str:
    return "schedcore_version" if fleet.hand.ledger.is_sqlite else "schedcore.schedcore_version"


@pytest.fixture(params=["sqlite", "postgresql"])
def together(request: pytest.FixtureRequest, memory_folder: Path) -> Iterator[Fleet]:
    """A fleet on a ledger that is not there yet."""
    from tests import pg

    if request.param == "sqlite":
        made = Fleet(f"sqlite:///{memory_folder}/none/ledger.db", memory_folder)
        yield made
        made.close()
        return
    with pg.database(
        request.getfixturevalue("postgres_server"), f"new_{memory_folder.name[-8:]}".lower()
    ) as url:
        made = Fleet(url, memory_folder)
        yield made
        made.close()


def test_hosts_that_start_together_on_an_old_ledger_upgrade_it_once(memory_folder: Path) -> None:
    """There is one released schema: the oldest ledger is an empty one that an older host has left unfinished."""
    fresh_sqlite(memory_folder)
    path = memory_folder / "ledger.db"
    with closing(sqlite3.connect(path)) as c:
        for kind, name in c.execute(
            "select type, name from sqlite_master where name not like 'sqlite_%'"
        ).fetchall():
            if kind in {"view", "table"}:
                c.execute(f"drop {kind} if exists {name}")
        c.execute("create table schedcore_version (version_num varchar(32) not null primary key)")
        c.commit()
    fleet = Fleet(f"sqlite:///{path}", memory_folder)
    try:
        begun = [fleet.host(f"h{n}").begin() for n in range(3)]
        assert [host.ready() for host in begun] == [True] * 3, fleet.logs()
        assert fleet.logs().count("Running upgrade  -> 0001") == 1
    finally:
        fleet.close()


def _host(url: str, folder: Path) -> Host:
    made: Host = unstarted_host(Told(url, folder / "state", "host"))
    return made
