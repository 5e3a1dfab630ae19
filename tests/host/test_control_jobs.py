"""Jobs through Control: creating, showing, finding, editing, their history."""

from __future__ import annotations

import pytest

from schedcore._engine.toolbox import Toolbox
from schedcore._host.schema_check import schema_errors
from schedcore._ledger.events import Actor
from schedcore.domain.errors import Conflict, NotFound, PluginFault, Refused
from schedcore.spec import Executor, Listener, ok
from schedcore.testing import noop


def test_an_order_answers_with_its_id_only_after_its_commit(world, control, daily):
    added = control.add(daily())

    assert world.control().show(added["id"])["key"] == "backup"


def test_an_order_says_when_the_job_will_run(control, daily):
    added = control.add(daily(zone="Europe/Berlin"))

    assert [slot["local"] for slot in added["slots"]] == [
        "2026-06-02T09:00:00+02:00",
        "2026-06-03T09:00:00+02:00",
        "2026-06-04T09:00:00+02:00",
    ]
    assert added["trigger"] == "at 09:00 every day (Europe/Berlin)"


def test_a_kind_that_no_live_host_offers_is_taken_with_a_warning(world, control, daily):
    assert "no live host offers 'noop'" in control.add(daily("one"))["warnings"][0]
    world.host().beat()

    assert control.add(daily("two"))["warnings"] == []


def test_a_dry_run_of_an_order_writes_nothing(world, control, daily):
    before = world.contents()

    told = control.add(daily(), dry_run=True)

    assert (told["id"], told["key"], told["dry_run"]) == (None, "backup", True)
    assert world.contents() == before


def test_an_unknown_kind_is_refused_with_the_nearest(world, control, daily):
    with pytest.raises(Refused, match=r"did you mean 'noop'") as refused:
        control.add(daily(kind="nop"))

    assert (refused.value.code, refused.value.field) == ("unknown_kind", "kind")
    assert control.jobs() == []


def test_a_process_without_the_plugin_checks_by_the_announced_schema(world, daily):
    from schedcore._ledger import hosts

    with world.ledger.write() as c:
        schema = '{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}'
        row = {"kind": "sum", "version": "1", "schema": schema, "limit_s": 60, "attempts": 2, "retry_lost": 1}
        hosts.announce_kinds(c, [{**row, "seen_at": world.clock.wall()}])
    control = world.control(toolbox=Toolbox())

    with pytest.raises(Refused) as refused:
        control.add(daily(kind="sum", payload={"n": "three"}))
    added = control.add(daily(kind="sum", payload={"n": 3}))

    assert refused.value.field == "payload.n"
    assert control.show(added["id"])["policies"]["attempts"] == {"value": 2, "origin": "kind"}


def test_a_payload_that_does_not_fit_the_model_is_refused_with_its_path(world, daily):
    from pydantic import BaseModel

    class Work(BaseModel):
        model_config = {"extra": "forbid"}
        path: str

    executor = Executor(kind="work", payload=Work, execute=lambda ctx: ok())
    control = world.control(toolbox=Toolbox(executors={"work": ("test", executor)}))

    with pytest.raises(Refused) as refused:
        control.add(daily(kind="work", payload={"path": "x", "pth": 1}))

    assert refused.value.field == "payload.pth"
    assert control.jobs() == []


@pytest.mark.parametrize(
    ("bad", "code", "field"),
    [
        ({"cron": "0 0 30 2 *"}, "never_fires", "cron"),
        ({"cron": "0 9 * * * *"}, None, "cron"),
        ({"cron": "0 9 * * *", "zone": "Europe/Berlni"}, "unknown_zone", "zone"),
        ({"at": "2026-06-01T07:00:00Z"}, "in_the_past", "at"),
        ({"every": "30"}, None, "every"),
        ({"cron": "0 9 * * *", "overlp": "skip"}, "unknown_field", "overlp"),
        ({"cron": "0 9 * * *", "attempts": 11}, "out_of_range", "attempts"),
        ({"cron": "0 9 * * *", "payload": {"t": "{{DSH_SCHED_RUNKEY}}"}}, "unknown_placeholder", "payload.t"),
        ({"cron": "0 9 * * *", "payload": {"t": "x" * 300_000}}, "length", "payload"),
        ({"cron": "0 9 * * *", "key": "k" * 101}, "bad_key", "key"),
        ({"cron": "0 9 * * *", "key": "a|b"}, "bad_key", "key"),
        ({"cron": "0 9 * * *", "name": "a\nb"}, None, "name"),
        ({"cron": "0 9 * * *", "every": "1h"}, "two_kinds", None),
        ({"cron": "0 9 * * *", "state": "retired"}, "not_taken", "state"),
    ],
)
def test_what_is_refused_says_where_and_stores_nothing(world, control, bad, code, field):
    before = world.contents()

    with pytest.raises(Refused) as refused:
        control.add({"key": "k", "kind": "noop"} | bad)

    assert refused.value.exit_code == 2
    if code is not None:
        assert refused.value.code == code
    if field is not None:
        assert refused.value.field == field
    assert world.contents() == before


def test_a_bare_duration_is_refused_where_the_kind_is_not_given(control):
    with pytest.raises(Refused) as refused:
        control.add({"key": "k", "kind": "noop", "trigger": "30m"})

    assert refused.value.code == "bare_duration"


def test_an_order_without_a_trigger_runs_at_once_and_is_done(world, control):
    host = world.host()
    added = control.add({"key": "now", "kind": "noop"})

    host.beat()

    shown = control.show("now")
    assert [run["state"] for run in shown["last_runs"]] == ["succeeded"]
    assert (shown["state"], shown["next_run_at"], shown["id"]) == ("done", None, added["id"])


def test_a_one_shot_runs_once_and_never_again(world, control):
    host = world.host()
    control.add({"key": "once", "kind": "noop", "at": "2026-06-01T09:00:00Z"})

    world.clock.set("2026-06-01T09:00:00+00:00")
    host.beat()
    host.stop()
    world.clock.advance(days=2)
    world.host(name="host-2").beat()

    assert (control.show("once")["state"], control.show("once")["run_count"]) == ("done", 1)


def test_a_key_is_unique_among_live_jobs(control, daily):
    control.add(daily())

    with pytest.raises(Conflict) as taken:
        control.add(daily())

    assert (taken.value.code, taken.value.exit_code) == ("key_taken", 4)


def test_an_external_id_is_unique_in_its_source(control, daily):
    control.add(daily("a"), source="file", external_id="x")

    with pytest.raises(Conflict) as taken:
        control.add(daily("b"), source="file", external_id="x")

    assert taken.value.code == "external_id_taken"


def test_a_listener_may_refuse_before_anything_is_written(world, daily):
    def no(event):
        raise Refused(f"no more jobs like {event['job']['key']}", field="key")

    listener = Listener("gatekeeper", frozenset({"job.before_create"}), no)
    tools = Toolbox(executors={"noop": ("test", noop())}, listeners=(("strict", listener),))

    with pytest.raises(Refused, match="no more jobs like backup"):
        world.control(toolbox=tools).add(daily())

    assert world.control().jobs() == []


def test_a_listener_that_raises_is_named_and_nothing_is_written(world, daily):
    def broken(event):
        raise ZeroDivisionError("oops")

    listener = Listener("gatekeeper", frozenset({"job.before_create"}), broken)
    tools = Toolbox(executors={"noop": ("test", noop())}, listeners=(("strict", listener),))

    with pytest.raises(PluginFault, match=r"gatekeeper.*strict.*ZeroDivisionError"):
        world.control(toolbox=tools).add(daily())

    assert world.control().jobs() == []


def test_a_job_shows_as_its_published_schema_says(world, control, daily):
    host = world.host()
    control.add(daily(labels={"team": "ops"}, owner="anna", catch_up="skip", description="Nightly."))
    world.clock.advance(hours=1)
    host.beat()

    shown = control.show("backup")

    assert schema_errors(control.schema_of("job"), shown, "job") == []
    assert shown["policies"]["catch_up"] == {"value": "skip", "origin": "job"}
    assert shown["policies"]["attempts"]["origin"] == "kind"
    assert shown["policies"]["late_limit"] == {"value": 900, "origin": "default"}
    assert (shown["run_count"], shown["last"]["state"]) == (1, "succeeded")
    assert shown["next_run_at"] == "2026-06-02T09:00:00.000Z"


def test_a_list_says_what_is_next_and_what_was_last(world, control, daily):
    host = world.host()
    control.add(daily("late", cron="0 12 * * *", zone="Europe/Berlin"))
    control.add(daily("early", cron="30 8 * * *", labels=["night"]))
    world.clock.set("2026-06-01T08:30:00+00:00")
    host.beat()
    world.clock.advance(60)

    lines = control.jobs()

    assert [line["key"] for line in lines] == ["late", "early"]
    assert (lines[0]["left"], lines[0]["passed"], lines[0]["last"]) == (89 * 60, None, None)
    assert lines[0]["next_run_at_local"] == "2026-06-01T12:00:00+02:00 Europe/Berlin"
    assert (lines[1]["last"]["state"], lines[1]["passed"]) == ("succeeded", 60)
    assert [line["key"] for line in control.jobs(label="night")] == ["early"]
    assert [line["key"] for line in control.jobs(text="lat")] == ["late"]
    assert control.jobs(states=["en pause"]) == []


@pytest.mark.parametrize("name", ["backup", "back", "id", "id-prefix"])
def test_a_job_is_named_by_key_id_or_a_unique_beginning(control, daily, name):
    added = control.add(daily())
    control.add(daily("other"))
    given = {"id": added["id"], "id-prefix": added["id"][:12]}.get(name, name)

    assert control.show(given)["id"] == added["id"]


def test_a_typo_proposes_the_nearest_key(control, daily):
    control.add(daily())

    with pytest.raises(NotFound, match="did you mean 'backup'") as missing:
        control.show("bakcup")

    assert missing.value.exit_code == 3


def test_an_ambiguous_beginning_lists_the_candidates(control, daily):
    control.add(daily("backup-a"))
    control.add(daily("backup-b"))

    with pytest.raises(Refused, match="backup-a, backup-b") as refused:
        control.show("backup")

    assert (refused.value.code, refused.value.exit_code) == ("ambiguous", 2)


def test_creation_cron_edit_pause_and_resume_make_four_definitions(world, control, daily):
    control.add(daily())
    control.edit("backup", {"cron": "0 10 * * *"})
    control.pause("backup", reason="holiday")
    world.clock.advance(days=1)
    control.resume("backup", reason="back")

    assert control.show("backup")["definitions"] == 4
    assert world.rows("select number, state from {s}definitions order by number") == [
        (1, "active"),
        (2, "active"),
        (3, "paused"),
        (4, "active"),
    ]


def test_a_history_has_a_rename_and_a_cron_edit_under_one_id(control, daily):
    added = control.add(daily(), reason="asked by ops")
    control.edit("backup", {"key": "nightly", "name": "Nightly"}, reason="clearer")
    control.edit("nightly", {"cron": "0 10 * * *"})

    lines = control.history(added["id"])

    assert [(line["number"], line["actor"], line["action"], line["reason"]) for line in lines] == [
        (1, "anna", "create", "asked by ops"),
        (2, "anna", "edit", "clearer"),
        (3, "anna", "edit", None),
    ]
    assert lines[1]["changes"] == {"key": ["backup", "nightly"], "name": ["backup", "Nightly"]}
    assert lines[2]["changes"]["trigger.text"] == ["0 9 * * *", "0 10 * * *"]
    assert lines[2]["digest_before"] == lines[0]["digest_after"] != lines[2]["digest_after"]


def test_an_edit_that_leaves_the_trigger_alone_never_moves_a_due_slot(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.set("2026-06-01T09:05:00+00:00")
    control.jobs()

    control.edit("backup", {"name": "Another"})
    host.beat()

    assert [run["scheduled_for"] for run in control.runs()] == ["2026-06-01T09:00:00.000Z"]


@pytest.mark.parametrize("changes", [{"payload": {"n": 2}}, {"cron": "0 10 * * *"}, {"attempts": 2}])
def test_a_slot_that_had_come_belongs_to_the_definition_of_its_time(world, control, daily, changes):
    host = world.host()
    control.add(daily(jitter=120) if "cron" in changes else daily())
    world.clock.set("2026-06-01T09:00:00.001000+00:00")

    control.edit("backup", changes)
    host.beat()
    world.clock.advance(180)
    host.beat()

    (run,) = control.runs()
    assert (run["scheduled_for"], run["state"]) == ("2026-06-01T09:00:00.000Z", "succeeded")
    assert control.run_show(run["id"])["definition"] == 1
    assert control.show("backup")["last_slot"] == "2026-06-01T09:00:00.000Z" or "cron" in changes


def test_an_edit_of_the_trigger_counts_from_the_edit_on(world, control, daily):
    control.add(daily())
    world.clock.set("2026-06-01T08:30:00+00:00")

    told = control.edit("backup", {"cron": "0 8 * * *"})

    assert told["next_run_at"] == "2026-06-02T08:00:00.000Z"
    assert told["changed"]["trigger.text"] == ["0 9 * * *", "0 8 * * *"]


def test_an_edit_of_jitter_keeps_the_grid_of_an_interval(world, control):
    control.add({"key": "tick", "kind": "noop", "every": "1h"})
    world.clock.advance(minutes=30)

    told = control.edit("tick", {"jitter": 5})

    assert told["slots"][0]["utc"] == "2026-06-01T09:00:00.000Z"


def test_an_edit_with_none_takes_a_field_away(control, daily):
    control.add(daily(owner="anna", attempts=5, description="x"))

    told = control.edit("backup", {"owner": None, "attempts": None, "description": None})

    assert told["changed"] == {
        "owner": ["anna", None],
        "policies.attempts": [5, None],
        "description": ["x", None],
    }
    assert control.show("backup")["policies"]["attempts"]["origin"] == "kind"


def test_an_edit_that_changes_nothing_writes_nothing(world, control, daily):
    control.add(daily(payload={"b": 1, "a": 2}))
    before = world.contents()

    told = control.edit("backup", {"cron": "0 9 * * *", "payload": {"a": 2, "b": 1}})

    assert told["changed"] == {}
    assert world.contents() == before


def test_a_dry_edit_says_what_it_would_do_and_writes_nothing(world, control, daily):
    control.add(daily())
    before = world.contents()

    told = control.edit("backup", {"cron": "0 10 * * *"}, dry_run=True)

    assert told["changed"]["trigger.text"] == ["0 9 * * *", "0 10 * * *"]
    assert world.contents() == before


def test_a_state_is_not_edited(control, daily):
    control.add(daily())

    with pytest.raises(Refused, match="use pause, resume or remove"):
        control.edit("backup", {"enabled": False})


def test_a_done_job_with_a_new_future_instant_is_active(world, control):
    host = world.host()
    control.add({"key": "once", "kind": "noop", "at": "2026-06-01T08:00:00Z"})
    host.beat()
    assert control.show("once")["state"] == "done"

    control.edit("once", {"at": "2026-06-03T08:00:00Z"})

    shown = control.show("once")
    assert (shown["state"], shown["next_run_at"]) == ("active", "2026-06-03T08:00:00.000Z")
    assert control.history("once")[-1]["changes"]["state"] == ["done", "active"]


def test_an_edit_that_says_in_8_s_counts_from_the_edit_whatever_the_job_said_before(world, control):
    host = world.host()
    control.add({"key": "once", "kind": "noop", "in": "8s"})
    world.clock.advance(seconds=8)
    host.beat()
    assert control.show("once")["state"] == "done"

    edited = control.edit("once", {"in": "8s"}, reason="once more")

    assert edited["changed"]["state"] == ["done", "active"]
    world.clock.advance(seconds=8)
    host.beat()
    assert (control.show("once")["state"], control.show("once")["run_count"]) == ("done", 2)


def test_an_edit_of_another_field_leaves_an_in_where_it_is(world, control):
    control.add({"key": "once", "kind": "noop", "in": "8s"})
    slots = control.show("once")["slots"]
    world.clock.advance(seconds=5)

    control.edit("once", {"name": "Once"})

    assert control.show("once")["slots"] == slots


def test_reads_change_nothing(world, control, daily):
    host = world.host()
    control.add(daily())
    world.clock.advance(hours=2)
    host.beat()
    run = control.runs()[0]["id"]
    before = world.contents()

    control.jobs(), control.show("backup"), control.history("backup"), control.runs(), control.run_show(run)
    control.attempts(run), control.logs(run), control.trace(run), control.status(check=True), control.doctor()
    control.next("backup"), control.why("backup", "2026-06-01T09:00:00Z"), control.hosts(), control.stats()
    control.down("backup", "2026-06-02T00:00:00Z", "2026-06-04T00:00:00Z"), control.events(), control.check()
    control.fsck()
    list(control.export())

    assert world.contents() == before


@pytest.mark.parametrize("kind", ["model", "run"])
@pytest.mark.parametrize(
    "more", [{"secrets": ["TOKEN"]}, {"assert": {"command": "true"}}, {"assertCmd": "true"}]
)
def test_a_model_or_a_run_grants_itself_no_secret_and_no_check(control, daily, kind, more):
    control.add(daily("mine"))
    itself = control.acting_as(Actor("claude", kind))

    for order in (lambda: itself.add(daily("new", **more)), lambda: itself.edit("mine", more)):
        with pytest.raises(Refused) as refused:
            order()
        assert refused.value.code == "needs_person"

    assert control.edit("mine", more)["changed"]


@pytest.mark.parametrize("kind", ["model", "run"])
def test_a_model_or_a_run_takes_no_check_away_and_leaves_it_as_it_is(control, daily, kind):
    control.add(daily("mine", assertCmd="test -s report"))
    itself = control.acting_as(Actor("claude", kind))

    with pytest.raises(Refused) as refused:
        itself.edit("mine", {"assert": None})
    itself.edit("mine", {"owner": "claude"})

    assert refused.value.code == "needs_person"
    assert control.show("mine")["policies"]["assert"]["value"]["command"] == "test -s report"


def test_triggers_and_notes_are_said_in_the_language_of_the_control(world):
    french = world.control(lang="fr", timezone="Europe/Paris")
    order = {"key": "backup", "kind": "noop", "cron": "30 2 * * *", "gap": "skip"}
    said = "tous les jours à 02:30 (Europe/Paris)\u00a0; une heure que l'horloge saute est omise"

    added = french.add(order)
    edited = french.edit("backup", {"owner": "ada"})
    french.pause("backup")
    coming = french.next("backup", after="2027-03-28T00:00", n=1)

    assert [added["trigger"], edited["trigger"], coming["trigger"]] == [said] * 3
    assert [french.jobs()[0]["trigger"], french.show("backup")["trigger_words"]] == [said] * 2
    assert coming["slots"][0]["note"] == "02:30 n'existe pas le 2027-03-28 et n'a pas de créneau"
    assert coming["note"] == "l'état du job est paused\u00a0; voici les créneaux qu'il aurait"
    assert french.acting_as(french.actor).lang == "fr"


def test_a_control_in_a_language_without_words_is_refused(world):
    with pytest.raises(Refused) as refused:
        world.control(lang="tlh")

    assert refused.value.code == "unknown_language"
