"""Jobs from the command line, on a real ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli


@pytest.fixture
def backup(schedcore: Cli) -> Cli:
    """A ledger with the job ``backup``, each day at 02:30 in Berlin."""
    added = schedcore("add", "backup", "30 2 * * *", "--zone", "Europe/Berlin", "--", "/bin/echo", "a b")
    assert added.code == 0, added.err
    return schedcore


def test_add_shows_the_next_slots_and_then_stores(schedcore: Cli):
    told = schedcore("add", "backup", "30 2 * * *", "--zone", "Europe/Berlin", "--", "/bin/true")

    assert told.code == 0
    assert told.lines[0] == "at 02:30 (Europe/Berlin)" or "02:30" in told.lines[0]
    assert told.lines[1].split()[:2] == ["UTC", "LOCAL"]
    assert told.lines[-1].startswith("backup is added, active, as j-")


def test_a_dry_run_shows_the_slots_and_stores_nothing(schedcore: Cli):
    told = schedcore("add", "backup", "30 2 * * *", "--dry-run", "--", "/bin/true")

    assert told.code == 0
    assert "nothing was written" in told.lines[-1]
    assert schedcore("list", "--json").json["jobs"] == []


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["0 9 * * *"], "cron"),
        (["--cron", "0 9 * * *"], "cron"),
        (["--every", "30m"], "every"),
        (["--at", "2099-01-01T09:00"], "at"),
        (["2099-01-01T09:00"], "at"),
        (["--in", "30m"], "at"),
    ],
    ids=str,
)
def test_every_form_of_a_schedule_is_taken(schedcore: Cli, words: list[str], kind: str):
    told = schedcore("add", "one", *words, "--", "/bin/true")

    assert told.code == 0, told.err
    assert kind in json.dumps(schedcore("show", "one", "--json").json)


def test_a_payload_is_json_a_file_or_standard_input(schedcore: Cli, home: Path):
    payload = '{"args": ["/bin/echo", "hello"]}'
    (home / "payload.json").write_text(payload)

    for key, given in (("one", payload), ("two", "@payload.json"), ("three", "@-")):
        told = schedcore("add", key, "@daily", "--payload", given, stdin=payload)

        assert told.code == 0, told.err
        assert schedcore("show", key, "--json").json["payload"]["args"] == ["/bin/echo", "hello"]


def test_any_field_can_be_set(schedcore: Cli):
    sets = ["attempts=5", "timeout=10m", "labels.team=ops", "assert.command=test -s out", 'tags=["gpu"]']

    told = schedcore("add", "one", "@daily", *[w for s in sets for w in ("--set", s)], "--", "/bin/true")

    assert told.code == 0, told.err
    shown = schedcore("show", "one", "--json").json
    assert shown["policies"]["attempts"] == {"value": 5, "origin": "job"}
    assert shown["policies"]["timeout"]["value"] == 600
    assert shown["labels"] == {"team": "ops"}


@pytest.mark.parametrize(
    ("words", "field", "hint"),
    [
        (["--set", "atempts=5", "--", "/bin/true"], "atempts", "attempts"),
        (["--set", "attempts=11", "--", "/bin/true"], "attempts", "10"),
        (["--kind", "scirpt", "--", "/bin/true"], "kind", "script"),
        (["--payload", '{"arg": ["x"]}'], "payload.arg", "args"),
        (["--payload", "{"], "payload", "@FILE"),
        (["--zone", "Mars/Base", "--", "/bin/true"], "zone", ""),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_is_refused_is_named_with_field_and_remedy(
    schedcore: Cli, words: list[str], field: str, hint: str
):
    told = schedcore("add", "one", "@daily", "--json", *words)

    assert told.code == 2
    assert told.error["field"] == field
    assert hint in str(told.error["hint"])
    assert schedcore("list", "--json").json["jobs"] == []


def test_a_program_before_the_dashes_is_no_schedule(schedcore: Cli):
    told = schedcore("add", "one", "/bin/true")

    assert told.code == 2
    assert "-- PROGRAM" in told.err


def test_a_taken_key_is_a_conflict(backup: Cli):
    told = backup("add", "backup", "@daily", "--", "/bin/true")

    assert told.code == 4
    assert "schedcore edit backup" in told.err


def test_the_list_has_the_columns_everybody_knows(backup: Cli):
    told = backup("list")

    assert told.lines[0].split() == ["NEXT", "LEFT", "LAST", "PASSED", "JOB", "TRIGGER", "STATE"]
    assert "backup" in told.lines[1]
    assert told.lines[1].endswith("active")


def test_an_empty_list_is_an_empty_list(schedcore: Cli):
    told = schedcore("list", "--json")

    assert (told.code, told.json) == (0, {"v": 1, "jobs": []})
    assert schedcore("list").out == ""


def test_lists_are_narrowed_by_state_tag_time_and_text(backup: Cli):
    backup("add", "later", "--at", "2099-01-01T00:00", "--set", "labels.team=ops", "--", "/bin/true")
    backup("pause", "backup")

    def keys(*words: str) -> list[str]:
        return [job["key"] for job in backup("list", "--json", *words).json["jobs"]]

    assert keys("--state", "paused") == ["backup"]
    assert keys("--state", "en pause") == ["backup"]
    assert keys("--tag", "team") == ["later"]
    assert keys("--since", "2090-01-01") == ["later"]
    assert keys("lat") == ["later"]
    assert backup("list", "--state", "pausd").code == 2


def test_a_job_is_named_by_key_id_or_unique_prefix(backup: Cli):
    uid = backup("show", "backup", "--json").json["id"]

    for name in ("backup", "back", uid, uid[:8]):
        assert backup("show", name, "--json").json["key"] == "backup"


def test_a_typo_proposes_the_nearest_key(backup: Cli):
    told = backup("show", "bakcup")

    assert told.code == 3
    assert "backup" in told.err


def test_show_says_where_each_policy_comes_from(backup: Cli):
    told = backup("show", "backup")

    assert told.code == 0
    assert "attempts: 3  (from the kind)" in told.out
    assert "next slots:" in told.out


def test_an_edit_names_what_changes(backup: Cli):
    told = backup("edit", "backup", "--cron", "0 3 * * *", "--set", "attempts=5")

    assert told.code == 0, told.err
    assert "  policies.attempts: (nothing) -> 5" in told.lines or "attempts" in told.out
    assert told.lines[-1] == "backup is changed: definition 2"
    assert backup("edit", "backup", "--set", "attempts=5").lines[-1].endswith("nothing was changed")


def test_a_field_can_be_taken_away(backup: Cli):
    backup("edit", "backup", "--set", "attempts=5")

    told = backup("edit", "backup", "--unset", "attempts")

    assert told.code == 0, told.err
    assert backup("show", "backup", "--json").json["policies"]["attempts"]["origin"] != "job"


def test_the_editor_gets_the_whole_job_and_only_what_changed_is_taken(
    backup: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
):
    editor = home / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i \'s/a b/c d/; $a attempts = 7\' "$1"\ncp "$1" seen.toml\n')
    editor.chmod(0o755)
    # a value after the last table would belong to that table: put it first
    editor.write_text('#!/bin/sh\nsed -i \'s/a b/c d/; 1a attempts = 7\' "$1"\ncp "$1" seen.toml\n')
    monkeypatch.setenv("VISUAL", str(editor))

    told = backup("edit", "backup", "--editor")

    assert told.code == 0, told.err
    shown = backup("show", "backup", "--json").json
    assert shown["payload"]["args"] == ["/bin/echo", "c d"]
    assert shown["policies"]["attempts"]["value"] == 7
    assert "30 2 * * *" in (home / "seen.toml").read_text()
    history = backup("history", "backup", "--json").json["events"]
    assert not any("trigger" in name for name in history[-1]["changes"])


def test_pause_and_resume_are_recorded_with_reason_and_actor(backup: Cli):
    assert backup("pause", "backup", "--reason", "moving house").code == 0
    assert backup("resume", "backup", "--reason", "moved").code == 0

    events = backup("history", "backup", "--json").json["events"]

    assert [event["action"] for event in events] == ["create", "pause", "resume"]
    assert [event["reason"] for event in events] == [None, "moving house", "moved"]
    assert {event["actor_kind"] for event in events} == {"person"}


def test_inside_a_run_the_actor_is_the_run(backup: Cli, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SCHEDCORE_RUN", "17")
    backup("pause", "backup")

    assert backup("history", "backup", "--json").json["events"][-1]["actor_kind"] == "run"


def test_what_takes_away_needs_a_yes_where_nobody_can_be_asked(backup: Cli):
    told = backup("remove", "backup")

    assert told.code == 2
    assert "--yes" in told.err
    assert backup("show", "backup", "--json").json["state"] == "active"

    assert backup("remove", "backup", "--dry-run").code == 0
    assert backup("show", "backup", "--json").json["state"] == "active"

    assert backup("remove", "backup", "--yes", "--reason", "no longer needed").code == 0
    assert backup("list", "--json").json["jobs"] == []
    assert backup("show", "backup", "--json").json["state"] == "retired"


def test_every_order_can_be_tried_first(backup: Cli):
    before = backup("history", "backup", "--json").json

    for words in (
        ["edit", "backup", "--set", "attempts=5"],
        ["pause", "backup"],
        ["run", "backup"],
        ["remove", "backup"],
        ["backfill", "backup", "2026-01-01", "2026-01-03"],
    ):
        told = backup(*words, "--dry-run", "--json")

        assert told.code in {0, 2}, told.err
        if told.code == 0:
            assert told.json["dry_run"] is True

    assert backup("history", "backup", "--json").json == before


def test_why_answers_in_a_sentence(backup: Cli):
    told = backup("why", "backup", "2099-01-01T02:30")

    assert told.code == 0, told.err
    assert told.lines[0]
    assert backup("why", "backup", "2099-01-01T02:30", "--json").json["verdict"] == "to_come"
    assert backup("why", "backup", "2099-01-01T02:31", "--json").json["verdict"] == "not_a_slot"


def test_why_of_an_unknown_job_is_3_and_of_an_unreadable_time_2(backup: Cli):
    assert backup("why", "nobody", "2099-01-01T02:30").code == 3
    assert backup("why", "backup", "yesterday").code == 2


def test_next_of_a_job_has_the_exact_form(backup: Cli):
    told = backup("next", "backup", "--after", "2026-03-28T12:00:00Z", "-n", "1", "--json")

    assert set(told.json) == {"v", "slots"}
    (slot,) = told.json["slots"]
    assert set(slot) == {"utc", "local", "note"}
    assert slot["local"] == "2026-03-29T03:00:00+02:00"


def test_next_of_a_job_says_what_a_downtime_would_do(backup: Cli):
    words = ("--down-from", "2099-01-01T00:00:00Z", "--up-at", "2099-01-04T12:00:00Z")

    told = backup("next", "backup", *words, "--json")

    assert told.code == 0, told.err
    assert len(told.json["runs"]) == 1
    assert sum(row["slots"] for row in told.json["skipped"]) + 1 == 4
    assert backup("next", "backup", *words).code == 0
    assert backup("next", "backup", "--down-from", "2099-01-01T00:00:00Z").code == 2


def test_an_order_says_what_it_did_in_one_object(backup: Cli):
    told = backup("run", "backup", "--json")

    assert told.code == 0
    assert told.json["v"] == 1
    assert told.json["key"] == "backup"
    assert told.json["run"] >= 1


def test_a_name_cannot_forge_a_line(schedcore: Cli):
    name = "fine\u202eSSERP\u2028backup  active"
    told = schedcore("add", "one", "@daily", "--set", f"description={name}", "--", "/bin/true")

    assert told.code == 0, told.err
    shown = schedcore("show", "one").out
    assert "\u202e" not in shown
    assert "\u2028" not in shown


def test_export_writes_one_object_a_line(backup: Cli, home: Path):
    told = backup("export")

    records = [json.loads(line) for line in told.lines]
    assert {"ledger", "job", "definition", "event"} <= {record["type"] for record in records}

    assert backup("export", "-o", "all.jsonl").code == 0
    assert len((home / "all.jsonl").read_text().splitlines()) == len(records)
    assert (home / "all.jsonl").stat().st_mode & 0o777 == 0o600
    assert backup("export", "-o", "all.jsonl").code == 1
