"""The way of the hot statements to the driver, with and without somebody who listens to them."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from schedcore._ledger.dialects.driver import execute
from schedcore._ledger.ledger import Ledger
from schedcore.spec import failed
from schedcore.testing import ManualClock, Player, StandingHost


@pytest.fixture
def heard(ledger: Ledger) -> list[str]:
    """What a tracer hears from now on."""
    words: list[str] = []
    sa.event.listen(ledger.engine, "before_cursor_execute", lambda *given: words.append(given[2]))
    return words


def test_a_statement_that_is_listened_to_says_how_many_rows_it_wrote(
    ledger: Ledger, heard: list[str]
) -> None:
    table = "ledger" if ledger.is_sqlite else "schedcore.ledger"

    with ledger.write() as c:
        one = execute(c, f"update {table} set incarnation=incarnation").rowcount
        none = execute(c, f"update {table} set incarnation=incarnation where 1=0").rowcount

    assert (one, none) == (1, 0)
    assert f"update {table} set incarnation=incarnation" in heard


def test_a_run_that_fails_under_a_tracer_is_settled(
    ledger: Ledger, clock: ManualClock, heard: list[str], tmp_path: Path
) -> None:
    player = Player(then=failed("exit_code", exit_code=1))
    host = StandingHost(ledger, clock, tmp_path, [player.plays("tries")])
    host.add("fails", kind="tries", cron="*/5 * * * *")
    clock.advance(minutes=5)

    for _ in range(3):
        host.beat()

    assert [run["word"] for run in host.runs()] == ["failed"]
    assert heard
    host.stop()
