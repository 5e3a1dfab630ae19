"""A backup: one instant of a ledger in one file, that is whole or not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.host.backing import ANNA, backup, everything, into, ledger_url, left, of, restore, settings

from schedcore._host.backing_up import backup as back_up
from schedcore._host.settings import Settings
from schedcore._ledger.backups import files, making, manifest
from schedcore._ledger.backups.files import alone
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.schema import groups, jobs
from schedcore.domain.errors import Conflict, LedgerError, LedgerTooNew
from schedcore.testing import open_ledger

__all__ = ["into", "ledger_url", "of"]


def test_a_backup_says_what_it_holds(of: Settings) -> None:
    file = backup(of)

    said = json.loads(manifest.beside(file).read_text())
    there = everything(of.ledger, but=frozenset({"events"}))
    assert {name: one["rows"] for name, one in said["tables"].items() if name in there} == {
        name: len(rows) for name, rows in there.items()
    }
    assert (said["bytes"], said["sha256"]) == (file.stat().st_size, files.checksum(file))


def test_a_backup_is_its_owners_alone(of: Settings) -> None:
    file = backup(of)

    assert [path.stat().st_mode & 0o777 for path in (file.parent, file, manifest.beside(file))] == [
        0o700, 0o600, 0o600,
    ]  # fmt: skip


def test_what_is_written_while_it_is_copied_is_not_in_it(
    of: Settings, into: Settings, ledger: Ledger
) -> None:
    before = everything(of.ledger)
    written = []

    def meanwhile(stage: str, done: int, whole: int) -> None:
        with ledger.write() as c:
            c.execute(sa.insert(groups).values(name=f"group-{len(written)}", places=1))
            written.append(c.execute(sa.update(jobs).values(name=f"name-{len(written)}")).rowcount)

    file = Path(back_up(of, ANNA, progress=meanwhile)["file"])

    restore(into, file)
    assert written
    assert everything(of.ledger)["jobs"] != before["jobs"]
    assert everything(into.ledger)["jobs"] == before["jobs"]
    assert everything(into.ledger)["groups"] == []


def test_the_newest_stay_and_older_ones_of_this_ledger_go(of: Settings, tmp_path: Path) -> None:
    other = settings(f"sqlite:///{tmp_path}/other/ledger.db", tmp_path, backup_folder=str(of.backup_folder))
    open_ledger(other.ledger).close()
    theirs = backup(other)
    mine = [backup(of, keep=2) for _ in range(3)]

    names = sorted(path.name for path in of.backup_folder.glob("*.backup*"))
    kept = [theirs, *mine[1:]]
    assert names == sorted(path.name for file in kept for path in (file, manifest.beside(file)))


def test_a_named_file_is_never_written_over(of: Settings, tmp_path: Path) -> None:
    file = backup(of, tmp_path / "my.backup")
    before = file.read_bytes()

    with pytest.raises(Conflict, match="is there already"):
        backup(of, file)

    assert file.read_bytes() == before


def test_a_dry_run_writes_nothing(of: Settings) -> None:
    told = back_up(of, ANNA, dry_run=True)

    assert told["dry_run"]
    assert not of.backup_folder.exists()


def test_two_at_a_time_are_refused(of: Settings) -> None:
    of.backup_folder.mkdir(parents=True)
    with alone(of.backup_folder, "another"), pytest.raises(Conflict) as caught:
        backup(of)

    assert caught.value.code == "backup_running"


def test_it_is_an_event_of_the_ledger(of: Settings) -> None:
    file = backup(of)

    (told,) = [row for row in everything(of.ledger)["events"] if "backup" in row]
    assert f"{file.name}, {file.stat().st_size} bytes" in told


@pytest.mark.parametrize("step", ["name", "manifest"])
def test_what_fails_at_the_end_leaves_nothing(
    of: Settings, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*given: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    if step == "name":
        monkeypatch.setattr(making, "settle", full)
    else:
        monkeypatch.setattr(manifest, "put_in_place", full)

    with pytest.raises((LedgerError, OSError)):
        backup(of)

    assert list(of.backup_folder.glob("*.backup*")) == []
    assert left(of.backup_folder) == []


def test_a_ledger_without_tables_is_none(tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()

    with pytest.raises(LedgerError) as caught:
        backup(settings(f"sqlite:///{empty}", tmp_path))

    assert caught.value.code == "no_ledger"


def test_a_backup_of_a_newer_form_is_not_read(of: Settings) -> None:
    file = backup(of)
    beside = manifest.beside(file)
    beside.write_text(json.dumps({**json.loads(beside.read_text()), "v": manifest.FORMAT + 1}))

    with pytest.raises(LedgerTooNew, match="a backup of form"):
        manifest.read(file)


def test_a_backup_restored_elsewhere_holds_every_row(of: Settings, into: Settings) -> None:
    marked = frozenset({"ledger", "holds", "events", "hosts"})
    before = everything(of.ledger, but=marked)

    restore(into, backup(of))

    after = everything(into.ledger, but=marked)
    assert after.pop("runs")[:3] == before.pop("runs")[:3]  # the fourth, which is running, has another fence
    assert after == before
