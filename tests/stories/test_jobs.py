"""What a job is, was and becomes: definitions, moves, edits, deletion, bounds (L-05, L-07, P-26 to P-28, P-33)."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from schedcore._engine import zone_data
from schedcore._ledger import jobs as job_rows
from schedcore._ledger.schema import definitions, jobs
from schedcore.domain import zones
from schedcore.domain.clock import text
from schedcore.domain.errors import Conflict, Refused
from schedcore.domain.zones import replaced_data, tz_version, zone_bytes
from schedcore.testing import ManualClock, StandingHost
from tests.stories.conftest import Stage


def beats(host: StandingHost, clock: ManualClock, n: int, **step: float) -> None:
    """So many beats, each after a step of time."""
    for _ in range(n):
        clock.advance(**(step or {"minutes": 1}))
        host.beat()


def test_each_change_of_what_holds_is_a_definition_that_begins_where_the_one_before_ends(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("report", cron="0 9 * * *")
    clock.advance(minutes=1)
    host.control.edit("report", {"cron": "0 10 * * *"})
    clock.advance(minutes=1)
    host.control.pause("report", reason="not now")
    clock.advance(minutes=1)
    host.control.resume("report")

    held = host.definitions(job)
    assert [d["number"] for d in held] == [1, 2, 3, 4]
    assert [d["valid_to"] for d in held[:-1]] == [d["valid_from"] for d in held[1:]]
    assert held[-1]["valid_to"] is None
    assert [d["state"] for d in held] == ["active", "active", "paused", "active"]


def test_an_edit_of_the_name_opens_no_definition(host: StandingHost) -> None:
    job = host.add("report", cron="0 9 * * *")

    host.control.edit("report", {"name": "Report"})

    assert len(host.definitions(job)) == 1


@pytest.mark.parametrize("key", ["", "a|b", "a b", "-a", "a" * 101, "é", "a\n", "a/b"])
def test_a_key_that_is_none_is_refused(host: StandingHost, key: str) -> None:
    with pytest.raises(Refused) as refused:
        host.control.add({"key": key, "kind": "noop", "cron": "0 9 * * *"})

    assert refused.value.field == "key"
    assert host.control.jobs() == []


FORBIDDEN = [
    ("active", "resume"),
    ("paused", "pause"),
    ("done", "pause"),
    ("done", "resume"),
    ("retired", "pause"),
    ("retired", "resume"),
    ("retired", "remove"),
    ("retired", "run"),
    ("invalid", "resume"),
    ("invalid", "run"),
]


@pytest.mark.parametrize(("state", "order"), FORBIDDEN)
def test_a_move_that_is_none_is_refused_and_changes_nothing(
    host: StandingHost, clock: ManualClock, state: str, order: str
) -> None:
    fields = {"at": "2026-06-01T08:00:30Z"} if state == "done" else {"cron": "0 9 * * *"}
    job = host.add("one", **fields)
    if state == "paused":
        host.control.pause("one")
    elif state == "done":
        beats(host, clock, 1)
    elif state == "retired":
        host.control.remove("one")
    elif state == "invalid":
        break_in_storage(host, job)
    before = host.job(job)

    with pytest.raises(Conflict) as refused:
        getattr(host.control, order)(before["uid"])

    assert refused.value.exit_code == 4
    assert host.job(job) == before
    assert before["state"] == {"invalid": "paused"}.get(state, state)


def break_in_storage(host: StandingHost, job: int) -> None:
    """A later definition that nobody can read, and the beat that meets it."""
    with host.ledger.write() as c:
        c.execute(
            sa.update(definitions).where(definitions.c.job_id == job).values(policies='{"overlap":"?"}')
        )
        host.engine.compiler._made.clear()
    host.clock.set("2026-06-02T09:00:00+00:00")
    host.beat()


def test_fault_R35_a_definition_that_cannot_be_read_pauses_its_own_job_until_it_is_edited(
    host: StandingHost, clock: ManualClock
) -> None:
    bad = host.add("bad", cron="0 9 * * *")
    good = host.add("good", cron="0 9 * * *")

    break_in_storage(host, bad)
    assert host.job(bad)["state"] == "paused"
    assert host.job(bad)["state_reason"].startswith("invalid: ")
    with pytest.raises(Conflict, match="cannot be read"):
        host.control.resume("bad")
    host.control.edit("bad", {"overlap": "skip"}, reason="repaired")
    clock.set("2026-06-03T09:00:00+00:00")
    host.beat()

    assert host.job(bad)["state"] == "active"
    assert [text(run["scheduled_for"])[:10] for run in host.runs(bad)] == ["2026-06-03"]
    assert [run["word"] for run in host.runs(good)] == ["succeeded"] * 2


def test_a_source_that_declares_a_retired_job_again_gives_it_its_former_state(host: StandingHost) -> None:
    declared = {"a": {"kind": "noop", "cron": "0 9 * * *"}}
    host.control.apply(declared, source="file")
    host.control.pause("a", reason="not now")
    uid = host.control.show("a")["id"]
    host.control.apply({}, source="file", prune=True)

    host.control.apply(declared, source="file")

    shown = host.control.show("a")
    assert (shown["id"], shown["state"]) == (uid, "paused")


def test_a_deleted_job_leaves_its_key_to_a_new_one(host: StandingHost, clock: ManualClock) -> None:
    old = host.add("report", cron="0 9 * * *")
    host.control.remove("report", reason="another one")

    new = host.add("report", cron="0 10 * * *")
    clock.set("2026-06-01T12:00:00+00:00")
    host.beat()

    assert host.job(old)["uid"] != host.job(new)["uid"]
    assert host.words(old) == []
    assert host.words(new) == [("10:00:00", "succeeded")]


def test_an_edit_of_the_trigger_first_opens_what_is_due_and_then_counts_from_now(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("report", cron="0 9 * * *")
    clock.set("2026-06-01T09:30:00+00:00")

    host.control.edit("report", {"cron": "0 8 * * *"})
    host.beat()

    assert [(run["at"], run["definition"]) for run in host.runs(job)] == [("09:00:00", 1)]
    assert text(host.job(job)["next_run_at"]) == "2026-06-02T08:00:00.000Z"


def test_a_paused_job_counts_its_slots_in_one_row_and_runs_none_of_them(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("minutely", cron="* * * * *", catch_up="all")
    host.control.pause("minutely", reason="not now")
    clock.advance(days=3)
    host.beat()

    told = host.control.resume("minutely")
    host.beat()

    assert told["passed"] == 3 * 24 * 60
    assert host.words(job) == []
    (row,) = host.skip_rows(job)
    assert (row["reason"], row["slots"], row["actor"]) == ("paused", 3 * 24 * 60, "tester")
    beats(host, clock, 1)
    assert len(host.runs(job)) == 1


def test_fault_R11_a_pause_of_three_days_stops_no_job(host: StandingHost, clock: ManualClock) -> None:
    job = host.add("minutely", cron="* * * * *")
    host.control.pause("minutely")
    clock.advance(days=3)
    host.control.resume("minutely")

    beats(host, clock, 2)

    assert host.skips(job) == [("paused", 3 * 24 * 60)]
    assert [run["word"] for run in host.runs(job)] == ["succeeded"] * 2


def test_a_pause_in_one_process_is_obeyed_by_all(stage: Stage, clock: ManualClock) -> None:
    a, b = stage(), stage()
    job = a.add("minutely", cron="* * * * *")
    a.control.pause("minutely", reason="not now")

    for _ in range(3):
        clock.advance(minutes=1)
        b.beat()
        a.beat()

    assert a.words(job) == []


def test_a_count_of_three_is_three_runs_and_then_the_job_is_done(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("few", cron="* * * * *", count=3)

    beats(host, clock, 6)

    assert [run["word"] for run in host.runs(job)] == ["succeeded"] * 3
    assert (host.job(job)["state"], host.job(job)["slots_left"]) == ("done", 0)


def test_slots_lie_within_the_bounds(host: StandingHost, clock: ManualClock) -> None:
    job = host.add(
        "bound",
        trigger={
            "cron": "* * * * *",
            "not_before": "2026-06-01T08:03:00Z",
            "not_after": "2026-06-01T08:05:00Z",
        },
    )

    beats(host, clock, 9)

    assert [run["at"] for run in host.runs(job)] == ["08:03:00", "08:04:00", "08:05:00"]
    assert host.job(job)["state"] == "done"


def test_a_count_that_is_used_up_by_skipped_slots_ends_the_job_too(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("few", cron="* * * * *", count=3, late_limit="1m")

    clock.advance(hours=1)
    host.beat()

    assert host.skips(job) == [("late", 3)]
    assert host.job(job)["state"] == "done"


def test_new_zone_data_move_a_waiting_slot_once(stage: Stage, clock: ManualClock) -> None:
    host = stage()
    job = host.add("local", cron="0 12 * * *", zone="Europe/Berlin")  # 10:00Z in summer
    host.stop()

    with replaced_data("9999z", {"Europe/Berlin": zone_bytes("Etc/GMT-3")}):
        host = stage()
        for hour in (8, 10, 12):
            clock.set(f"2026-06-01T{hour:02}:30:00+00:00")
            host.beat()

        assert host.words(job) == [("09:00:00", "succeeded")]
        assert [d["tz_version"] for d in host.definitions(job)][-1] == "9999z"
        assert host.control.history("local")[-1]["action"] == "tz_data"
        assert text(host.job(job)["next_run_at"]) == "2026-06-02T09:00:00.000Z"


def test_what_was_owed_before_new_zone_data_is_decided_by_the_definition_that_owed_it(
    stage: Stage, clock: ManualClock
) -> None:
    host = stage()
    job = host.add("local", cron="0 * * * *", zone="Europe/Berlin")
    host.stop()
    clock.set("2026-06-01T10:30:00+00:00")

    with replaced_data("9999z", {"Europe/Berlin": zone_bytes("Etc/GMT-3")}):
        host = stage()
        host.beat()

        first, second = host.definitions(job)
        assert [(run["at"], run["definition"]) for run in host.runs(job)] == [("10:00:00", 1)]
        assert [(r["reason"], r["slots"], r["definition"]) for r in host.skip_rows(job)] == [
            ("coalesced", 1, 1)
        ]
        assert first["valid_to"] == second["valid_from"] == clock.wall()
        assert text(host.job(job)["next_run_at"]) == "2026-06-01T11:00:00.000Z"


def test_new_zone_data_are_followed_in_batches_and_one_bad_job_stops_no_other(
    stage: Stage, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = stage()
    keys = [f"job-{n}" for n in range(7)]
    ids = [host.add(key, cron="0 12 * * *", zone="Europe/Berlin", payload={"n": key}) for key in keys]
    bad = host.add("bad", cron="0 12 * * *", zone="Europe/Berlin")
    elapsed = host.add("elapsed", every="1h")
    with host.ledger.write() as c:
        job_rows.redefine(c, bad, 1, {"trigger": '{"kind":"cron","text":"nonsense"}'})
    host.stop()
    monkeypatch.setattr(zone_data, "BATCH", 3)
    followed: list[int] = []
    batch = zone_data._batch
    monkeypatch.setattr(zone_data, "_batch", lambda *given: followed.append(batch(*given)) or followed[-1])

    with replaced_data("9999z", {"Europe/Berlin": zone_bytes("Etc/GMT-3")}):
        host = stage()

        assert followed == [3, 3, 1]
        for job in ids:
            before, after = host.definitions(job)
            same = ("kind", "trigger", "policies", "payload", "digest", "state", "toolset")
            assert [before[name] for name in same] == [after[name] for name in same]
            assert (after["number"], after["tz_version"], after["valid_to"]) == (2, "9999z", None)
            assert (host.job(job)["definition"], before["valid_to"]) == (2, after["valid_from"])
            assert text(host.job(job)["next_run_at"]) == "2026-06-01T09:00:00.000Z"
            assert host.control.history(host.job(job)["key"])[-1]["action"] == "tz_data"
        assert [len(host.definitions(job)) for job in (bad, elapsed)] == [1, 1]


def test_a_host_with_older_zone_data_moves_nothing_back_while_a_newer_one_lives(
    stage: Stage, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    with replaced_data("9999z", {"Europe/Berlin": zone_bytes("Etc/GMT-3")}):
        newer = stage()
        newer.beat()
        job = newer.add("local", cron="0 12 * * *", zone="Europe/Berlin")

    older = stage()

    assert [d["tz_version"] for d in older.definitions(job)] == ["9999z"]
    assert "host-1 has zone data 9999z, this one" in caplog.text
    newer.stop()
    last = stage()
    assert [d["tz_version"] for d in last.definitions(job)] == ["9999z", tz_version()]


def test_zone_data_that_change_under_a_host_are_not_read_before_it_is_started_again(
    host: StandingHost, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old rules and new ones never meet in one process, whatever an installer does beside it (P-28)."""

    def gone(package: str) -> Path:
        raise FileNotFoundError(f"{package} is being replaced")

    zones._opened.cache_clear()
    monkeypatch.setattr(zones, "files", gone)

    job = host.add(
        "far", cron="0 12 * * *", zone="Pacific/Chatham"
    )  # a zone that nobody has asked for before

    assert text(host.job(job)["next_run_at"]) == "2026-06-01T23:15:00.000Z"


def test_a_one_shot_that_is_moved_ahead_after_it_was_done_is_active_again(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("once", at="2026-06-01T08:01:00Z")
    beats(host, clock, 2)
    assert host.job(job)["state"] == "done"

    host.control.edit("once", {"at": "2026-06-01T08:10:00Z"})
    beats(host, clock, 10)

    assert [run["at"] for run in host.runs(job)] == ["08:01:00", "08:10:00"]
    assert host.job(job)["state"] == "done"


def test_an_unreadable_row_is_shown_and_its_fields_survive(host: StandingHost) -> None:
    job = host.add("bad", cron="0 9 * * *")
    break_in_storage(host, job)

    listed = host.control.jobs()

    assert [(one["key"], one["state"]) for one in listed] == [("bad", "paused")]
    with host.ledger.read() as c:
        assert c.execute(sa.select(jobs.c.key)).scalar() == "bad"


def test_an_interval_that_is_declared_again_in_the_same_words_keeps_its_grid(
    host: StandingHost, clock: ManualClock
) -> None:
    host.control.apply({"a": {"kind": "noop", "every": "1h"}}, source="file")
    due = host.control.show("a")["next_run_at"]
    clock.advance(minutes=40)

    told = host.control.apply({"a": {"kind": "noop", "every": "1h", "name": "Anew"}}, source="file")

    assert [list(edit["changed"]) for edit in told["edits"]] == [["name"]]
    assert host.control.show("a")["next_run_at"] == due == "2026-06-01T09:00:00.000Z"


def test_an_edit_while_the_clock_stands_behind_what_was_decided_takes_no_slot_twice(
    host: StandingHost, clock: ManualClock
) -> None:
    job = host.add("minutely", cron="* * * * *")
    beats(host, clock, 5)
    clock.step(minutes=-3)

    host.control.edit("minutely", {"cron": "*/2 * * * *"})
    beats(host, clock, 6)

    first, second = host.definitions(job)
    assert first["valid_to"] == second["valid_from"] == host.runs(job)[4]["scheduled_for"] + 1
    assert [(run["at"], run["definition"]) for run in host.runs(job)][4:] == [
        ("08:05:00", 1),
        ("08:06:00", 2),
        ("08:08:00", 2),
    ]
