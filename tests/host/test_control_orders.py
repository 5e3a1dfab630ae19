"""Orders through Control: pause, resume, remove, run, retry, cancel, release, backfill, halt, drain."""

from __future__ import annotations

import re

import pytest

from schedcore._engine.toolbox import Toolbox
from schedcore._ledger import events
from schedcore._ledger.ledger import CommitUnknown
from schedcore.domain.errors import Conflict, LedgerError, NotFound, Refused
from schedcore.domain.outcome import failed
from schedcore.testing import noop


def test_a_job_paused_for_three_days_counts_them_in_one_row_and_runs_none(world, control):
    host = world.host()
    control.add({"key": "tick", "kind": "noop", "cron": "* * * * *", "catch_up": "all"})
    world.clock.advance(60)
    host.beat()
    control.pause("tick", reason="holiday")
    world.clock.advance(days=3)
    host.beat()

    told = control.resume("tick", reason="back")
    host.beat()

    assert told["passed"] == 3 * 24 * 60
    assert host.skips(host.ledger_id("tick")) == [("paused", 3 * 24 * 60)]
    assert control.show("tick")["run_count"] == 1
    assert told["next_run_at"] == "2026-06-04T08:02:00.000Z"


def test_a_slot_that_had_come_before_the_pause_is_counted_under_its_own_definition(world, control, daily):
    control.add(daily())
    world.clock.set("2026-06-01T09:05:00+00:00")
    control.pause("backup", reason="holiday")
    world.clock.advance(days=1)

    told = control.resume("backup")

    assert told["passed"] == 2
    assert world.rows("select definition, slots, reason from {s}skipped order by id") == [
        (1, 1, "paused"),
        (2, 1, "paused"),
    ]


def test_a_dry_resume_tells_what_would_be_passed_and_writes_nothing(world, control, daily):
    control.add(daily())
    control.pause("backup", reason="holiday")
    world.clock.advance(days=2)
    before = world.contents()

    told = control.resume("backup", dry_run=True)

    assert (told["passed"], told["next_run_at"]) == (2, "2026-06-03T09:00:00.000Z")
    assert world.contents() == before


@pytest.mark.parametrize(("mode", "now"), [("drain", "running"), ("stop", "stopping")])
def test_a_pause_says_what_becomes_of_the_run_in_flight(world, control, daily, mode, now):
    host = world.host(hold=True)
    control.add(daily(cron="* * * * *"))
    world.clock.advance(60)
    host.beat()

    told = control.pause("backup", reason="stop it", mode=mode)

    assert [run["now"] for run in told["runs"]] == [now]
    assert told["mode"] == mode


def test_a_pause_in_one_process_is_obeyed_by_all(world, control, daily):
    first, second = world.host(), world.host(name="host-2")
    control.add(daily())
    control.pause("backup", reason="holiday")
    world.clock.set("2026-06-01T09:01:00+00:00")

    first.beat()
    second.beat()

    assert control.runs() == []


def test_a_removed_job_stays_retired_after_its_run_ends_and_frees_its_key(world, control, daily):
    host = world.host(hold=True)
    added = control.add(daily(cron="* * * * *"))
    world.clock.advance(60)
    host.beat()

    told = control.remove("backup", reason="no longer needed")
    host.finish(next(iter(host.held)), failed("exit_code", exit_code=1))
    host.beat()
    again = control.add(daily())

    assert (told["state"], told["live"]) == ("retired", 1)
    assert again["id"] != added["id"]
    assert control.show(added["id"])["state"] == "retired"
    assert control.show("backup")["id"] == again["id"]
    assert [run["outcome"] for run in control.runs(job=added["id"])] == ["failed"]


def test_a_breaker_with_a_cool_down_opens_nothing_on_a_retired_job(world, control, daily):
    host = world.host(hold=True)
    added = control.add(daily(cron="* * * * *", breaker=1, breaker_cooldown="1h", attempts=1))
    world.clock.advance(60)
    host.beat()
    control.remove("backup")

    host.finish(next(iter(host.held)), failed("exit_code", exit_code=1))
    host.beat()

    assert control.show(added["id"])["next_run_at"] is None


def _forbidden(control, world, move):
    if move == "pause a paused job":
        control.pause("backup", reason="x")
        return lambda: control.pause("backup", reason="x")
    if move == "resume an active job":
        return lambda: control.resume("backup")
    if move == "retire a retired job":
        uid = control.remove("backup")["id"]
        return lambda: control.remove(uid)
    if move == "edit a retired job":
        uid = control.remove("backup")["id"]
        return lambda: control.edit(uid, {"name": "x"})
    if move == "pause a retired job":
        uid = control.remove("backup")["id"]
        return lambda: control.pause(uid)
    if move == "resume a retired job":
        uid = control.remove("backup")["id"]
        return lambda: control.resume(uid)
    if move == "run a retired job":
        uid = control.remove("backup")["id"]
        return lambda: control.run(uid)
    if move == "pause a done job":
        host = world.host()
        control.add({"key": "once", "kind": "noop"})
        host.beat()
        return lambda: control.pause("once")
    if move == "resume an invalid job":
        world.write('update {s}definitions set policies=\'{{"overlap":"often"}}\'')
        world.clock.set("2026-06-01T09:01:00+00:00")
        world.host().beat()
        assert control.show("backup")["state_reason"].startswith("invalid:")
        return lambda: control.resume("backup")
    raise AssertionError(move)


@pytest.mark.parametrize(
    "move",
    [
        "pause a paused job",
        "resume an active job",
        "retire a retired job",
        "edit a retired job",
        "pause a retired job",
        "resume a retired job",
        "run a retired job",
        "pause a done job",
        "resume an invalid job",
    ],
)
def test_a_forbidden_move_is_a_conflict_and_writes_nothing(world, control, daily, move):
    control.add(daily())
    deed = _forbidden(control, world, move)
    before = world.contents()

    with pytest.raises(Conflict) as refused:
        deed()

    assert refused.value.exit_code == 4
    assert world.contents() == before


def test_a_job_that_storage_holds_in_an_unreadable_form_is_active_again_once_edited(world, control, daily):
    host = world.host()
    control.add(daily())
    control.add(daily("other"))
    world.write(
        'update {s}definitions set policies=\'{{"overlap":"often"}}\' where job_id=(select min(id) from {s}jobs)'
    )
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    shown = control.show("backup")
    assert shown["state_reason"].startswith("invalid: overlap")
    assert [run["key"] for run in control.runs()] == ["other"]
    world.clock.advance(days=2)

    control.edit("backup", {"overlap": "skip"}, reason="mended")

    shown = control.show("backup")
    assert (shown["state"], shown["state_reason"], shown["state_actor"]) == ("active", None, "anna")
    assert shown["next_run_at"] == "2026-06-04T09:00:00.000Z"
    assert [r["state"] for r in control.jobs(states=["active"])] == ["active", "active"]
    assert sum(n for _, n in host.skips(host.ledger_id("backup"))) == 3


def test_a_manual_run_starts_at_once_and_never_moves_the_grid(world, control, daily):
    host = world.host()
    control.add(daily())

    told = control.run("backup", reason="now")
    host.beat()

    run = control.run_show(told["run"])
    assert (run["trigger"], run["state"], run["scheduled_for"]) == (
        "manual",
        "succeeded",
        "2026-06-01T08:00:00.000Z",
    )
    assert run["origin"]["actor"] == "anna"
    assert control.show("backup")["next_run_at"] == "2026-06-01T09:00:00.000Z"


def test_a_manual_run_never_takes_the_instant_of_a_slot(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-01T09:00:00+00:00")

    told = control.run("backup")
    host.beat()
    world.clock.advance(60)
    host.beat()

    assert told["scheduled_for"] == "2026-06-01T09:00:00.001Z"
    assert control.why("backup", "2026-06-01T09:00:00Z")["verdict"] in {"run", "skipped"}


def test_two_orders_in_one_millisecond_are_two_runs(control, daily):
    control.add(daily(overlap="parallel"))

    first, second = control.run("backup"), control.run("backup")

    assert [first["scheduled_for"], second["scheduled_for"]] == [
        "2026-06-01T08:00:00.000Z",
        "2026-06-01T08:00:00.001Z",
    ]


def test_a_run_while_another_lives_is_refused_by_the_overlap_rule_unless_overridden(control, daily):
    control.add(daily())
    control.run("backup")

    with pytest.raises(Conflict) as refused:
        control.run("backup")
    told = control.run("backup", overlap="parallel", reason="urgent")

    assert refused.value.code == "overlap"
    line = control.history("backup")[-1]
    assert (line["run"], line["changes"]) == (told["run"], {"overlap": ["skip", "parallel"]})


def test_a_dry_run_of_a_run_answers_the_same_refusal_and_writes_nothing(world, control, daily):
    control.add(daily())
    before = world.contents()
    assert control.run("backup", dry_run=True)["would"] == "open"
    assert world.contents() == before
    control.run("backup")

    with pytest.raises(Conflict):
        control.run("backup", dry_run=True)


def test_a_retry_is_a_run_linked_to_the_first_under_its_delivery_key(world, control, daily):
    host = world.host()
    control.add(daily(delivery_key="digest-{{date}}-{{hour}}"))
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    (first,) = control.runs()
    world.clock.advance(hours=30)
    told = control.retry(first["id"], "once more")

    again = control.run_show(told["run"])

    assert again["retry_of"] == first["id"]
    assert again["delivery_key"] == control.run_show(first["id"])["delivery_key"] == "digest-20260601-09"
    assert again["run_key"] != control.run_show(first["id"])["run_key"]
    assert [run["id"] for run in control.trace(first["id"])["retries"]] == [told["run"]]


def test_only_a_final_run_is_tried_again(control, daily):
    control.add(daily())
    told = control.run("backup")

    with pytest.raises(Conflict):
        control.retry(told["run"])


def test_a_cancel_needs_a_reason_and_stores_who_gave_it(control, daily):
    control.add(daily())
    told = control.run("backup")

    with pytest.raises(Refused):
        control.cancel(told["run"], " ")
    assert control.cancel(told["run"], "a mistake")["now"] == "cancelled"

    line = control.history("backup")[-1]
    assert (line["action"], line["actor"], line["reason"]) == ("cancel", "anna", "a mistake")
    with pytest.raises(Conflict) as refused:
        control.cancel(told["run"], "again")
    assert refused.value.code == "run_final"


def test_a_running_run_is_stopped_by_its_holder(world, control, daily):
    host = world.host(hold=True)
    control.add(daily())
    told = control.run("backup")
    host.beat()

    assert control.cancel(told["run"], "enough")["now"] == "stopping"
    host.beat()

    assert host.held[told["run"]].stop.reason == "operator"


def test_a_released_run_ends_interrupted_and_the_job_runs_its_next_slot(world, control, daily):
    host = world.host(hold=True)
    control.add(daily())
    told = control.run("backup")
    host.beat()

    released = control.release(told["run"], "the machine burned")
    other = world.host(name="host-2")
    world.clock.set("2026-06-01T09:00:00+00:00")
    other.beat()

    assert released["host"] == "host-1"
    run = control.run_show(told["run"])
    assert (run["state"], run["reason"]) == ("interrupted", "released")
    assert [r["scheduled_for"] for r in control.runs(states=["succeeded"])] == ["2026-06-01T09:00:00.000Z"]


def test_a_queued_run_cannot_be_released(control, daily):
    control.add(daily())
    told = control.run("backup")

    with pytest.raises(Conflict):
        control.release(told["run"], "why not")
    with pytest.raises(Conflict):
        control.release(told["run"], "why not", dry_run=True)


def test_a_backfill_opens_what_has_no_row_and_a_second_one_nothing(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    dry = control.backfill("backup", "2026-05-29T00:00:00Z", "2026-06-01T09:00:00Z", dry_run=True)

    told = control.backfill("backup", "2026-05-29T00:00:00Z", "2026-06-01T09:00:00Z", reason="history")
    second = control.backfill("backup", "2026-05-29T00:00:00Z", "2026-06-01T09:00:00Z")

    assert (told["opened"], told["answered"], told["left"]) == (3, 1, 0)
    assert dry["slots"] == told["slots"] == [f"2026-05-{day}T09:00:00.000Z" for day in (29, 30, 31)]
    assert (second["opened"], second["answered"]) == (0, 4)
    assert "definition 1" in told["note"]
    assert len(control.runs(triggers=["backfill"])) == 3


def test_a_backfill_opens_at_most_its_limit_and_says_what_is_left(control, daily):
    control.add(daily(cron="* * * * *"))

    told = control.backfill("backup", "2026-06-01T06:00:00Z", "2026-06-01T07:59:00Z", limit=20)

    assert (told["opened"], told["left"]) == (20, 100)
    with pytest.raises(Refused):
        control.backfill("backup", "2026-06-01T06:00:00Z", "2026-06-01T07:00:00Z", limit=10_001)


def test_a_backfill_leaves_to_the_tick_what_the_tick_will_open(world, control, daily):
    control.add(daily())
    world.clock.set("2026-06-01T09:30:00+00:00")

    told = control.backfill("backup", "2026-05-31T00:00:00Z", "2026-06-01T09:30:00Z")

    assert told["slots"] == ["2026-05-31T09:00:00.000Z"]


def test_a_backfill_before_the_archive_is_refused(world, control, daily):
    control.add(daily())
    world.write("update {s}jobs set archived_through=1780000000000000")

    with pytest.raises(Refused) as refused:
        control.backfill("backup", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")

    assert refused.value.code == "archived"


def test_a_halt_stops_all_claims_until_it_is_lifted(world, control, daily):
    host = world.host()
    control.add(daily())
    with pytest.raises(Refused):
        control.halt(True, None)
    assert control.halt(True, "fire drill") == {
        "halted": True,
        "changed": True,
        "holds": ["halt"],
        "dry_run": False,
    }
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    assert (control.runs(), control.status()["holds"][0]["text"]) == ([], "fire drill")

    assert control.halt(False, "over")["changed"] is True
    host.beat()

    assert [run["state"] for run in control.runs()] == ["succeeded"]
    assert [line["action"] for line in control.events() if line["key"] is None] == ["halt_on", "halt_off"]


def test_a_host_is_drained_by_name_or_number(world, control, daily):
    host = world.host()
    control.add(daily())
    host.beat()

    told = control.drain("host-1", reason="upgrade")
    host.beat()
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    assert [found["name"] for found in told["hosts"]] == ["host-1"]
    assert control.hosts()[0]["draining"] is True
    assert control.runs() == []
    with pytest.raises(NotFound, match="did you mean 'host-1'"):
        control.drain("hots-1")


def _commits(world, monkeypatch, *, really: bool, times: int = 1):
    """Commits of orders raise; ``really`` says whether they happen all the same."""
    dialect = world.ledger.engine.dialect
    original, guard, left, armed = dialect.do_commit, events.guard, [times], [False]

    def arm(c, token):
        armed[0] = left[0] > 0
        guard(c, token)

    def commit(connection):
        if not armed[0]:
            return original(connection)
        left[0] -= 1
        armed[0] = False
        (original if really else dialect.do_rollback)(connection)
        raise dialect.loaded_dbapi.OperationalError("connection lost")

    monkeypatch.setattr(dialect, "do_commit", commit)
    monkeypatch.setattr(events, "guard", arm)


@pytest.mark.parametrize("really", [True, False])
def test_a_commit_that_raises_is_read_back_before_the_order_is_answered(
    world, control, daily, monkeypatch, really
):
    _commits(world, monkeypatch, really=really)

    added = control.add(daily())

    monkeypatch.undo()
    assert [job["id"] for job in control.jobs()] == [added["id"]]
    assert len(control.history("backup")) == 1


def test_a_commit_that_cannot_be_read_back_is_an_unknown_never_a_failure(world, control, daily, monkeypatch):
    _commits(world, monkeypatch, really=False, times=100)

    with pytest.raises(CommitUnknown) as unknown:
        control.add(daily())

    assert unknown.value.exit_code == LedgerError.exit_code == 5
    assert re.fullmatch("[0-9a-f]{16}", str(unknown.value.value))


def test_a_run_is_named_by_its_number_or_its_run_key(control, daily):
    control.add(daily())
    told = control.run("backup")

    assert control.run_show(str(told["run"]))["id"] == told["run"]
    assert control.run_show(told["run_key"])["id"] == told["run"]
    with pytest.raises(NotFound):
        control.run_show(99_999_999)
    with pytest.raises(Refused):
        control.run_show("last one")


def test_waiting_ends_with_the_run_or_with_the_time(world, control, daily):
    host = world.host()
    control.add(daily())
    told = control.run("backup")

    assert control.wait(told["run"], 5)["final"] is False
    host.beat()
    assert control.wait(told["run"], 5)["state"] == "succeeded"


def test_a_one_shot_that_came_too_late_is_done(world, control):
    host = world.host()
    control.add({"key": "once", "kind": "noop", "at": "2026-06-01T09:00:00Z", "late_limit": "10m"})
    world.clock.set("2026-06-01T12:00:00+00:00")

    host.beat()

    assert (control.show("once")["state"], control.runs()) == ("done", [])
    assert control.why("once", "2026-06-01T09:00:00Z")["reason"] == "late"


def test_a_one_shot_whose_instant_went_by_paused_is_done_at_the_resume(world, control):
    control.add({"key": "once", "kind": "noop", "at": "2026-06-01T09:00:00Z"})
    control.pause("once", reason="holiday")
    world.clock.set("2026-06-01T12:00:00+00:00")

    told = control.resume("once")

    assert (told["state"], told["passed"]) == ("done", 1)


def test_a_trigger_that_raised_once_keeps_to_its_grid(world):
    raises = [False]

    class Hourly:
        def next(self, after_us):
            if raises[0]:
                raise RuntimeError("no data today")
            hour = 3_600_000_000
            return (after_us // hour + 1) * hour

    kinds = {"hourly": lambda text, zone: Hourly()}
    tools = Toolbox(executors={"noop": ("test", noop())}, triggers=kinds)
    control = world.control(toolbox=tools)
    host = world.host(triggers=kinds)
    control.add({"key": "tick", "kind": "noop", "trigger": {"kind": "hourly", "text": "x"}})
    world.clock.set("2026-06-01T09:00:00+00:00")
    raises[0] = True
    host.beat()
    raises[0] = False

    world.clock.advance(61)
    host.beat()

    assert [run["scheduled_for"] for run in control.runs()] == ["2026-06-01T09:00:00.000Z"]
    assert control.show("tick")["next_run_at"] == "2026-06-01T10:00:00.000Z"


def test_a_trigger_edited_while_paused_counts_what_went_by_under_the_old_one(world, control, daily):
    control.add(daily())
    control.pause("backup", reason="holiday")
    world.clock.advance(days=2)
    control.edit("backup", {"cron": "0 7 * * *"})
    world.clock.advance(days=1)

    told = control.resume("backup")

    assert told["passed"] == 1
    assert world.rows("select definition, slots from {s}skipped order by id") == [(2, 2), (3, 1)]
    assert told["next_run_at"] == "2026-06-05T07:00:00.000Z"
