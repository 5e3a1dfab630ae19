"""A ledger in which everything happens that the rules speak of, and all of it rightly."""

from __future__ import annotations

import logging
from pathlib import Path

from schedcore._ledger.ledger import Ledger
from schedcore.spec import RunContext, failed, ok
from schedcore.testing import ManualClock, StandingHost, noop

__all__ = ["tell"]


def tell(ledger: Ledger, clock: ManualClock, folder: Path) -> None:
    """Let it happen. In the end the host ``third`` lives, and holds a run of ``slow``."""
    logging.disable(logging.WARNING)
    try:
        _tell(ledger, clock, folder)
    finally:
        logging.disable(logging.NOTSET)


def _tell(ledger: Ledger, clock: ManualClock, folder: Path) -> None:
    first = StandingHost(
        ledger, clock, folder / "first", [noop(), noop("flaky", _flaky)], name="first", beat=120
    )
    second = StandingHost(
        ledger, clock, folder / "second", [noop("held")], name="second", hold=True, beat=120
    )
    control = first.control
    first.add("quarter", trigger={"cron": "*/15 * * * *", "zone": "Europe/Berlin"}, labels=["a"])
    first.add("noon", trigger={"cron": "30 12 * * *", "zone": "Europe/Berlin"}, jitter=90)
    first.add("flaky", kind="flaky", every="40m", attempts=3)
    first.add("few", every="30m", count=3)
    first.add("many", every="30m", count=1_000)
    first.add("once", at="2026-06-01T09:20:00Z")
    first.add("wide", every="25m", overlap="parallel", overlap_max=3)
    for key, on_lost in (("lost", "stop"), ("again", "retry")):
        second.add(key, kind="held", every="2h", on_lost=on_lost, attempts=2, timeout=10_800)

    for _ in range(27):
        clock.advance(minutes=5)
        second.beat()
        first.beat()
    second.die()  # it held a run of each
    control.halt(True, "a look around")
    clock.advance(minutes=2)
    control.halt(False, None)

    clock.advance(hours=3, seconds=7)  # asleep
    first.beat()
    for _ in range(6):  # in contact for one lease: the lost runs are judged
        clock.advance(20)
        first.beat()
    control.pause("quarter", reason="for a while")
    clock.advance(hours=1)
    control.resume("quarter")
    control.edit("quarter", {"overlap": "queue_one"})
    control.edit("quarter", {"description": "each quarter of an hour"})
    control.run("quarter")
    clock.advance(minutes=16)
    first.beat()
    control.backfill("quarter", "2026-06-01T13:30:00Z", "2026-06-01T14:00:00Z", reason="they count after all")
    first.beat()

    third = StandingHost(ledger, clock, folder / "third", [noop("held")], name="third", hold=True)
    third.beat()
    for run_id in list(third.held):
        third.finish(run_id)
    third.add("slow", kind="held", every="50m")
    for _ in range(150):
        clock.advance(20)
        first.beat()
        third.beat()
        for run_id, item in list(third.held.items()):
            if item.job.key != "slow":
                third.finish(run_id)
    third.beat()
    first.crew.loop._drop_connection()
    third.crew.loop._drop_connection()
    with ledger.write() as c:  # nobody buries a host that died
        prefix = "" if ledger.is_sqlite else "schedcore."
        c.exec_driver_sql(f"update {prefix}hosts set state='dead' where name='second'")


def _flaky(ctx: RunContext) -> object:
    return failed("exit_code", exit_code=1) if ctx.attempt == 1 else ok()
