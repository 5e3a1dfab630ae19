"""Who takes what, when and how many: batches, pools, groups, pace, hosts (L-09 to L-13, T-14, P-19, P-24, F-23)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from schedcore._engine import claiming, opening
from schedcore._engine.pace import Pace
from schedcore._engine.state import EngineSettings
from schedcore._ledger import jobs as job_rows
from schedcore.spec import failed
from schedcore.testing import DyingLedger, ManualClock, Player, StandingHost, noop
from tests.stories.conftest import Stage

SECOND = 1_000_000


def many(host: StandingHost, n: int, **fields: object) -> None:
    """So many jobs of one kind, due at 09:00."""
    for i in range(n):
        host.add(f"job-{i:04}", cron="0 9 * * *", **fields)


def test_all_that_is_due_is_opened_in_bounded_batches_oldest_first(
    stage: Stage, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert EngineSettings().batch == 500
    host = stage(batch=50)
    declared = {
        f"job-{i:04}": {"kind": "noop", "cron": f"{i % 60} 9 * * *", "tags": ["elsewhere"]}
        for i in range(120)
    }
    host.control.apply(declared, source="file")
    batches: list[list[int]] = []
    hot = host.engine.ledger.hot
    monkeypatch.setattr(
        host.engine.ledger, "hot", Watched(hot, lambda rows: batches.append([r[1] for r in rows]))
    )
    clock.set("2026-06-01T09:59:00+00:00")

    host.beat()

    assert [len(batch) for batch in batches if batch] == [50, 50, 20]
    slots = [slot for batch in batches for slot in batch]
    assert slots == sorted(slots)
    assert len(host.runs()) == 120


class Watched:
    """The hot statements, and somebody who sees what is due."""

    def __init__(self, hot: object, seen: object) -> None:
        self._hot, self._seen = hot, seen

    def __getattr__(self, name: str) -> object:
        return getattr(self._hot, name)

    def due(self, *given: object) -> list[list[int]]:
        rows = self._hot.due(*given)  # type: ignore[attr-defined]  # whatever the dialect has
        self._seen(rows)  # type: ignore[operator]  # set by the test
        return rows  # type: ignore[no-any-return]  # the rows as they came


def test_ten_due_on_four_workers_are_never_more_than_four_and_all_end(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    many(host, 10)
    clock.set("2026-06-01T09:00:00+00:00")

    most = []
    for _ in range(10):
        host.poll()
        most.append(len(host.held))
        clock.advance(1)
        if host.held:
            host.finish(next(iter(host.held)), took_s=1)
    while host.held:
        host.finish(next(iter(host.held)), took_s=1)
    host.poll()

    assert max(most) == 4
    assert [word for _, word in host.words()] == ["succeeded"] * 10
    assert [run["key"] for run in host.runs()] == [f"job-{i:04}" for i in range(10)]


def test_a_full_host_counts_the_slot_where_the_job_says_so(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True, workers=1)
    host.add("slow", cron="*/5 8,9 * * *")
    job = host.add("rather-not", cron="0 9 * * *", on_full="skip")
    clock.set("2026-06-01T08:55:00+00:00")
    host.poll()
    clock.advance(60)
    host.finish(took_s=60)
    host.poll()  # now it is known how long such work takes
    clock.set("2026-06-01T09:00:00+00:00")

    host.poll()

    assert host.words(job) == []
    assert host.skips(job) == [("full", 1)]


def test_what_is_due_beside_a_full_host_waits_in_the_queue(stage: Stage, clock: ManualClock) -> None:
    host = stage(hold=True, workers=1)
    many(host, 4)
    host.control.run("job-0000")
    host.poll()
    clock.advance(60)
    host.finish(took_s=60)
    host.poll()
    clock.set("2026-06-01T09:00:00+00:00")

    host.poll()

    assert Counter(run["word"] for run in host.runs()) == {"succeeded": 1, "running": 1, "queued": 3}


def test_two_hosts_over_sixty_slots_leave_sixty_rows(stage: Stage, clock: ManualClock) -> None:
    a, b = stage(), stage()
    job = a.add("minutely", cron="* * * * *")

    for i in range(60):
        clock.advance(minutes=1)
        for host in (a, b) if i % 2 else (b, a):
            host.poll()

    slots = Counter(run["scheduled_for"] for run in a.runs(job))
    assert len(slots) == 60
    assert set(slots.values()) == {1}
    assert a.skips(job) == []
    assert {run["host"] for run in a.runs(job)} == {"host-1", "host-2"}


def test_fault_R14_a_slot_that_has_its_row_is_never_opened_again_by_a_stale_reader(
    stage: Stage, clock: ManualClock
) -> None:
    player = Player()
    host = stage(player.plays())
    job = host.add("hourly", cron="0 * * * *")
    clock.set("2026-06-01T09:00:00+00:00")
    before = host.job(job)
    host.beat()
    with host.ledger.write() as c:  # as if its advance had never been
        job_rows.set_due(c, job, next_run_at=before["next_run_at"], last_slot=before["last_slot"])

    host.beat()

    assert host.words(job) == [("09:00:00", "succeeded")]
    assert len(player.seen) == 1
    assert host.job(job)["last_slot"] == host.runs(job)[0]["scheduled_for"]


def test_fault_R8_two_hosts_that_start_in_one_second_run_each_slot_once(
    stage: Stage, clock: ManualClock
) -> None:
    first = stage()
    job = first.add("hourly", cron="0 * * * *")
    first.stop()
    clock.set("2026-06-01T09:00:00+00:00")

    a, b = stage(), stage()
    a.beat()
    b.beat()

    assert a.words(job) == [("09:00:00", "succeeded")]


def test_fault_R20_ten_restarts_of_alternating_hosts_decide_every_slot_once(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage()
    job = host.add("often", cron="*/10 * * * *")

    for _ in range(10):
        host.die()
        clock.advance(minutes=10)
        host = stage()
        host.beat()

    runs, skips = host.runs(job), host.skips(job)
    assert len(runs) + sum(n for _, n in skips) == 10
    assert len({run["scheduled_for"] for run in runs}) == len(runs)


def test_fault_R44_a_clock_that_is_ninety_seconds_wrong_runs_no_slot_twice(
    stage: Stage, clock: ManualClock, ledger_url: str
) -> None:
    fast = clock.beside(90)
    other = DyingLedger(ledger_url, fast)
    a = stage()
    b = stage(ledger=other, clock=fast)
    job = a.add("minutely", cron="* * * * *")

    for _ in range(20):
        clock.advance(30)
        b.poll()
        a.poll()
    b.stop()
    other.close()

    slots = [run["scheduled_for"] for run in a.runs(job)]
    assert len(slots) == len(set(slots))
    assert len(slots) + sum(n for _, n in a.skips(job)) == 11


def test_catch_up_starts_five_seconds_apart_and_present_slots_do_not_wait(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(workers=4, hold=True)
    many(host, 40)
    now = host.add("now", cron="1 10 * * *")
    clock.set("2026-06-01T10:00:00+00:00")

    starts: list[int] = []
    held: list[int] = []
    for second in range(205):
        host.poll()
        held.append(len(host.held))
        for item in list(host.held.values()):
            began = (clock.boot() - (item.began or 0)) // SECOND
            if began == 0 and item.late:
                starts.append(second)
            if began >= 12:  # so that three or four run at any time
                host.finish(item.run_id, took_s=12)
        clock.advance(1)

    assert len(starts) == 40
    assert {b - a for a, b in pairwise(starts)} == {5}
    assert max(held) == 4
    assert host.runs(now)[0]["latency_ms"] == 0


def test_twelve_hundred_overdue_runs_start_within_ten_minutes() -> None:
    pace, now, starts = Pace(5.0), 0, []

    for waiting in range(1200, 0, -1):
        while not pace.due(now, waiting):
            now += SECOND // 10
        starts.append(now)
        pace.began(now)

    assert starts[-1] <= 600 * SECOND
    assert {b - a for a, b in pairwise(starts)} == {SECOND // 2}


def test_a_group_of_one_never_runs_two_over_two_hosts(stage: Stage, clock: ManualClock) -> None:
    groups = (("mail", 1, None, None),)
    a, b = stage(hold=True, groups=groups), stage(hold=True, groups=groups)
    many(a, 4, groups=["mail"])
    clock.set("2026-06-01T09:00:00+00:00")

    most = 0
    for _ in range(12):
        a.poll()
        b.poll()
        most = max(most, len(a.held) + len(b.held))
        for host in (a, b):
            for run_id in list(host.held):
                host.finish(run_id)
        clock.advance(1)

    assert most == 1
    assert [word for _, word in a.words()] == ["succeeded"] * 4


def test_a_killed_holder_frees_its_place_in_the_group(stage: Stage, clock: ManualClock) -> None:
    groups = (("mail", 1, None, None),)
    a, b = stage(hold=True, groups=groups), stage(hold=True, groups=groups)
    many(a, 2, groups=["mail"])
    clock.set("2026-06-01T09:00:00+00:00")
    a.beat()
    b.beat()
    assert (len(a.held), len(b.held)) == (1, 0)
    a.die()

    waited = 0
    while not b.held:
        clock.advance(5)
        b.poll()
        waited += 5

    assert waited <= 65


def test_a_groups_rate_lets_so_many_start_in_its_window(stage: Stage, clock: ManualClock) -> None:
    groups = (("mail", 10, 2, 60 * SECOND),)
    a, b = stage(groups=groups), stage(groups=groups)
    many(a, 5, groups=["mail"])
    clock.set("2026-06-01T09:00:00+00:00")

    done = []
    for _ in range(6):
        a.beat()
        b.beat()
        done.append([word for _, word in a.words()].count("succeeded"))
        clock.advance(30)

    assert done == [2, 2, 4, 4, 5, 5]


@pytest.mark.parametrize("late", [False, True])
def test_the_loop_wakes_when_the_window_of_a_rate_lets_the_next_one_start(
    stage: Stage, clock: ManualClock, late: bool
) -> None:
    """Nobody ends then and nothing comes due: the loop itself must know the instant (T-07, P-19)."""
    window = 90 * SECOND
    host = stage(groups=(("mail", 9, 2, window),), beat=600.0, lease=3600.0, catch_up_apart=1.0)
    jobs = [host.add(f"mail-{n}", cron="0 9 * * *", groups=["mail"]) for n in range(3)]
    clock.set("2026-06-01T09:20:00+00:00" if late else "2026-06-01T09:00:00+00:00")
    for _ in range(3):
        host.poll()
        clock.advance(1)
    first, _ = sorted(run["started_at"] for job in jobs for run in host.runs(job) if run["started_at"])
    host.poll()

    sleeps = host.wakes_in()

    assert clock.wall() + round(sleeps * SECOND) == first + window
    clock.advance(sleeps)
    host.poll()
    assert [run["word"] for job in jobs for run in host.runs(job)] == ["succeeded"] * 3
    assert clock.wall() == first + window


@pytest.mark.parametrize("where", [{"tags": ["big"]}, {"environments": ["live"]}])
def test_a_run_is_taken_by_a_host_that_has_what_it_needs(
    stage: Stage, clock: ManualClock, where: dict[str, list[str]]
) -> None:
    a = stage(name="plain")
    b = stage(name="able", tags=frozenset({"big"}), environment="live")
    job = a.add("picky", cron="*/5 * * * *", **where)

    for _ in range(3):
        clock.advance(minutes=5)
        a.beat()
        b.beat()

    assert {run["host"] for run in a.runs(job)} == {"able"}
    assert len(a.runs(job)) == 3


def test_a_kind_that_no_live_host_offers_is_counted_and_named(stage: Stage, clock: ManualClock) -> None:
    offers = stage(noop("rare"), name="offers")
    offers.beat()
    job = offers.add("rare", kind="rare", cron="0 * * * *")
    offers.stop()
    other = stage(name="other")

    clock.set("2026-06-01T09:00:00+00:00")
    other.beat()

    assert other.skips(job) == [("no_executor", 1)]
    assert other.control.why("rare", "2026-06-01T09:00:00Z")["reason"] == "no_executor"


def test_a_kind_that_another_live_host_offers_waits_for_it(stage: Stage, clock: ManualClock) -> None:
    offers = stage(noop("rare"), name="offers")
    job = offers.add("rare", kind="rare", cron="0 * * * *")
    other = stage(name="other")
    clock.set("2026-06-01T08:59:30+00:00")
    offers.beat()

    clock.set("2026-06-01T09:00:00+00:00")
    other.beat()
    before = other.words(job)
    offers.beat()

    assert before == [("09:00:00", "queued")]
    assert other.words(job) == [("09:00:00", "succeeded")]


def test_hosts_that_share_a_ledger_need_no_leader_and_one_that_dies_changes_nothing(
    stage: Stage, clock: ManualClock
) -> None:
    crew = [stage() for _ in range(3)]
    job = crew[0].add("minutely", cron="* * * * *")

    for i in range(15):
        clock.advance(minutes=1)
        if i == 5:
            crew.pop(0).die()
        if i == 10:
            crew.pop(0).die()
        for host in crew:
            host.poll()

    assert [run["word"] for run in crew[0].runs(job)] == ["succeeded"] * 15
    assert sum(host["alive"] for host in crew[0].control.hosts()) == 1


def test_a_host_that_claims_ahead_gives_back_what_it_has_not_begun(stage: Stage, clock: ManualClock) -> None:
    from schedcore._ledger import runs

    host = stage(hold=True)
    many(host, 3)
    clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    waiting = list(host.held.values())[1:]

    with host.ledger.write() as c:
        back = runs.give_back(c, [(i.run_id, i.fence) for i in waiting])

    assert back == 2
    rows = {run["id"]: run for run in host.runs()}
    assert {(rows[i.run_id]["word"], rows[i.run_id]["attempts"]) for i in waiting} == {("queued", 0)}
    assert [host.attempts(i.run_id) for i in waiting] == [[], []]
    for item in waiting:
        host.held.pop(item.run_id)
        host.engine.running.pop(item.run_id)


def test_two_hosts_that_claim_at_the_same_moment_never_take_two_runs_that_must_be_alone(
    stage: Stage, clock: ManualClock
) -> None:
    a, b = stage(hold=True), stage(hold=True)
    if a.ledger.is_sqlite:
        pytest.skip("one writer at a time")
    job = a.add("one-by-one", cron="* * * * *", catch_up="all", catch_up_max=3, tags=["none"])
    clock.advance(minutes=3)
    a.beat()
    for host in (a, b):
        object.__setattr__(host.engine.settings, "tags", frozenset({"none"}))
    assert [word for _, word in a.words(job)] == ["queued"] * 3

    with a.ledger.write() as c1, b.ledger.write() as c2:
        (lane,) = [head[0] for head in a.ledger.hot.heads(c1, "queued")]
        needs = opening.Needs.read(job_rows.lane_needs(c1, [lane])[lane])
        lease = clock.lease() + 60 * SECOND
        got_a = claiming.claim_present(a.engine, c1, lane, needs, clock.wall(), lease, 1)[0]
        got_a += claiming.claim_late(a.engine, c1, lane, needs, clock.wall(), lease)
        got_b = claiming.claim_present(b.engine, c2, lane, needs, clock.wall(), lease, 4)[0]
        got_b += claiming.claim_late(b.engine, c2, lane, needs, clock.wall(), lease)

    assert len(got_a) == 1
    assert got_b == []


@pytest.mark.parametrize(("waited", "word"), [(3600, "running"), (3601, "skipped")])
def test_a_queued_run_that_waited_past_its_late_limit_is_settled_as_late(
    stage: Stage, clock: ManualClock, waited: int, word: str
) -> None:
    """Until a host has its tag it waits in the queue (T-10)."""
    host = stage(hold=True)
    job = host.add("waits", at="2026-06-01T09:00:00Z", late_limit="1h", tags=["none"])
    clock.set("2026-06-01T09:00:20+00:00")
    host.beat()
    clock.advance(seconds=waited - 20)
    object.__setattr__(host.engine.settings, "tags", frozenset({"none"}))

    host.beat()

    assert [one for _, one in host.words(job)] == [word]


def test_what_is_claimed_begins_although_the_telling_of_an_end_fails(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage(hold=True)
    host.add("first", at="2026-06-01T09:00:00Z")
    host.add("second", at="2026-06-01T09:01:00Z")
    clock.set("2026-06-01T09:00:00+00:00")
    host.poll()
    clock.advance(minutes=1)
    host.finish()

    def tell(what: str, about: object) -> None:
        if what == "finished":
            raise OSError("nobody hears it")

    host.crew.loop.tell = tell
    with pytest.raises(OSError, match="nobody hears it"):
        host.poll()

    assert [item.job.key for item in host.held.values()] == ["second"]
    host.crew.loop.tell = None


def test_a_host_that_looked_before_another_claimed_asks_again_under_the_jobs_lock(
    stage: Stage, clock: ManualClock
) -> None:
    """Each has found another run of the job, and the lock is free again when the second one comes to it (0011)."""
    a, b = stage(hold=True), stage(hold=True)
    if a.ledger.is_sqlite:
        pytest.skip("one writer at a time")
    job = a.add("one-by-one", cron="* * * * *", catch_up="all", catch_up_max=3, tags=["none"])
    clock.advance(minutes=3)
    a.beat()
    lease, now = clock.lease() + 60 * SECOND, clock.wall()

    with b.ledger.write() as c2:
        with a.ledger.write() as c1:
            lane = a.job(job)["lane"]
            needs = opening.Needs.read(job_rows.lane_needs(c1, [lane])[lane])
            first = claiming.take(a.engine, c1, a.ledger.hot.queued(c1, lane, 0, now, 1), needs, now, lease)
            found = b.ledger.hot.queued(c2, lane, 0, now, 4)
        second = claiming.take(b.engine, c2, found, needs, now, lease)

    assert len(first) == 1
    assert len(found) == 1
    assert second == []


def test_a_failing_run_gives_its_place_back_while_it_waits_for_its_retry(
    stage: Stage, clock: ManualClock
) -> None:
    groups = (("mail", 1, None, None),)
    player = Player(failed("exit_code", exit_code=1))
    host = stage(player.plays(attempts=2), groups=groups)
    many(host, 2, groups=["mail"])
    clock.set("2026-06-01T09:00:00+00:00")

    host.beat()

    assert sorted(word for _, word in host.words()) == ["queued", "succeeded"]
