"""``config``, ``init`` and ``plugins``: what can be said without a ledger."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from tests.cli.conftest import Cli


def test_init_writes_settings_that_can_be_used(cli: Cli, home: Path):
    told = cli("init")

    assert told.code == 0
    assert "[jobs.hello]" in (home / "schedcore.toml").read_text()
    assert (home / "hello.sh").stat().st_mode & 0o111
    assert cli("config", "check").code == 0
    assert cli("db", "upgrade").code == 0
    assert cli("apply", "--check").code == 10
    assert cli("apply").code == 0
    assert cli("apply", "--check").code == 0


def test_every_commented_setting_of_the_first_file_is_one(cli: Cli, home: Path):
    cli("init")
    lines = (home / "schedcore.toml").read_text().splitlines()
    head = lines[: lines.index("[jobs.hello]")]
    loose = [line.removeprefix("# ") for line in head if "=" in line or line.startswith("# [")]

    (home / "schedcore.toml").write_text("\n".join(line for line in loose if "postgresql" not in line))

    assert len(loose) > 8
    assert cli("config", "check").code == 0, cli("config", "check").out


def test_init_never_overwrites(cli: Cli, home: Path):
    (home / "hello.sh").write_text("mine\n")

    told = cli("init")

    assert told.code == 4
    assert (home / "hello.sh").read_text() == "mine\n"
    assert not (home / "schedcore.toml").exists()


def test_init_can_be_tried_first(cli: Cli, home: Path):
    assert cli("init", "new", "--dry-run").code == 0
    assert not (home / "new").exists()


def test_config_check_names_everything_at_once_with_the_nearest_name(cli: Cli, home: Path):
    (home / "schedcore.toml").write_text('workrs = 4\nbeat = "1m 30"\n')

    told = cli("config", "check", "--json")

    assert told.code == 2
    assert {fault["field"] for fault in told.json["faults"]} == {"workrs", "beat"}
    assert "workers" in cli("config", "check").out


def test_config_check_reads_the_declared_jobs(cli: Cli, home: Path):
    (home / "schedcore.toml").write_text('[jobs.one]\nkind = "script"\ncron = "61 * * * *"\n')

    told = cli("config", "check", "--json")

    assert told.code == 1
    assert [fault["field"] for fault in told.json["faults"]] == ["jobs.one.cron"]


def test_config_check_names_a_broken_table_of_a_plugin(cli: Cli, home: Path):
    (home / "schedcore.toml").write_text("[plugins.script]\nnice = 99\n")

    told = cli("config", "check", "--json")

    assert told.code == 1
    assert told.json["faults"][0]["field"] == "plugins.script"
    assert "nice" in told.json["faults"][0]["message"]


def test_config_show_tells_value_and_origin_and_hides_secrets(cli: Cli, home: Path, monkeypatch):
    (home / "schedcore.toml").write_text('workers = 7\n[plugins.notion]\ntoken = "abcdefgh12345678"\n')
    monkeypatch.setenv("SCHEDCORE__BEAT", "20s")

    shown = cli("--ledger", "postgresql://me:hunter22@db/x", "config", "show", "--json")

    settings = shown.json["settings"]
    assert settings["workers"] == {"value": 7, "origin": "schedcore.toml"}
    assert settings["beat"]["origin"] == "SCHEDCORE__BEAT"
    assert settings["ledger"]["origin"] == "command line"
    assert "hunter22" not in shown.out
    assert "abcdefgh12345678" not in shown.out
    assert cli("config", "show", "worker").code == 3
    assert cli("config", "show", "workers").lines[1].split()[:2] == ["workers", "7"]


def test_config_path_is_that_of_the_file_that_is_read(cli: Cli, home: Path):
    assert cli("config", "path").code == 1

    (home / "schedcore.toml").write_text("")

    assert cli("config", "path").lines == [str(home / "schedcore.toml")]
    assert cli("--config", "other.toml", "config", "path", "--json").json["path"] == str(home / "other.toml")


def test_a_settings_file_that_is_not_there_is_refused(cli: Cli):
    told = cli("list", "--config", "nowhere.toml")

    assert told.code == 2
    assert "nowhere.toml" in told.err


def test_the_schema_is_one_of_json_schema(cli: Cli):
    told = cli("config", "schema")

    assert json.loads(told.out)["$schema"].startswith("https://json-schema.org/")


def test_plugins_are_listed_with_what_they_offer(cli: Cli):
    told = cli("plugins", "list", "--json")

    script = next(plugin for plugin in told.json["plugins"] if plugin["name"] == "script")
    assert script["state"] == "ok"
    assert script["kinds"] == ["script"]
    assert cli("plugins", "list").lines[0].split()[:3] == ["PLUGIN", "VERSION", "STATE"]


def test_plugins_check_is_green_and_red(cli: Cli, home: Path):
    assert cli("plugins", "check").code == 0

    (home / "schedcore.toml").write_text("[plugins.script]\nnice = 99\n")

    told = cli("plugins", "check", "--json")
    assert told.code == 1
    assert told.json["faults"][0]["plugin"] == "script"


def test_hooks_are_listed_with_who_answers(cli: Cli):
    hooks = {hook["hook"]: hook["plugins"] for hook in cli("plugins", "hooks", "--json").json["hooks"]}

    assert hooks["schedcore_executors"] == ["script"]
    assert hooks["schedcore_gates"] == []


def test_what_the_editor_gets_is_toml_whatever_is_in_it():
    from schedcore._cli.toml import dumps

    value = {
        "plain": 'a "quoted"\n\x7fline\\',
        "odd key": [1, 2.5, True, {"x": "y"}],
        "table": {"inner": {"deep": "é"}, "list": []},
        "none": None,
    }

    assert tomllib.loads(dumps(value)) == {name: part for name, part in value.items() if name != "none"}
