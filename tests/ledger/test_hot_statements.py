"""The hot texts do what their Core forms say, and stay on their indexes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from schedcore._ledger import listeners
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.schema import metadata
from schedcore.testing import ManualClock, StandingHost
from tests.ledger import core_forms

T = 1_780_300_800_000_000
LEASE = 77


class _Undo(Exception):
    pass


def _tables(c: sa.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Every row the hot statements touch, runs named by job and slot: the two forms may number them apart."""
    runs = metadata.tables["schedcore.runs"]
    names = {r.id: (r.job_id, r.scheduled_for) for r in c.execute(sa.select(runs))}
    told = {}
    for name in ("runs", "attempts", "due", "outbox", "jobs"):
        table = metadata.tables[f"schedcore.{name}"]
        rows = []
        for row in c.execute(sa.select(table)).mappings():
            values = dict(row)
            if name in {"runs", "outbox"}:
                values.pop("id")
            if "run_id" in values:
                values["run_id"] = names.get(values["run_id"])
            rows.append(tuple(values.values()))
        told[name] = sorted(rows, key=repr)
    return told


def _run_both(ledger: Ledger, deed: Callable[[Any, sa.Connection], Any]) -> list[tuple[Any, Any]]:
    """(answer, tables after it) of the hot text and of the Core form, each rolled back."""
    outcomes = []
    for form in (ledger.hot, core_forms):
        try:
            with ledger.write() as c:
                outcomes.append((deed(form, c), _tables(c)))
                raise _Undo
        except _Undo:
            pass
    return outcomes


@pytest.fixture
def filled(host: StandingHost, ledger: Ledger, clock: ManualClock) -> Ledger:
    """Jobs in three lanes, runs in every live state, one lost, one listener."""
    host.hold = True
    for i in range(6):
        host.add(
            f"job-{i}", cron="*/5 * * * *", overlap="parallel", **({"tags": ["x"]} if i % 3 == 2 else {})
        )
    host.add("grouped", cron="*/5 * * * *", groups=["g"])
    clock.advance(minutes=5)
    host.beat()
    first = host.runs()[0]
    with ledger.write() as c:
        runs = metadata.tables["schedcore.runs"]
        c.execute(sa.update(runs).where(runs.c.id == first["id"]).values(lost_until=clock.wall() + 10**9))
        jobs = metadata.tables["schedcore.jobs"]
        c.execute(sa.update(jobs).where(jobs.c.key == "job-1").values(streak=3))
        listeners.register(c, ["ear"])
    clock.advance(minutes=5)
    return ledger


def _ids(ledger: Ledger, state: int) -> list[tuple[int, int, int]]:
    with ledger.read() as c:
        runs = metadata.tables["schedcore.runs"]
        query = sa.select(runs.c.id, runs.c.fence, runs.c.attempts).where(runs.c.state == state)
        return [tuple(r) for r in c.execute(query.order_by(runs.c.id))]


def _job_ids(ledger: Ledger) -> list[int]:
    with ledger.read() as c:
        jobs = metadata.tables["schedcore.jobs"]
        return list(c.execute(sa.select(jobs.c.id).order_by(jobs.c.id)).scalars())


def _same(pair: list[tuple[Any, Any]]) -> None:
    (hot, hot_tables), (core, core_tables) = pair
    assert hot == core
    for name, rows in core_tables.items():
        assert hot_tables[name] == rows, name


def test_reads_answer_the_same_rows(filled: Ledger, clock: ManualClock) -> None:
    now = clock.wall()

    def read(form: Any, c: sa.Connection) -> Any:
        due = form.rows_due if form is core_forms else form.due
        compiled = form.compiled if form is core_forms else form.definitions
        lanes = [head[0] for head in sorted(form.heads(c, "due"))]
        return (
            sorted(form.heads(c, "due")),
            sorted(form.heads(c, "queued")),
            [due(c, lane, now, 4) for lane in lanes],
            [form.queued(c, lane, late, now, 3) for lane in lanes for late in (0, 1)],
            sorted(compiled(c, [(1, 1), (2, 1), (7, 1)]), key=repr),
        )

    _same(_run_both(filled, read))


def test_slots_are_inserted_alike_and_a_taken_one_is_answered_none(
    filled: Ledger, clock: ManualClock
) -> None:
    slot = clock.wall()
    taken = slot - 5 * 60_000_000

    def insert(form: Any, c: sa.Connection) -> Any:
        running = form.insert_running(c, [(1, 1, 1, slot), (1, 1, 1, taken), (2, 1, 1, slot)], 9, LEASE, slot)
        row = (3, 1, 1, slot, 0, 0, 1, 1, slot + 5, slot, 2, "{}", "key", None, None, 1)
        queued = form.insert_runs(c, [row, (*row[:3], taken, *row[4:])])
        form.insert_attempts(c, [(running[0], 1, 1), (running[2], 1, 1)], 9, slot)
        form.advance(c, [(1, slot + 1, slot, None, 1), (2, None, slot, 4, 2)])
        return [i is None for i in (*running, *queued)]

    _same(_run_both(filled, insert))


def test_claims_and_ends_are_written_alike_and_a_lost_fence_is_counted(
    filled: Ledger, clock: ManualClock
) -> None:
    now = clock.wall()
    running, queued = _ids(filled, 1), _ids(filled, 0)
    assert len(running) >= 3
    assert queued

    def claim_and_settle(form: Any, c: sa.Connection) -> Any:
        (a, fa, _), (b, fb, _), (d, fd, _) = running[:3]
        taken = form.take(c, [queued[0][0], a], 9, LEASE)
        plain = form.end_well(c, [(a, fa, now - 900, now, 2)], now)
        again = (
            0,
            now - 7000,
            now,
            "failed",
            "exit_code",
            "t",
            3,
            now + 60,
            0,
            "out",
            "err",
            "ref",
            1,
            2,
            "o",
            "{}",
            "[]",
            1,
        )
        final = (
            6,
            now - 7000,
            now,
            "failed",
            "signal",
            None,
            -9,
            None,
            1,
            None,
            "err",
            None,
            None,
            None,
            None,
            None,
            None,
            0,
        )
        full = form.settle_full(c, [(b, fb, *again), (d, fd, *final), (a, fa, *final)])
        form.close_attempts(
            c, [(a, 1, now - 900, now, "ok", None, None, None), (b, 1, 1, 2, "failed", "r", "t", 3)]
        )
        form.post_final(c, [(1, a), (2, b)], now)
        return taken, plain, full

    _same(_run_both(filled, claim_and_settle))


def test_an_end_under_a_lost_fence_is_not_counted(filled: Ledger, clock: ManualClock) -> None:
    now = clock.wall()
    (a, fa, _), (b, fb, _) = _ids(filled, 1)[:2]
    rows = [(a, fa, now - 900, now, 1), (b, fb + 1, now, now, 2)]

    held = [answer for answer, _ in _run_both(filled, lambda form, c: form.end_well(c, rows, now))]

    assert held == [1, 1], "the caller brought two, and rolls back"


def test_plain_slots_are_opened_alike_and_a_taken_one_is_answered_none(
    filled: Ledger, clock: ManualClock
) -> None:
    slot = clock.wall()
    taken = slot - 5 * 60_000_000
    job, other = _job_ids(filled)[:2]

    def open_them(form: Any, c: sa.Connection) -> Any:
        rows = [(job, 1, 1, slot, slot + 9), (job, 1, 1, taken, slot + 9), (other, 1, 1, slot, None)]
        ids = form.open_running(c, rows[:1] + rows[2:], 9, LEASE, slot)
        again = form.open_running(c, rows[1:2], 9, LEASE, slot)
        return [i is None for i in (*ids, *again)]

    pair = _run_both(filled, open_them)
    _same(pair)
    assert pair[0][0] == [False, False, True]


_HOT_TABLES = re.compile(r"\bSCAN (?:schedcore\.)?(runs|due|attempts|jobs|definitions|d|q|r)\b(?! USING)")


def test_every_hot_statement_stays_on_an_index(filled: Ledger, clock: ManualClock) -> None:
    """With the parameters bound as in production; a scan of a growing table would make cost follow what exists."""
    now = clock.wall()
    seen: list[tuple[str, Any]] = []

    def note(
        conn: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool
    ) -> None:
        if not statement.lower().startswith(("explain", "pragma", "begin", "commit", "rollback")):
            seen.append((statement, parameters))

    sa.event.listen(filled.engine, "before_cursor_execute", note)
    try:
        with filled.write() as c:
            hot = filled.hot
            hot.heads(c, "due"), hot.heads(c, "queued")
            hot.due(c, 1, now, 10), hot.queued(c, 1, 0, now, 10), hot.definitions(c, [(1, 1)])
            hot.advance(c, [(1, now, now, None, 1)])
            hot.take(c, [1, 2], 1, LEASE)
            hot.end_well(c, [(1, 1, now, now, 1)], now)
            hot.open_running(c, [(1, 1, 1, now, None)], 1, LEASE, now)
            hot.close_attempts(c, [(1, 1, now, now, "ok", None, None, None)])
    finally:
        sa.event.remove(filled.engine, "before_cursor_execute", note)

    plans = {statement: _plan(filled, statement, parameters) for statement, parameters in seen}

    assert len(plans) >= 10
    bad = {
        s[:80]: p for s, p in plans.items() if _HOT_TABLES.search(p) or re.search(r"Seq Scan on (?!v\b)", p)
    }
    assert bad == {}


def _plan(ledger: Ledger, statement: str, parameters: Any) -> str:
    with ledger.write() as c:
        word = "explain query plan " if ledger.is_sqlite else "explain "
        return "\n".join(str(row[-1]) for row in c.exec_driver_sql(word + statement, parameters))
