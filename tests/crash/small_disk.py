"""The story of a full disk, told in a process that alone sees a small file system (see ``test_disk_full``)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import sqlalchemy as sa

from schedcore._ledger.schema import holds
from schedcore.testing import fresh_sqlite, until, within
from tests.crash.fleet import Fleet
from tests.crash.truth import faults


def story(small: Path, folder: Path) -> None:
    """Fill the disk under a host, and free it again."""
    fleet = Fleet(fresh_sqlite(small), folder)
    try:
        host = fleet.start("a", beat=0.3, lease=5)
        for n in range(5):
            fleet.add(f"job-{n}.per1", every="1s", catch_up="all", catch_up_max=60)
        assert until(lambda: len(fleet.record("finished")) >= 10)

        _fill(small)
        assert until(lambda: "hold disk_full" in host.log(), 15), host.log()
        begun = len(fleet.record("started"))
        assert not within(lambda: len(fleet.record("started")) > begun + 5, 1.5)
        assert host.alive
        assert faults(fleet) == []

        (small / "filler").unlink()
        assert until(lambda: len(fleet.record("finished")) >= begun + 10, 10), host.log()
        assert until(lambda: _hold(fleet), 5), host.log()
        ((reason, lifted),) = set(_hold(fleet))
        assert reason == "disk_full"
        assert lifted
        host.stop(5)
        assert faults(fleet) == []
        assert "interrupted" not in fleet.words()
    finally:
        fleet.close()


def _fill(folder: Path) -> None:
    fd = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT, 0o600)
    size = 1 << 16
    while size:
        try:
            os.write(fd, b"\0" * size)
        except OSError:
            size //= 2
    os.close(fd)


def _hold(fleet: Fleet) -> list[tuple[str, bool]]:
    return fleet.read(
        lambda c: [(r[0], r[1] is not None) for r in c.execute(sa.select(holds.c.reason, holds.c.until))]
    )


if __name__ == "__main__":
    story(Path(sys.argv[1]), Path(sys.argv[2]))
