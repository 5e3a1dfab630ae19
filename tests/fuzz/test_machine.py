"""People, hosts and clocks do what they like to one ledger, and a plain model knows what must be true of it.

The model shares nothing with the core: it counts minutes, remembers what it was handed and what it handed back,
and lets the auditor read the rest. Jobs are minutely in UTC, so a slot is a whole minute.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from schedcore.domain.errors import Mistake
from schedcore.domain.outcome import Outcome, ok
from schedcore.spec import failed
from schedcore.testing import ManualClock, StandingHost, empty, fresh_sqlite, noop, open_ledger
from tests.auditing import untrue

MINUTE = 60_000_000
LEASE_S = 60
_OUTCOMES: tuple[Outcome, ...] = (
    ok(),
    failed("exit_code", exit_code=1),
    Outcome("no_op"),
    Outcome("interrupted", "shutdown"),
)


class Machine(RuleBasedStateMachine):
    """One ledger under everything. ``make`` answers the URL of an empty one."""

    make: Any

    @initialize()
    def begin(self) -> None:
        self.clock = ManualClock()
        self.folder = Path(tempfile.mkdtemp(prefix="schedcore-fuzz-"))
        self.url = type(self).make(self.folder)
        self.ledger = open_ledger(self.url, self.clock)
        self.hosts: list[StandingHost] = []
        self.born = 0
        self.steady: dict[str, int] = {}
        self.keys: list[str] = []
        self.handed_back: dict[tuple[int, int], tuple[str, int]] = {}
        self.newcomer()

    def newcomer(self) -> None:
        self.born += 1
        host = StandingHost(
            self.ledger, self.clock, self.folder / str(self.born), [noop()],
            name=f"host-{self.born}", hold=True, workers=4, lease=LEASE_S,
        )  # fmt: skip
        self.hosts.append(host)

    # -- what people do ---------------------------------------------------------------------------------

    @rule(
        overlap=st.sampled_from(["skip", "queue_one", "parallel", "replace"]),
        catch_up=st.sampled_from(["run_once", "skip", "all"]),
        attempts=st.integers(1, 3),
        breaker=st.sampled_from([0, 2]),
    )
    @precondition(lambda self: len(self.keys) < 5)
    def add(self, overlap: str, catch_up: str, attempts: int, breaker: int) -> None:
        key = f"job-{len(self.keys)}"
        fields: dict[str, Any] = {"overlap": overlap, "catch_up": catch_up, "attempts": attempts}
        if attempts > 1:
            fields["retry_delay"] = "10s"
        if overlap == "parallel":
            fields["overlap_max"] = 3
        self.hosts[0].add(key, cron="* * * * *", breaker=breaker, **fields)
        self.keys.append(key)
        if not breaker:
            self.steady[key] = self.clock.wall()

    @rule(pick=st.integers(0, 9), what=st.sampled_from(["pause", "resume", "run", "remove", "edit", "often"]))
    @precondition(lambda self: self.keys)
    def order(self, pick: int, what: str) -> None:
        key, control = self.keys[pick % len(self.keys)], self.hosts[pick % len(self.hosts)].control
        if what not in {"run", "edit"}:
            self.steady.pop(key, None)
        try:
            if what == "pause":
                control.pause(key, reason="a person")
            elif what == "resume":
                control.resume(key, reason="a person")
            elif what == "run":
                control.run(key)
            elif what == "remove":
                control.remove(key, reason="a person")
            elif what == "edit":
                control.edit(key, {"payload": {"n": pick}}, reason="a person")
            else:
                control.edit(key, {"cron": "*/2 * * * *"}, reason="a person")
        except Mistake:
            pass  # it is retired, or runs already

    @rule(pick=st.integers(0, 9))
    def cancel(self, pick: int) -> None:
        live = [run for run in self.hosts[0].runs() if run["word"] in {"queued", "running"}]
        if live:
            try:
                self.hosts[0].control.cancel(live[pick % len(live)]["id"], "a person")
            except Mistake:
                pass

    # -- what hosts do ----------------------------------------------------------------------------------

    @rule(pick=st.integers(0, 9))
    def beat(self, pick: int) -> None:
        self.hosts[pick % len(self.hosts)].beat()

    @rule(pick=st.integers(0, 99), outcome=st.sampled_from(_OUTCOMES))
    def finish(self, pick: int, outcome: Outcome) -> None:
        host = self.hosts[pick % len(self.hosts)]
        if host.held:
            run = sorted(host.held)[pick % len(host.held)]
            item = host.held[run]
            self.handed_back[run, item.attempt] = (outcome.kind, item.fence)
            host.finish(run, outcome)

    @rule(pick=st.integers(0, 9))
    @precondition(lambda self: self.born < 5)
    def die(self, pick: int) -> None:
        self.hosts.pop(pick % len(self.hosts)).die()
        self.newcomer()

    @rule()
    @precondition(lambda self: len(self.hosts) < 3 and self.born < 5)
    def join(self) -> None:
        self.newcomer()

    # -- what time does ---------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([1, 7, 20, 45, 60, 61, 130, 400]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds=seconds)

    # -- what must be true --------------------------------------------------------------------------------

    @invariant()
    def what_is_held_is_running_or_was_taken(self) -> None:
        rows = {run["id"]: run for run in self.hosts[0].runs()} if getattr(self, "hosts", None) else {}
        for host in getattr(self, "hosts", ()):
            for run, item in host.engine.running.items():
                row = rows[run]
                assert row["fence"] >= item.fence
                if row["fence"] == item.fence:
                    assert (row["word"], row["host_id"]) == ("running", host.engine.host_id)

    @invariant()
    def a_slot_has_one_run_and_none_is_early(self) -> None:
        runs = self.hosts[0].runs() if getattr(self, "hosts", None) else []
        slots = [(run["job_id"], run["scheduled_for"]) for run in runs]
        assert len(slots) == len(set(slots))
        assert all(
            run["opened_at"] >= run["scheduled_for"] for run in runs if run["trigger_word"] == "schedule"
        )

    def teardown(self) -> None:
        if not getattr(self, "hosts", None):
            return
        try:
            self.quieten()
            self.every_minute_is_decided()
            self.what_was_handed_back_is_there()
            assert untrue(self.url) == []
        finally:
            for host in self.hosts:
                host.stop()
            self.ledger.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def quieten(self) -> None:
        """Faults are over: everybody works, and what is lost is found."""
        for _ in range(4):
            self.clock.advance(seconds=LEASE_S)
            for host in self.hosts:
                host.beat()
                for run in sorted(host.held):
                    self.handed_back[run, host.held[run].attempt] = ("ok", host.held[run].fence)
                    host.finish(run)
                host.beat()
        now = self.clock.wall()
        assert not [
            run
            for run in self.hosts[0].runs()
            if run["word"] == "running" and run["opened_at"] < now - 5 * MINUTE
        ]

    def every_minute_is_decided(self) -> None:
        """Of a job that nobody stopped, each minute since it was made has a run, or a row that counts it."""
        host, now = self.hosts[0], self.clock.wall()
        for key, made in self.steady.items():
            job = next(j for j in host.control.jobs(all_states=True, text=key) if j["key"] == key)
            assert job["state"] == "active"
            (row,) = [r for r in self.jobs() if r["key"] == key]
            wanted = {m * MINUTE for m in range(made // MINUTE + 1, now // MINUTE + 1)}
            runs = {r["scheduled_for"] for r in host.runs(row["id"]) if r["trigger_word"] == "schedule"}
            counted = [
                slot
                for skip in host.skip_rows(row["id"])
                for slot in sorted(wanted)
                if skip["first_slot"] <= slot <= skip["last_slot"]
            ]
            assert runs | set(counted) == wanted

    def jobs(self) -> list[dict[str, Any]]:
        from schedcore._ledger import jobs

        with self.ledger.read() as c:
            return jobs.listed(c, all_states=True)

    def what_was_handed_back_is_there(self) -> None:
        """An end that was handed back under a fence that was still good is what the attempt says."""
        host = self.hosts[0]
        for (run, number), (kind, fence) in self.handed_back.items():
            found = [a for a in host.attempts(run) if a["number"] == number and a["fence"] == fence]
            assert len(found) <= 1
            for attempt in found:
                assert attempt["outcome"] in {kind, "interrupted", "cancelled"}, (run, number, kind)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_whatever_people_hosts_and_clocks_do_the_ledger_says_what_happened(
    database: str, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("postgres_url") if database == "postgresql" else ""

    def fresh(folder: Path) -> str:
        if not server:
            return fresh_sqlite(folder)
        opened = open_ledger(server)
        empty(opened)
        opened.close()
        return str(server)

    machine = type("Machine", (Machine,), {"make": staticmethod(fresh)})
    few = settings(max_examples=max(8, settings().max_examples // 20), stateful_step_count=40, deadline=None)
    run_state_machine_as_test(machine, settings=few)
