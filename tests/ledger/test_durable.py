"""What the SQLite ledger promises its disk, and its neighbours, on every connection (G5, L-02)."""

from __future__ import annotations

import pytest

from schedcore._ledger.ledger import Ledger

_FULL = 2


@pytest.mark.parametrize("how", ["read", "write"])
def test_every_connection_of_an_sqlite_ledger_is_synced_in_full_and_writes_ahead(
    ledger: Ledger, how: str
) -> None:
    if not ledger.is_sqlite:
        pytest.skip("the server's own settings decide, and `doctor` says what they promise less")
    with ledger.connect() as one, ledger.connect() as other, getattr(ledger, how)(one), ledger.read(other):
        for c in (one, other):
            assert c.exec_driver_sql("pragma synchronous").scalar_one() == _FULL
            assert c.exec_driver_sql("pragma journal_mode").scalar_one() == "wal"
            assert c.exec_driver_sql("pragma foreign_keys").scalar_one() == 1
