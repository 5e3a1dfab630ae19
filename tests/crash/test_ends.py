"""Ends that no ledger can hold, and files that no spool should hold: they stop nobody else (T-17, T-19)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from schedcore._ledger import events
from schedcore._ledger.ledger import Ledger
from schedcore.domain.errors import LedgerError
from schedcore.domain.outcome import Outcome, ok
from schedcore.testing import DyingLedger, ManualClock, StandingHost, noop

HOSTILE = {
    "an object": Outcome("ok", detail={"x": object()}),
    "a NUL": Outcome("failed", "executor_error", "a\0b", detail={"x": "\0"}),
    "half a character": Outcome("failed", "executor_error", "a\ud800b"),
    "a reason of bytes": Outcome("failed", b"reason"),  # type: ignore[arg-type]  # wrong on purpose
    "an exit code beyond all numbers": Outcome("failed", "exit_code", None, 2**70),
}


@pytest.mark.parametrize("outcome", HOSTILE.values(), ids=HOSTILE)
def test_an_end_that_cannot_be_stored_ends_its_own_run_and_no_other(
    ledger: Ledger, clock: ManualClock, tmp_path: Path, outcome: Outcome
) -> None:
    ends: dict[str, Any] = {"bad": outcome}
    execute = lambda ctx: ends.get(ctx.job_key, ok())  # noqa: E731
    host = StandingHost(ledger, clock, tmp_path / "state", [noop(execute=execute)], hold=False)
    jobs = [host.add(key, every="1m") for key in ("bad", "good", "fine")]

    clock.advance(minutes=1)
    host.beat()
    clock.advance(minutes=1)
    host.beat()

    words = [[run["word"] for run in host.runs(job)] for job in jobs]
    assert words[1:] == [["succeeded"] * 2] * 2
    assert words[0] in (["failed"] * 2, ["succeeded"] * 2)
    assert host.engine.counters.beats >= 2
    host.stop()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"run_id": 1}'])
def test_a_file_in_the_spool_that_cannot_be_taken_in_is_set_aside_and_the_beat_goes_on(
    host: StandingHost, clock: ManualClock, text: str
) -> None:
    job = host.add("good", every="1m")
    spool = host.engine.folder / "spool"
    (spool / "7-1.finish").write_text(text)

    clock.advance(minutes=1)
    host.beat()

    assert [run["word"] for run in host.runs(job)] == ["succeeded"]
    assert [path.suffix for path in spool.iterdir()] in ([".refused"], [".finish"])


def test_the_end_of_a_run_that_the_ledger_has_never_seen_is_dropped_and_said(
    host: StandingHost, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """As when an older copy of the ledger is put back under a host that lives."""
    host.hold = True
    host.add("long", every="1m")
    clock.advance(minutes=1)
    host.beat()
    (run_id,) = host.held
    with host.ledger.write() as c:
        for table in ("attempts", "runs", "due", "events", "definitions", "jobs"):
            prefix = "" if host.ledger.is_sqlite else "schedcore."
            c.exec_driver_sql(f"delete from {prefix}{table}")

    host.finish(run_id)
    host.beat()

    assert "cannot be recorded and is dropped" in caplog.text
    host.hold = False
    host.add("after", every="1m")
    clock.advance(minutes=1)
    host.beat()
    assert [r["word"] for r in host.runs()] == ["succeeded"]


@pytest.mark.parametrize("nth", range(1, 5))
def test_a_commit_that_cannot_be_read_back_at_once_is_read_back_before_anything_else(
    ledger_url: str, ledger: Ledger, clock: ManualClock, tmp_path: Path, nth: int
) -> None:
    """The commit happens, its answer is lost, and the ledger is away when it is asked (G5, finding 4)."""
    dying = DyingLedger(ledger_url, clock)
    done: list[int] = []
    execute = lambda ctx: (done.append(ctx.run_id), ok())[1]  # noqa: E731
    host = StandingHost(dying, clock, tmp_path / "state", [noop(execute=execute)])
    job = host.add("one", every="1h")
    host.beat()
    clock.advance(hours=1)

    with cut_after(dying, nth), suppress(LedgerError):
        host.beat()
    for _ in range(3):
        host.beat()

    (run,) = host.runs(job)
    assert (run["word"], run["attempts"]) == ("succeeded", 1)
    assert done == [run["id"]]
    with ledger.read() as c:
        assert "stale_result" not in {event["action"] for event in events.history(c, job)}
    assert host.engine.unknown is None
    host.stop()
    dying.close()


@contextmanager
def cut_after(dying: DyingLedger, nth: int) -> Iterator[None]:
    """The ``nth`` writing commit happens, and from its answer on the ledger is away."""
    meet, left = dying._meet, [nth]

    def met(what: str, *, after: bool) -> None:
        meet(what, after=after)
        if what == "commit" and after:
            left[0] -= 1
            if left[0] == 0:
                dying._away = True
                raise OperationalError("", None, ConnectionError("no answer"))

    dying._meet = met
    try:
        yield
    finally:
        dying._meet = meet
        dying._away = False
        assert left[0] <= 0
