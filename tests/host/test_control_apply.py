"""Making the jobs of a source what it declares."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from schedcore._ledger import schema
from schedcore._ledger.events import Actor
from schedcore.domain.errors import Refused
from schedcore.domain.job import JobOrder
from schedcore.spec import Listener

FILE = {
    "backup": {"kind": "noop", "cron": "0 9 * * *", "payload": {"n": 1}},
    "tick": {"kind": "noop", "every": "30m"},
    "soon": {"kind": "noop", "in": "10m"},
}


def brief(told):
    named = ("creates", "edits", "revives", "retires", "would_retire")
    return {n: [line["key"] for line in told[n]] for n in named if told[n]}


def test_the_first_load_creates_and_the_next_two_change_nothing(world, control):
    first = control.apply(FILE, source="file")
    before = world.contents()
    world.clock.advance(300)

    second, third = control.apply(FILE, source="file"), control.apply(FILE, source="file")

    assert (brief(first), first["changes"]) == ({"creates": ["backup", "tick", "soon"]}, True)
    assert (brief(second), second["unchanged"], second["changes"]) == ({}, 3, False)
    assert third["unchanged"] == 3
    assert world.contents() == before


def test_an_edit_shows_its_fields_and_leaves_the_grid_of_others_alone(world, control):
    control.apply(FILE, source="file")
    due = {job["key"]: job["next_run_at"] for job in control.jobs()}
    world.clock.advance(300)

    told = control.apply(
        FILE | {"tick": FILE["tick"] | {"attempts": 2}, "soon": FILE["soon"] | {"payload": {"x": 1}}},
        source="file",
    )

    assert {line["key"]: line["changed"] for line in told["edits"]} == {
        "tick": {"policies.attempts": [None, 2]},
        "soon": {"payload.x": [None, 1]},
    }
    assert {job["key"]: job["next_run_at"] for job in control.jobs()} == due


def test_a_dry_run_equals_what_the_order_then_does(world, control):
    control.apply(FILE, source="file")
    changed = {"backup": FILE["backup"] | {"cron": "0 10 * * *"}, "new": FILE["tick"]}
    before = world.contents()

    dry = control.apply(changed, source="file", prune=True, dry_run=True)
    assert world.contents() == before
    done = control.apply(changed, source="file", prune=True)

    assert dry | {"dry_run": False} == done
    assert brief(done) == {"creates": ["new"], "edits": ["backup"], "retires": ["tick", "soon"]}


def test_what_is_no_longer_declared_is_retired_only_when_asked_and_never_deleted(control):
    control.apply(FILE, source="file")
    less = {"backup": FILE["backup"]}

    kept = control.apply(less, source="file")
    pruned = control.apply(less, source="file", prune=True)

    assert (brief(kept), kept["changes"]) == ({"would_retire": ["tick", "soon"]}, False)
    assert brief(pruned) == {"retires": ["tick", "soon"]}
    states = {job["key"]: job["state"] for job in control.jobs(all_states=True)}
    assert states == {"backup": "active", "tick": "retired", "soon": "retired"}
    assert control.history("tick")[-1]["reason"] == "declared by file"


def test_a_retired_job_that_is_declared_again_takes_its_former_state(control):
    control.apply(FILE, source="file")
    uid = control.show("backup")["id"]
    control.pause("backup", reason="holiday")
    control.apply({}, source="file", prune=True)

    told = control.apply(FILE, source="file")

    assert brief(told) == {"revives": ["backup", "tick", "soon"]}
    assert (control.show("backup")["id"], control.show("backup")["state"]) == (uid, "paused")
    assert control.show("tick")["state"] == "active"
    assert control.apply(FILE, source="file")["changes"] is False


def test_a_one_shot_that_has_run_stays_done_however_often_it_is_declared(world, control):
    host = world.host()
    once = {"once": {"kind": "noop", "at": "2026-06-01T08:10:00Z"}, "now": {"kind": "noop"}}
    control.apply(once, source="file")
    world.clock.advance(minutes=10)
    host.beat()
    assert [job["state"] for job in control.jobs()] == ["done", "done"]
    world.clock.advance(days=3)

    assert control.apply(once, source="file")["unchanged"] == 2
    control.apply({}, source="file", prune=True)
    control.apply(once, source="file")
    host.beat()

    assert [job["state"] for job in control.jobs()] == ["done", "done"]
    assert len(control.runs()) == 2


def test_what_is_bad_is_rejected_with_all_its_errors_and_the_rest_is_taken(control):
    bad = {"kind": "nop", "cron": "0 9 * *", "attempts": 99}

    told = control.apply(FILE | {"bad": bad, "worse": "text"}, source="file")

    assert len(told["creates"]) == 3
    rejects = {line["external_id"]: [e["field"] for e in line["errors"]] for line in told["rejects"]}
    assert set(rejects["bad"]) == {"kind", "cron", "attempts"}
    assert "worse" in rejects


def test_a_job_that_became_bad_is_kept_as_it_was(control):
    control.apply(FILE, source="file")

    told = control.apply(FILE | {"backup": {"kind": "noop", "cron": "bad"}}, source="file", prune=True)

    assert (told["changes"], [line["external_id"] for line in told["rejects"]]) == (False, ["backup"])
    assert control.show("backup")["trigger"]["text"] == "0 9 * * *"


def test_a_key_of_somebody_elses_job_is_rejected(control, daily):
    control.add(daily())

    told = control.apply(FILE, source="file")

    assert told["rejects"][0]["errors"][0]["code"] == "key_taken"
    assert brief(told) == {"creates": ["tick", "soon"]}


def test_two_declarations_of_one_key_are_told_apart(control):
    told = control.apply({"a": FILE["tick"] | {"key": "x"}, "b": FILE["tick"] | {"key": "x"}}, source="file")

    assert ([line["key"] for line in told["creates"]], told["rejects"][0]["external_id"]) == (["x"], "b")


def test_a_declared_pause_is_obeyed_once_and_a_persons_pause_is_left_alone(control):
    control.apply(FILE, source="file")
    control.pause("tick", reason="by hand")

    told = control.apply(FILE | {"backup": FILE["backup"] | {"enabled": False}}, source="file")
    assert [line["changed"] for line in told["edits"]] == [{"state": ["active", "paused"]}]
    assert {j["key"]: j["state"] for j in control.jobs()} == {
        "backup": "paused",
        "tick": "paused",
        "soon": "active",
    }

    told = control.apply(FILE, source="file")
    assert [line["changed"] for line in told["edits"]] == [{"state": ["paused", "active"]}]
    assert {j["key"]: j["state"] for j in control.jobs()} == {
        "backup": "active",
        "tick": "paused",
        "soon": "active",
    }


def test_an_edit_by_hand_is_taken_back_by_the_source(control):
    control.apply(FILE, source="file")
    control.edit("backup", {"cron": "0 11 * * *"})

    told = control.apply(FILE, source="file")

    assert told["edits"][0]["changed"]["trigger.text"] == ["0 11 * * *", "0 9 * * *"]


def test_a_listener_may_refuse_one_job_of_many(world):
    from schedcore._engine.toolbox import Toolbox
    from schedcore.testing import noop

    def no(event):
        if event["job"]["key"] == "tick":
            raise Refused("no ticks")

    tools = Toolbox(
        executors={"noop": ("test", noop())},
        listeners=(("strict", Listener("gate", frozenset({"job.before_create"}), no)),),
    )

    told = world.control(toolbox=tools).apply(FILE, source="file")

    assert brief(told) == {"creates": ["backup", "soon"]}
    assert told["rejects"][0]["external_id"] == "tick"


def test_a_source_is_read_with_one_query_whatever_its_size(world, control):
    from sqlalchemy import event

    many = {f"job-{n}": {"kind": "noop", "cron": f"{n % 60} 9 * * *"} for n in range(300)}
    control.apply(many, source="file")
    seen = []
    listen = event.listen(world.ledger.engine, "before_cursor_execute", lambda *a: seen.append(a[2]))
    assert listen is None

    assert control.apply(many, source="file")["unchanged"] == 300

    assert len(seen) < 10


def test_what_still_says_what_is_declared_is_not_read_again(world, control, monkeypatch):
    control.apply(FILE, source="file")
    monkeypatch.setattr(JobOrder, "parse", lambda *a, **k: pytest.fail("it was read"))

    assert control.apply(FILE, source="file")["unchanged"] == 3


def test_a_declaration_is_read_again_where_its_reading_may_come_out_otherwise(world, control):
    control.apply(FILE, source="file")
    elsewhere = world.control(timezone="Asia/Tokyo")

    moved = brief(elsewhere.apply(FILE, source="file"))

    assert moved["edits"] == ["backup", "tick", "soon"]
    assert control.show("backup")["zone"] == "Asia/Tokyo"


def test_what_was_read_and_found_unchanged_is_not_read_a_third_time(world, control, monkeypatch):
    control.apply(FILE, source="file")
    other_words = {key: dict(reversed(list({**data, "owner": None}.items()))) for key, data in FILE.items()}
    assert control.apply(other_words, source="file")["unchanged"] == 3
    monkeypatch.setattr(JobOrder, "parse", lambda *a, **k: pytest.fail("it was read"))

    assert control.apply(other_words, source="file")["unchanged"] == 3


def test_very_many_new_jobs_come_with_definition_slot_and_first_event(world, control):
    many = {f"job-{n}": {"kind": "noop", "cron": f"{n % 60} 9 * * *"} for n in range(1_100)}

    assert len(control.apply(many, source="file")["creates"]) == 1_100

    told = control.show("job-1099")
    assert told["definition"] == 1
    assert [event["action"] for event in control.history("job-1099")] == ["create"]
    with world.ledger.read() as c:
        due = c.execute(sa.select(sa.func.count()).select_from(schema.due)).scalar_one()
        wanted = c.execute(
            sa.select(schema.due.c.next_run_at).where(schema.due.c.next_run_at.is_(None))
        ).all()
    assert (due, wanted) == (1_100, [])


def test_a_run_that_applies_a_file_declares_no_check_and_no_secret_of_its_own(control):
    checked = FILE["backup"] | {"assertCmd": "test -s report"}
    control.apply({"backup": checked}, source="file")
    itself = control.acting_as(Actor("run 1", "run"))

    files = [
        {"backup": checked | {"assertCmd": "true"}},
        {"backup": FILE["backup"]},
        {"new": FILE["tick"] | {"secrets": ["TOKEN"]}},
    ]
    told = [itself.apply(file, source="file", dry_run=dry) for file in files for dry in (True, False)]
    left = itself.apply({"backup": checked | {"owner": "ada"}}, source="file")

    assert [one["rejects"][0]["errors"][0]["code"] for one in told] == ["needs_person"] * 6
    assert not any(one["changes"] for one in told)
    assert [line["changed"] for line in left["edits"]] == [{"owner": [None, "ada"]}]


@pytest.mark.parametrize("source", ["", "x" * 201, "a\nb"])
def test_a_source_has_a_name(control, source):
    with pytest.raises(Refused):
        control.apply({}, source=source)
