"""schedcore itself: the ``Host`` that ``schedcore serve`` starts, with its durability, in the child's process.

Jobs are written first, with slots a moment ahead; then the host starts, as it would after a reboot, and
sleeps until they are due. A drain is measured from that instant to the commit of the last finish. Nothing is
told to the engine that a settings file could not tell it.
"""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson

from benchmarks.bench import ROOT, Failed
from benchmarks.filling import filling
from schedcore._engine import clock
from schedcore._host.host import Host
from schedcore._host.settings import load
from schedcore.domain.clock import HOUR, MILLISECOND, SECOND
from schedcore.domain.outcome import ok
from schedcore.spec import Executor, hookimpl

__all__ = [
    "SWITCH_S",
    "NoWork",
    "busy",
    "checked",
    "drain",
    "drain_by_hosts",
    "emptied",
    "host",
    "one_of_many",
    "reading",
    "soon",
    "spare",
]

SWITCH_S = 0.000_5  # what `schedcore serve` sets
_LOOK_S = 0.005
_READY_US = 100_000
_IDLE_S = 1.0


class NoWork:
    """A plugin whose kind ``noop`` does nothing, and counts how often."""

    def __init__(self) -> None:
        self._count = itertools.count()

    def execute(self, ctx: Any) -> Any:
        """Nothing."""
        next(self._count)
        return ok()

    def counted(self) -> int:
        """How often; to be asked once, when all is done."""
        return next(self._count)

    @hookimpl
    def schedcore_executors(self) -> list[Executor]:
        """The kind ``noop``."""
        return [Executor(kind="noop", payload={"type": "object"}, execute=self.execute)]


def soon(seconds: float) -> int:
    """A slot so far ahead: a whole millisecond."""
    return (clock.wall() + int(seconds * SECOND)) // MILLISECOND * MILLISECOND


def host(url: str, folder: str, name: str = "bench", **settings: Any) -> tuple[Host, NoWork]:
    """A host that is not started."""
    given = {"ledger": url, "state_folder": folder, "name": name, **settings}
    work = NoWork()
    plugins = [("bench", SimpleNamespace(schedcore_executors=work.schedcore_executors))]
    return Host(settings=load(None, {}, given), plugins=plugins, discover=False), work


@contextlib.contextmanager
def busy(*, wanted: bool) -> Iterator[None]:
    """A thread of pure Python that never rests, in this very process."""
    ended = threading.Event()

    def burn() -> None:
        while not ended.is_set():
            sum(range(1_000))

    thread = threading.Thread(target=burn, daemon=True)
    if wanted:
        thread.start()
    yield
    ended.set()


def spare(slot: int) -> float:
    """By how many seconds the host stands before its slots come; what is measured of one that does not is void."""
    return (slot - _READY_US - clock.wall()) / SECOND


def emptied(
    one: Host, n: int, slot: int, look: Callable[[], object] = lambda: None, *, every: float = _LOOK_S
) -> tuple[int, list[tuple[int, int]]]:
    """Wait until ``n`` runs are settled; when that was, and (microseconds since the slot, settled) on the way.

    ``look`` is called at each look, ``every`` so many seconds.
    """
    counters = one._crew.engine.counters  # type: ignore[union-attr]  # the host is started
    seen: list[tuple[int, int]] = []
    moved = time.monotonic()
    while counters.settled < n or one.busy():
        time.sleep(every)
        look()
        now, settled = clock.wall(), counters.settled
        if not seen or settled != seen[-1][1]:
            seen.append((now - slot, settled))
            moved = time.monotonic()
        elif now > slot and time.monotonic() - moved > 20:
            raise Failed(f"stalled at {settled} of {n}: {counters}")
    end = clock.wall()
    return end, [*seen, (end - slot, counters.settled)]


def drain(
    url: str,
    folder: str,
    n: int,
    lead: float,
    *,
    settings: dict[str, Any] | None = None,
    neighbour: bool = False,
) -> dict[str, Any]:
    """``n`` jobs that are due at one instant, ``lead`` seconds from now, done by one host."""
    sys.setswitchinterval(SWITCH_S)
    slot = soon(lead)
    with filling(url) as fill:
        fill.jobs(1, n, slot)
    one, work = host(url, folder, **(settings or {}))
    one.start()
    if (left := spare(slot)) < 0:
        one.stop(0)
        return {"spare": left}
    with busy(wanted=neighbour):
        end, _ = emptied(one, n, slot)
    one.stop()
    checked(url, n, slot)
    if (done := work.counted()) != n:
        raise Failed(f"{n} slots, {done} executions")
    return {"n": n, "seconds": (end - slot) / SECOND, "spare": left}


def checked(url: str, n: int, slot: int | None = None) -> None:
    """One finished run and one attempt per slot, none lost, none twice, every job moved on by an hour."""
    with reading(url) as (ask, prefix):
        found = {
            "runs": ask(f"select count(*) from {prefix}runs"),
            "finished runs": ask(
                f"select count(*) from {prefix}runs where state=3 and finished_at>=started_at"
            ),
            "jobs with a run": ask(f"select count(distinct job_id) from {prefix}runs"),
            "attempts": ask(
                f"select count(*) from {prefix}attempts where finished_at is not null and outcome='ok'"
            ),
        }
        if slot is not None:
            moved = f"select count(*) from {prefix}due where next_run_at={slot + HOUR} and last_slot={slot}"
            found["jobs moved on"] = ask(moved)
        skipped = ask(f"select count(*) from {prefix}skipped")
    wrong = {name: value for name, value in found.items() if value != n}
    if wrong or skipped:
        raise Failed(f"{n} slots, but {wrong}, skipped {skipped}")


@contextlib.contextmanager
def reading(url: str) -> Iterator[tuple[Callable[[str], Any], str]]:
    """A function that answers the one value of a query, and the prefix of our tables."""
    if url.startswith("sqlite"):
        import sqlite3

        c = sqlite3.connect(url.removeprefix("sqlite:///"))
        yield (lambda query: c.execute(query).fetchone()[0]), ""
        c.close()
        return
    import psycopg

    with psycopg.connect(url) as pg:
        yield (lambda query: pg.execute(query).fetchone()[0]), "schedcore."  # type: ignore[index]  # the query answers a row


def drain_by_hosts(
    url: str, folder: str, n: int, lead: float, *, hosts: int, settings: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The same by several hosts, each a process of its own, on one ledger."""
    slot = soon(lead)
    with filling(url) as fill:
        fill.jobs(1, n, slot)
    started = []
    for i in range(hosts):
        given = {
            "url": url,
            "folder": f"{folder}/{i}",
            "name": f"bench-{i}",
            "slot": slot,
            "settings": settings,
        }
        command = [sys.executable, "-m", "benchmarks.child", "benchmarks.ours:one_of_many"]
        started.append(
            subprocess.Popen(
                [*command, orjson.dumps(given).decode()],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )
    answers: list[dict[str, Any]] = []
    for process in started:
        out, err = process.communicate(timeout=300)
        if process.returncode:
            raise Failed(err.decode()[-2000:])
        answers.append(orjson.loads(out.splitlines()[-1]))
    if (left := min(answer["spare"] for answer in answers)) < 0:
        return {"spare": left}
    checked(url, n, slot)
    claims = [answer["claims"] for answer in answers]
    if sum(claims) != n:
        raise Failed(f"{n} slots, {claims} executions")
    took = max(answer["seconds"] for answer in answers)
    return {"n": n, "seconds": took, "claims": claims, "spare": left}


def one_of_many(
    url: str, folder: str, name: str, slot: int, settings: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One of the hosts: works until nothing has come for a second."""
    sys.setswitchinterval(SWITCH_S)
    Path(folder).mkdir(exist_ok=True)
    one, work = host(url, folder, name, **(settings or {}))
    one.start()
    if (left := spare(slot)) < 0:
        one.stop(0)
        return {"spare": left}
    counters = one._crew.engine.counters  # type: ignore[union-attr]  # the host is started
    settled, end = 0, slot
    while clock.wall() < max(end, slot) + _IDLE_S * SECOND:
        time.sleep(_LOOK_S)
        if counters.settled != settled:
            settled, end = counters.settled, clock.wall()
    one.stop()
    return {"claims": work.counted(), "seconds": (end - slot) / SECOND, "spare": left}
