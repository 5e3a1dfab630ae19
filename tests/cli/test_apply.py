"""``apply``: the jobs of files, upserted by key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

TWO = """
[jobs.one]
kind = "script"
cron = "0 9 * * *"
payload = {args = ["{{folder}}/one.sh"]}

[jobs.two]
kind = "script"
every = "2h"
payload = {args = ["/bin/true"]}
"""


@pytest.fixture
def file(home: Path) -> Path:
    """A job file with two jobs, in a folder of its own."""
    folder = home / "jobs"
    folder.mkdir()
    path = folder / "jobs.toml"
    path.write_text(TWO)
    return path


def test_three_loads_make_one_job_each(schedcore: Cli, file: Path):
    told = [schedcore("apply", str(file), "--json").json for _ in range(3)]

    assert [len(each["creates"]) for each in told] == [2, 0, 0]
    assert [each["changes"] for each in told] == [True, False, False]
    assert [each["unchanged"] for each in told] == [0, 2, 2]


def test_the_folder_of_a_file_can_be_named_in_it(schedcore: Cli, file: Path):
    schedcore("apply", str(file))

    assert schedcore("show", "one", "--json").json["payload"]["args"] == [f"{file.parent}/one.sh"]


def test_a_dry_run_says_what_the_run_then_does(schedcore: Cli, file: Path):
    tried = schedcore("apply", str(file), "--dry-run", "--json").json
    assert schedcore("list", "--json").json["jobs"] == []
    done = schedcore("apply", str(file), "--json").json

    assert tried.pop("dry_run") is True
    assert done.pop("dry_run") is False
    assert tried == done


def test_check_is_10_while_something_would_change(schedcore: Cli, file: Path):
    assert schedcore("apply", str(file), "--check").code == 10
    assert schedcore("apply", str(file)).code == 0
    assert schedcore("apply", str(file), "--check").code == 0


def test_diff_shows_each_field_that_changes(schedcore: Cli, file: Path):
    schedcore("apply", str(file))
    file.write_text(TWO.replace("0 9 * * *", "0 10 * * *"))

    told = schedcore("apply", str(file), "--diff", "--dry-run")

    assert told.lines[0] == "~ one"
    assert any("0 9 * * *" in line and "0 10 * * *" in line for line in told.lines)


def test_only_prune_retires_and_only_with_a_yes(schedcore: Cli, file: Path):
    schedcore("apply", str(file))
    file.write_text(TWO[: TWO.index("[jobs.two]")])

    kept = schedcore("apply", str(file))
    assert "no longer declared: two" in kept.err
    assert schedcore("apply", str(file), "--prune").code == 2
    assert schedcore("show", "two", "--json").json["state"] == "active"

    told = schedcore("apply", str(file), "--prune", "--yes")

    assert told.lines[0] == "- two"
    assert schedcore("show", "two", "--json").json["state"] == "retired"
    file.write_text(TWO)
    assert schedcore("apply", str(file)).lines[0] == "^ two"
    assert schedcore("show", "two", "--json").json["state"] == "active"


def test_one_bad_job_is_named_and_the_others_are_taken(schedcore: Cli, file: Path):
    file.write_text(TWO.replace("every", "evry"))

    told = schedcore("apply", str(file))

    assert told.code == 2
    assert "refused: two.evry" in told.err
    assert "every" in told.err
    assert [job["key"] for job in schedcore("list", "--json").json["jobs"]] == ["one"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[jobs.one", "is not TOML"),
        ("jobz = 1\n", "jobs"),
        ('jobs = ["one"]\n', "a job is a table"),
        ('[[jobs]]\nkind = "script"\n', "needs a key"),
    ],
)
def test_a_file_that_cannot_be_read_changes_nothing(schedcore: Cli, file: Path, text: str, said: str):
    schedcore("apply", str(file))
    file.write_text(text)

    told = schedcore("apply", str(file))

    assert told.code == 2
    assert said in told.err
    assert len(schedcore("list", "--json").json["jobs"]) == 2
    assert schedcore("apply", str(file), "--prune", "--yes").code == 2
    assert len(schedcore("list", "--json").json["jobs"]) == 2


def test_json_and_lists_are_taken_too(schedcore: Cli, home: Path):
    (home / "jobs.json").write_text(
        json.dumps([{"id": "three", "kind": "script", "cron": "@daily", "payload": {"args": ["/bin/true"]}}])
    )

    assert schedcore("apply", "jobs.json").code == 0
    assert schedcore("show", "three", "--json").json["key"] == "three"


def test_without_a_file_the_settings_and_their_job_files_are_taken(schedcore: Cli, home: Path, file: Path):
    (home / "schedcore.toml").write_text(
        'job_files = ["jobs"]\n[jobs.three]\nkind = "script"\ncron = "@daily"\npayload = {args = ["/bin/true"]}\n'
    )

    told = schedcore("apply", "--json").json

    assert sorted(job["key"] for job in told["creates"]) == ["one", "three", "two"]


def test_two_files_that_declare_one_key_are_both_named(schedcore: Cli, home: Path, file: Path):
    (file.parent / "more.toml").write_text('[jobs.one]\nkind = "script"\ncron = "@daily"\n')
    (home / "schedcore.toml").write_text('job_files = ["jobs/*.toml"]\n')

    told = schedcore("apply")

    assert told.code == 2
    assert "jobs.toml" in told.err
    assert "more.toml" in told.err
