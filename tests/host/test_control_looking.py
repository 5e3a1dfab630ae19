"""Looking at runs, hosts and the ledger: lists, logs, traces, status, doctor, checks, export."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace

import pytest

from schedcore._engine.toolbox import Toolbox
from schedcore._host.schema_check import schema_errors
from schedcore.domain.errors import NotFound, Refused
from schedcore.spec import Check, Executor, Finding, Listener, SecretRefused, Secrets, failed, ok
from schedcore.spec import Refused as SpecRefused
from schedcore.testing import noop


def say(text: bytes, *, kind: str = "noop") -> Executor:
    def execute(ctx):
        ctx.output.stdout(text)
        return ok()

    return noop(kind, execute)


def breaks(**more) -> Executor:
    return noop(execute=lambda ctx: failed("exit_code", "it broke", exit_code=3), **more)


# -- runs -----------------------------------------------------------------------------------------


def test_a_run_shows_as_its_published_schema_says(world, control, daily):
    host = world.host(say(b"hello\n"))
    control.add(daily(zone="Europe/Berlin", cron="30 10 * * *"))
    world.clock.set("2026-06-01T08:30:00+00:00")
    host.beat()
    (line,) = control.runs()

    shown = control.run_show(line["id"])

    assert schema_errors(control.schema_of("run"), shown, "run") == []
    assert shown["run_key"] == f"{control.show('backup')['id']}|2026-06-01T08:30:00.000Z"
    assert shown["delivery_key"] == shown["run_key"]
    assert shown["scheduled_for_local"] == "2026-06-01T10:30:00+02:00 Europe/Berlin"
    assert (shown["stdout_tail"], shown["host"], shown["assertion"]) == ("hello\n", "host-1", None)


def test_a_list_of_runs_is_narrowed_by_state_trigger_and_time(world, control, daily):
    host = world.host()
    control.add(daily())
    control.add(daily("other", kind="noop"))
    control.run("other")
    host.beat()
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    world.clock.advance(hours=1)

    assert len(control.runs()) == 3
    assert [run["key"] for run in control.runs(triggers=["manual"])] == ["other"]
    assert len(control.runs(states=["success"])) == 3
    assert control.runs(states=["failed"]) == []
    assert len(control.runs(job="backup", since="90m")) == 1
    assert control.runs(until="24h") == []
    assert [run["id"] for run in control.runs(after=control.runs()[1]["id"])] == [control.runs()[0]["id"]]
    with pytest.raises(Refused, match="did you mean 'manual'"):
        control.runs(triggers=["manuel"])
    with pytest.raises(Refused, match="24h"):
        control.runs(since="soon")
    with pytest.raises(Refused):
        control.runs(limit=0)


def test_three_attempts_are_one_run_with_three_lines(world, control, daily):
    host = world.host(breaks())
    control.add(daily(attempts=3, retry_delay="60s"))
    world.clock.set("2026-06-01T09:00:00+00:00")
    for _ in range(3):
        host.beat()
        world.clock.advance(60)

    (run,) = control.runs()
    lines = control.attempts(run["id"])
    assert [(a["number"], a["outcome"], a["reason"], a["exit_code"]) for a in lines] == [
        (n, "failed", "exit_code", 3) for n in (1, 2, 3)
    ]
    assert (run["attempts"], control.run_show(run["id"])["gave_up"]) == (3, True)


def test_the_whole_output_is_read_where_the_file_is_and_else_the_host_is_named(
    world, control, daily, tmp_path
):
    host = world.host(say(b"x" * 100_000 + "é".encode()))
    control.add(daily())
    told = control.run("backup")
    host.beat()

    here = control.logs(told["run"])
    there = world.control()
    there.engine.folder = tmp_path / "elsewhere"
    away = there.logs(told["run"])

    assert (here["where"], len(here["text"]), here["text"][-1]) == ("file", 100_001, "é")
    assert here["offset"] == 100_002
    assert control.logs(told["run"], offset=100_000)["text"] == "é"
    assert away["where"] == "tail"
    assert len(away["text"].encode()) == 8192
    assert "host-1" in away["note"]


def test_a_follower_of_logs_gets_what_is_new_until_the_run_is_final(world, control, daily):
    host = world.host(say(b"one\n"), hold=True)
    control.add(daily())
    told = control.run("backup")
    host.beat()
    path = control.engine.folder / "output" / f"{told['run']}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("one\né".encode()[:-1])
    world.slept = lambda seconds: (
        path.write_bytes("one\nétwo".encode()),
        host.finish(told["run"]),
        host.beat(),
    )
    follower = world.control()

    parts = [answer["text"] for answer in follower.follow_logs(told["run"])]

    assert "".join(parts) == "one\nétwo"
    assert parts[0] == "one\n"


def test_a_path_out_of_the_folder_is_never_read(world, control, daily):
    host = world.host()
    control.add(daily())
    told = control.run("backup")
    host.beat()
    world.write("update {s}runs set output_ref='../../../etc/passwd'")

    assert control.logs(told["run"])["where"] == "none"


def test_a_trace_tells_what_a_run_stands_for(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-04T09:00:00+00:00")
    host.beat()
    (run,) = control.runs()

    told = control.trace(run["id"])

    assert (told["run"]["covers"], told["covers"][0]["reason"]) == (3, "coalesced")
    assert [a["number"] for a in told["attempts"]] == [1]


# -- status ---------------------------------------------------------------------------------------


def test_status_tells_hosts_counts_and_what_is_next(world, control, daily):
    host = world.host(groups=(("mail", 2, None, None),))
    control.add(daily())
    control.add(daily("second", state="paused"))
    world.clock.advance(60)
    host.beat()

    told = control.status(check=True)

    assert told["jobs"]["active"] == told["jobs"]["paused"] == 1
    assert told["next"][0] == {
        "key": "backup",
        "next_run_at": "2026-06-01T09:00:00.000Z",
        "next_run_at_local": "2026-06-01T09:00:00+00:00 UTC",
        "left": 59 * 60,
    }
    assert (told["hosts"][0]["alive"], told["hosts"][0]["age_s"], told["hosts"][0]["beats"]) == (True, 0, 1)
    assert told["groups"] == [{"name": "mail", "places": 2, "taken": 0, "rate": None, "window_s": None}]
    assert told["ledger"]["database"] in {"sqlite", "postgresql"}
    assert (told["ok"], told["problems"]) == (True, [])


def test_a_check_fails_when_no_host_lives(control):
    told = control.status(check=True)

    assert (told["ok"], told["problems"]) == (False, ["no host lives"])


def test_a_check_names_a_dead_host_that_is_marked_live_though_another_beats(world, control):
    first, second = world.host(), world.host(name="host-2")
    first.beat()
    second.beat()
    world.clock.advance(181)
    second.beat()

    told = control.status(check=True)

    assert told["ok"] is False
    assert [p for p in told["problems"] if "host-1" in p] == told["problems"]
    world.clock.advance(181)
    assert "the newest beat is older than 3 periods" in control.status(check=True)["problems"]


def test_status_counts_what_is_overdue_and_a_clock_that_is_behind(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    world.clock.step(hours=-2)
    assert control.status()["clock_behind_s"] == 2 * 3600
    world.clock.step(hours=26, seconds=300)

    assert control.status()["overdue"] == 1


def test_a_check_fails_when_a_slot_is_not_decided_within_two_beats(world, control, daily):
    host = world.host()
    control.add(daily())
    host.beat()
    host.engine.draining = True
    world.clock.set("2026-06-01T09:00:00+00:00")
    for _ in range(2):
        host.beat()
        assert control.status(check=True)["ok"]
        world.clock.advance(60)
    host.beat()
    assert control.status(check=True)["ok"], "two beats are what it may take"

    world.clock.advance(0.001)

    (problem,) = control.status(check=True)["problems"]
    assert problem == "1 job has a slot that came due over 2 beats ago, and no host has decided it"
    host.engine.draining = False
    host.beat()
    assert control.status(check=True)["ok"]


def test_what_a_hold_keeps_is_not_overdue(world, control, daily):
    host = world.host()
    control.add(daily())
    host.beat()
    control.halt(True, reason="a holiday")
    world.clock.set("2026-06-01T09:05:00+00:00")
    host.beat()

    told = control.status(check=True)

    assert (told["overdue"], told["ok"]) == (1, True)


def test_what_came_due_while_no_host_lived_is_not_overdue_before_one_was_up_for_two_beats(
    world, control, daily
):
    control.add(daily())
    world.clock.set("2026-06-01T12:00:00+00:00")
    host = world.host()
    host.engine.draining = True
    host.beat()
    assert control.status(check=True)["ok"]

    for _ in range(2):
        world.clock.advance(60)
        host.beat()

    assert not control.status(check=True)["ok"]


def test_what_waits_for_the_clock_to_be_believed_is_not_overdue(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.advance(300)
    host.beat()
    world.clock.step(hours=2)
    host.beat()

    told = control.status(check=True)

    assert (told["overdue"], told["ok"]) == (1, True)


def test_status_tells_how_late_runs_began(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-01T09:00:30+00:00")
    host.beat()

    assert control.status()["lateness"] | {"worst_run": 0} == {
        "runs": 1,
        "worst_ms": 30_000,
        "median_ms": 30_000,
        "worst_run": 0,
        "worst_key": "backup",
    }


# -- doctor ---------------------------------------------------------------------------------------


def found(control, check, **where):
    return [
        finding
        for finding in control.doctor()
        if finding["check"] == check and all(finding[n] == v for n, v in where.items())
    ]


def test_doctor_names_failures_by_job(world, control, daily):
    host = world.host(breaks())
    control.add(daily(attempts=1))
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    (finding,) = found(control, "failures")

    assert (finding["level"], finding["job"]) == ("bad", "backup")
    assert "failed once" in finding["what"]
    world.clock.advance(days=2)
    assert found(control, "failures") == []


def test_doctor_names_overdue_slots_and_dead_hosts(world, control, daily):
    world.host().beat()
    control.add(daily())
    world.clock.set("2026-06-01T09:16:00+00:00")

    assert found(control, "overdue")[0]["job"] == "backup"
    assert found(control, "dead_hosts")[0]["host"] == "host-1"


def test_doctor_names_open_breakers_and_invalid_jobs(world, control, daily):
    host = world.host(breaks())
    control.add(daily(attempts=1, breaker=1))
    control.add(daily("bad"))
    world.write("update {s}definitions set trigger='{{}}' where job_id=(select max(id) from {s}jobs)")
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    told = {finding["job"]: finding["what"] for finding in found(control, "paused")}

    assert "breaker is open" in told["backup"]
    assert "invalid:" in told["bad"]


def test_doctor_names_kinds_and_tags_that_nobody_has(world, control, daily):
    control.add(daily("kind"))
    control.add(daily("tags", tags=["gpu"]))
    world.host(noop("other")).beat()
    assert {f["job"] for f in found(control, "unresolved")} == {"kind", "tags"}

    world.host(name="host-2").beat()

    (finding,) = found(control, "unresolved")
    assert (finding["job"], "gpu" in finding["what"]) == ("tags", True)


def test_doctor_names_a_payload_whose_script_is_gone(world, daily):
    there = [True]

    def check(payload):
        if not there[0]:
            raise SpecRefused("there is no such script", field="path")

    tools = Toolbox(executors={"noop": ("test", noop(check=check))})
    control = world.control(toolbox=tools)
    control.add(daily())
    assert found(control, "unresolved") == []
    there[0] = False

    assert "no such script" in found(control, "unresolved")[0]["what"]


def test_doctor_names_the_two_of_nine_jobs_that_nobody_checks(control, daily):
    for n in range(7):
        control.add(daily(f"checked-{n}", assertCmd="test -s report", owner="anna"))
    control.add(daily("green", owner="anna"))
    control.add(daily("blue", owner="anna"))
    control.add(daily("excused", owner="anna", unchecked="it only prints"))

    told = found(control, "unchecked")

    assert {f["job"] for f in told} == {"green", "blue"}
    assert {f["what"] for f in told} == {"green means exit 0 only"}
    assert {f["level"] for f in told} == {"note"}


def test_doctor_names_granted_secrets_that_do_not_resolve_and_shows_no_value(world, daily):
    asked = []

    def resolve(name):
        asked.append(name)
        if name == "GONE":
            raise SecretRefused("the file /run/gone of the secret 'GONE' cannot be read")
        if name == "BREAKS":
            raise ConnectionError("hunter2 was refused by the vault")
        return "hunter2" if name == "TOKEN" else None

    tools = Toolbox(executors={"noop": ("test", noop())}, secrets=(("vault", Secrets("vault", resolve)),))
    control = world.control(toolbox=tools)
    control.add(daily(secrets=["TOKEN"]))
    control.add(daily("other", secrets=["TOKEN", "NOBODY", "GONE", "BREAKS"]))
    control.add(daily("sleeping", secrets=["NOBODY"]))
    control.pause("sleeping")

    told = found(control, "secrets")

    assert [(one["level"], one["job"], one["what"]) for one in told] == [
        ("bad", "other", "a resolver of the secret 'BREAKS' raised ConnectionError"),
        ("bad", "other", "the file /run/gone of the secret 'GONE' cannot be read"),
        ("bad", "other", "no resolver knows the secret 'NOBODY'"),
    ]
    assert sorted(asked) == ["BREAKS", "GONE", "NOBODY", "TOKEN"]
    assert "hunter2" not in str(control.doctor())


def test_doctor_asks_for_secrets_outside_any_transaction(world, daily, monkeypatch):
    open_now = []
    read = world.ledger.read

    @contextmanager
    def counted():
        with read() as c:
            open_now.append(1)
            yield c
            open_now.pop()

    resolver = Secrets("vault", lambda name: "hunter2" if not open_now else None)
    tools = Toolbox(executors={"noop": ("test", noop())}, secrets=(("vault", resolver),))
    control = world.control(toolbox=tools)
    control.add(daily(secrets=["TOKEN"]))
    monkeypatch.setattr(world.ledger, "read", counted)

    assert found(control, "secrets") == []


def test_doctor_names_failing_listeners_faults_of_plugins_and_checks_that_raise(world, daily):
    def broken(event):
        raise RuntimeError("no network")

    def worse():
        raise ZeroDivisionError

    listener = Listener("journal", frozenset({"run.final"}), broken)
    checks = (("script", Check("folder", lambda: [Finding("bad", "the folder is gone", "make it")])),)
    tools = Toolbox(
        executors={"noop": ("test", noop())},
        listeners=(("notes", listener),),
        checks=(*checks, ("odd", Check("sums", worse))),
    )
    control = world.control(toolbox=tools, faults=(("rusty", "ImportError: no module"),))
    host = world.host(listeners=[listener])
    control.add(daily())
    control.run("backup")
    host.beat()
    host.crew.teller.tell_all()

    assert "no network" in found(control, "failing_listeners")[0]["what"]
    assert found(control, "plugins")[0]["plugin"] == "rusty"
    assert found(control, "folder")[0] | {"level": "bad"} == {
        "level": "bad",
        "check": "folder",
        "what": "the folder is gone",
        "remedy": "make it",
        "job": None,
        "run": None,
        "host": None,
        "plugin": "script",
    }
    assert "ZeroDivisionError" in found(control, "sums")[0]["what"]


def test_doctor_names_hosts_that_differ_and_files_newer_than_a_process(world, control):
    world.host().beat()
    world.host(name="host-2").beat()
    assert found(control, "versions") == []
    world.write(
        'update {s}hosts set versions=\'{{"code":"0.0.1","stamp":1}}\' where id=(select max(id) from {s}hosts)'
    )
    world.write('update {s}hosts set versions=\'{{"code":"0.0.2"}}\' where id=(select min(id) from {s}hosts)')

    told = found(control, "versions")

    assert "hosts differ in code: 0.0.1 on host-2; 0.0.2 on host-1" in told[0]["what"]
    assert (told[1]["host"], told[1]["remedy"]) == ("host-2", "restart to take effect")


def test_doctor_names_clocks_that_differ_and_open_holds(world, control):
    control.engine.clocks = replace_wall(world.clock, 7)
    control.halt(True, "drill")

    assert "7.0 s apart" in found(control, "clocks")[0]["what"]
    assert "drill" in found(control, "open_holds")[0]["what"]


def replace_wall(clock, seconds):
    class Ahead:
        boot = clock.boot

        def wall(self):
            return clock.wall() + seconds * 1_000_000

    return Ahead()


@pytest.mark.untrue("I2", why="it breaks its ledger")
def test_doctor_names_a_job_that_is_active_and_will_never_fire(world, control, daily):
    control.add(daily())
    world.write("update {s}due set next_run_at=null")

    assert found(control, "no_next")[0]["job"] == "backup"


def test_doctor_names_a_ledger_that_others_may_read_and_a_disk_that_is_full(world, control, monkeypatch):
    import shutil

    if world.ledger.is_sqlite:
        os.chmod(world.ledger.path, 0o644)
    world.folder.joinpath("state").mkdir(exist_ok=True)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: type("U", (), {"free": 1024})())

    told = [finding["what"] for finding in found(control, "ledger_file")]

    assert any("MiB are free" in what for what in told)
    assert any("0644" in what for what in told) == world.ledger.is_sqlite


def test_one_check_that_breaks_does_not_silence_the_others(world, control, daily, monkeypatch):
    from schedcore._host.control import doctor

    def broken(control, c, now, since):
        raise KeyError("x")

    control.add(daily())
    monkeypatch.setattr(doctor, "CHECKS", (broken, *doctor.CHECKS))

    assert "KeyError" in found(control, "broken")[0]["what"]
    assert found(control, "unchecked")


# -- the ledger -----------------------------------------------------------------------------------


@pytest.mark.untrue("I7", "I9", "I20", why="it breaks its ledger")
def test_a_whole_ledger_passes_its_check_and_a_broken_one_is_named(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    assert control.check()["problems"] == []
    world.write("delete from {s}attempts")
    world.write("insert into {s}attempts(run_id,number,fence,host_id,claimed_at) values (424242,1,1,1,1)")

    told = control.check()

    assert told["ok"] is False
    assert "an attempt is of run 424242, which is not there" in [p["what"] for p in told["problems"]]


def test_fsck_judges_what_the_ledger_says_with_the_policies_of_this_host(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()

    told, later = control.fsck(), control.fsck("30m")

    assert (told["v"], told["ok"], told["findings"]) == (1, True, [])
    assert (told["since"], later["since"]) == (None, "2026-06-01T08:30:00.000Z")
    with pytest.raises(Refused):
        control.fsck("soon")


def test_stats_count_rows_and_bytes(world, control, daily):
    control.add(daily())

    told = control.stats()

    assert (told["tables"]["jobs"], told["tables"]["events"]) == (1, 1)
    assert told["bytes"] > 0
    assert (told["wal_frames"] is None) == (not world.ledger.is_sqlite)


def test_an_upgrade_of_a_ledger_that_is_up_to_date_does_nothing(control):
    told = control.upgrade(dry_run=True)

    assert (told["before"], told["sql"]) == (told["after"], "")
    assert control.upgrade()["before"] == control.upgrade()["after"]


def test_events_are_read_in_order_and_followed(control, daily):
    control.add(daily())
    control.add(daily("other"))
    newest = control.events(limit=1)

    control.edit("backup", {"name": "New"})
    follower = control.follow_events(after=newest[0]["id"])

    assert (newest[0]["key"], next(follower)["changes"]) == ("other", {"name": ["backup", "New"]})


def test_an_export_has_every_row_with_instants_of_24_characters(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-04T09:00:00+00:00")
    host.beat()

    lines = list(control.export())

    assert [line["type"] for line in lines] == [
        *("ledger", "job", "definition", "run", "attempt", "skipped", "event"),
    ]
    for line in lines:
        for name, value in line.items():
            if name.endswith(("_at", "_slot")) or name in {"at", "scheduled_for", "valid_from", "anchor"}:
                assert value is None or len(value) == 24, (line["type"], name, value)
    assert lines[3]["state"] == "succeeded"
    assert lines[2]["trigger"]["text"] == "0 9 * * *"


def test_an_export_goes_by_pages(world, control, daily, monkeypatch):
    from schedcore._host.control import export

    for n in range(7):
        control.add(daily(f"job-{n}"))
    monkeypatch.setattr(export, "_PAGE", 3)

    lines = list(control.export(runs=False, events=False))

    assert [line["key"] for line in lines if line["type"] == "job"] == [f"job-{n}" for n in range(7)]
    assert sum(line["type"] == "definition" for line in lines) == 7


def test_an_unknown_schema_is_not_found(control):
    with pytest.raises(NotFound, match="did you mean 'job'"):
        control.schema_of("jobs")


def test_another_actor_has_the_same_control(control, daily):
    other = control.acting_as(replace(control.actor, name="bert", kind="model"))

    other.add(daily())

    assert (control.show("backup")["creator"], control.show("backup")["creator_kind"]) == ("bert", "model")
