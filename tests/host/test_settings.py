"""Settings: read from many places, checked whole, each value with its origin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest

from schedcore._host.folders import default_config_path, make_state_folder
from schedcore._host.setting_fields import FIELDS
from schedcore._host.setting_views import schema
from schedcore._host.settings import Group, SecretSource, Settings, examine, load, to_engine
from schedcore.domain.calendar import Calendar
from schedcore.domain.errors import Refused

HOME = {"HOME": "/home/ada"}


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "schedcore.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refused(config: Path | None = None, env: dict[str, str] | None = None, **overrides: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        load(config, {**HOME, **(env or {})}, overrides)
    return caught.value


def test_a_host_that_is_told_nothing_has_every_default():
    settings = load(None, HOME)

    assert settings.ledger == "sqlite:////home/ada/.local/state/schedcore/ledger.db"
    assert settings.state_folder == Path("/home/ada/.local/state/schedcore")
    assert (settings.timezone, settings.workers, settings.beat, settings.lease) == ("UTC", 4, 60, 60)
    assert (settings.claim_ahead, settings.batch, settings.catch_up_apart) == (500, 500, 5)
    assert (settings.late_warning, settings.drain, settings.kill_grace) == (300, 30, 10)
    assert (settings.every_floor, settings.output_max) == (60, 64 * 1024 * 1024)
    assert set(settings.origin.values()) == {"default"}


def test_reading_settings_creates_nothing(tmp_path: Path):
    load(None, {"HOME": str(tmp_path)})

    assert list(tmp_path.iterdir()) == []


def test_settings_do_not_change():
    with pytest.raises(FrozenInstanceError):
        load(None, HOME).workers = 5  # type: ignore[misc]  # it is frozen, which is the point


def test_the_command_line_goes_before_nested_and_single_variables_the_file_older_names_and_defaults(written):
    file = written("workers = 4\n")
    env = {
        **HOME,
        "SCHEDCORE__WORKERS": "2",
        "SCHEDCORE_WORKERS": "3",
        "MAX_CONCURRENT_RUNS": "5",
    }

    def seen(*without: str, config: Path | None = file, **overrides: Any) -> tuple[int, str]:
        settings = load(config, {k: v for k, v in env.items() if k not in without}, overrides)
        return settings.workers, settings.origin["workers"]

    nested, single, older = "SCHEDCORE__WORKERS", "SCHEDCORE_WORKERS", "MAX_CONCURRENT_RUNS"
    assert seen(workers=1) == (1, "command line")
    assert seen() == (2, nested)
    assert seen(nested) == (3, single)
    assert seen(nested, single) == (4, str(file))
    assert seen(nested, single, config=None) == (5, older)
    assert seen(nested, single, older, config=None) == (4, "default")


def test_an_override_of_none_is_not_given():
    assert load(None, HOME, {"workers": None}).origin["workers"] == "default"


def test_a_variable_of_one_leaf_leaves_the_rest_of_its_table(written):
    file = written('[groups]\nmail = {places = 2, rate = 10, window = "1m"}\n')

    settings = load(file, {**HOME, "SCHEDCORE__GROUPS__MAIL__PLACES": "7"})

    assert settings.groups == {"mail": Group(7, 10, 60)}
    assert settings.origin["groups.mail.places"] == "SCHEDCORE__GROUPS__MAIL__PLACES"
    assert settings.origin["groups.mail.rate"] == str(file)


@pytest.mark.parametrize(
    ("raw", "tags"), [("gpu,big", ("gpu", "big")), ('["gpu", "big"]', ("gpu", "big")), ("gpu", ("gpu",))]
)
def test_a_list_in_a_variable_is_toml_or_parted_by_commas(raw: str, tags: tuple[str, ...]):
    assert load(None, {**HOME, "SCHEDCORE_TAGS": raw}).tags == tags


def test_a_text_in_a_variable_stays_a_text_whatever_it_looks_like():
    assert load(None, {**HOME, "SCHEDCORE_NAME": "42", "SCHEDCORE_ENVIRONMENT": "true"}).name == "42"


def test_an_empty_variable_is_not_set():
    assert load(None, {**HOME, "SCHEDCORE_WORKERS": ""}).workers == 4


def test_a_variable_cannot_smuggle_in_a_second_setting():
    error = refused(env={"SCHEDCORE_WORKERS": "3\nlease = 15"})

    assert error.field == "workers"


def test_what_work_and_tests_are_given_is_no_setting():
    names = ("JOB", "RUN", "RUN_KEY", "DELIVERY_KEY", "SCHEDULED_FOR", "ATTEMPT", "TRIGGER", "REPORT")
    env = {f"SCHEDCORE_{name}": "x" for name in (*names, "QUARANTINE", "TEST_PG", "LOAD_PLUGINS", "CONFIG")}

    assert load(None, {**HOME, **env, "SCHEDCORE_SECRET_TOKEN": "x"}).warnings == ()


def test_a_misspelt_variable_is_refused_and_a_strange_one_is_warned_of():
    assert "SCHEDCORE_WORKERS" in str(refused(env={"SCHEDCORE_WORKRES": "3"}))
    assert "SCHEDCORE_ZZZ_Q" in load(None, {**HOME, "SCHEDCORE_ZZZ_Q": "1"}).warnings[0]


def test_names_of_older_programs_are_read_last():
    env = {
        "SQLITE_PATH": "/var/lib/old.db",
        "TICK_INTERVAL_SECONDS": "30",
        "MAX_CONCURRENT_RUNS": "9",
        "SCRIPT_TIMEOUT_SECONDS": "120",
        "NOTION_TOKEN": "of a plugin",
    }

    settings = load(None, {**HOME, **env})

    assert (settings.ledger, settings.beat, settings.workers) == ("sqlite:////var/lib/old.db", 30, 9)
    assert settings.kind_limits == {"script": 120}
    assert settings.origin["ledger"] == "SQLITE_PATH"


def test_an_obsolete_name_is_reported_and_changes_nothing():
    settings = load(None, {**HOME, "LOCK_TTL_SECONDS": "900"})

    assert settings.lease == 60
    assert "LOCK_TTL_SECONDS is obsolete" in settings.warnings[0]


def test_no_file_sets_what_only_older_names_may(written):
    assert refused(written("[kind_limits]\nscript = 3\n")).field == "kind_limits"


RANGES = {
    "workers": (1, 256),
    "beat": (1, 3_600),
    "lease": (15, 900),
    "claim_ahead": (0, 500),
    "batch": (1, 500),
    "catch_up_apart": (0, 300),
    "drain": (0, 3_600),
    "kill_grace": (0, 300),
    "every_floor": (1, 60),
    "late_warning": (0, 366 * 86_400),
    "output_max": (0, 1024**4),
}


@pytest.mark.parametrize("key", RANGES)
def test_both_ends_of_a_range_are_taken_and_what_is_outside_is_refused(key: str):
    low, high = RANGES[key]

    assert [getattr(load(None, HOME, {key: value}), key) for value in (low, high)] == [low, high]

    for value in (low - 1, high + 1):
        error = refused(**{key: value})
        assert (error.field, error.value) == (key, value)
        assert error.hint
        assert "command line" in error.hint


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("beat", "1m30s", 90),
        ("late_warning", "0", 0),
        ("output_max", "64MiB", 64 * 1024**2),
        ("output_max", "10 KiB", 10 * 1024),
        ("language", "EN", "en"),
        ("job_files", "jobs", ("jobs",)),
    ],
)
def test_a_value_may_be_written_as_people_write_it(key: str, value: Any, read: Any):
    assert getattr(load(None, HOME, {key: value}), key) == read


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("workers", True),
        ("workers", "4"),
        ("workers", 4.0),
        ("beat", "5M"),
        ("output_max", "64MB"),
        ("output_max", 100),
        ("timezone", "Europe/Berlim"),
        ("timezone", "+02:00"),
        ("language", "de"),
        ("tags", [1]),
        ("name", "a|b"),
        ("logging.level", "loud"),
        ("ledger", "/var/lib/ledger.db"),
        ("ledger", 3),
        ("job_files", [""]),
        ("plugins.enabled", [3]),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_its_path(key: str, value: Any):
    error = refused(**{key: value})

    assert error.field is not None
    assert error.field.startswith(key)
    assert error.exit_code == 2


def test_fault_R23_an_unknown_option_in_the_config_stops_the_start_and_is_named(written):
    error = refused(written("wrokers = 8\n"))

    assert (error.field, error.code) == ("wrokers", "unknown_field")
    assert "did you mean 'workers'?" in str(error)


@pytest.mark.parametrize(
    ("text", "field", "hint"),
    [
        ('level = "debug"\n', "level", "logging.level"),
        ("[logging]\nworkers = 3\n", "logging.workers", "at the top of the file"),
        ("timeout = 60\n", "timeout", "[policies]"),
        ("[policies]\ntime_out = 60\n", "policies.time_out", "timeout"),
        ("[logging]\nlevle = 'info'\n", "logging.levle", "level"),
        ("[groups]\nmail = {place = 2}\n", "groups.mail.place", "places"),
        ("[secrets]\nT = {envv = 'X'}\n", "secrets.T.envv", "env"),
        ("[plugins]\nenable = ['x']\n", "plugins.enable", "enabled"),
        ("plugins = 3\n", "plugins", "[plugins]"),
        ("jobs = 3\n", "jobs", "[jobs.KEY]"),
        ("[zzz]\nqqq = 1\n", "zzz", "config schema"),
    ],
)
def test_fault_R23_an_option_at_the_wrong_level_is_named_with_the_place_it_belongs(
    written, text: str, field: str, hint: str
):
    file = written(text)

    error = refused(file)

    assert error.field == field
    assert error.hint
    assert hint in error.hint
    assert str(file) in error.hint


def test_a_check_tells_all_that_is_wrong_at_once(written):
    found = examine(written("workers = 0\nlese = 1\n[logging]\nlevel = 'loud'\n"), HOME)

    assert found.settings is None
    assert sorted(str(error.field) for error in found.faults) == ["lese", "logging.level", "workers"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("workers = 3\nlease = \n", "line 2, column 9"),
        ("workers = 3\n[groups\n", "line 2, column 8"),
        ("workers = 3\nname = 'x", "line 2, column 10"),
        ("workers = 3\nworkers = 4\n", "line 2"),
    ],
)
def test_a_file_that_is_no_toml_is_refused_with_line_and_column(written, text: str, place: str):
    file = written(text)

    error = refused(file)

    assert (error.field, error.code) == (str(file), "bad_toml")
    assert place in error.message


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path):
    (tmp_path / "latin").write_bytes(b'name = "caf\xe9"\n')

    assert refused(tmp_path / "none").code == "no_config"
    assert refused(tmp_path / "latin").code == "bad_toml"
    assert refused(tmp_path).code == "no_config"


def test_a_relative_path_of_the_file_is_below_its_folder_and_one_of_a_variable_below_the_working_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "etc").mkdir()
    file = tmp_path / "etc" / "schedcore.toml"
    file.write_text('ledger = "sqlite:///here.db"\nstate_folder = "state"\n')
    monkeypatch.chdir(tmp_path)

    settings = load("etc/schedcore.toml", HOME)
    given = load(None, {**HOME, "SCHEDCORE_LEDGER": "sqlite:///here.db"})

    assert settings.ledger == f"sqlite:///{tmp_path}/etc/here.db"
    assert settings.state_folder == tmp_path / "etc" / "state"
    assert settings.folder == tmp_path / "etc"
    assert given.ledger == f"sqlite:///{tmp_path}/here.db"


def test_a_ledger_follows_the_state_folder(tmp_path: Path):
    assert (
        load(None, {**HOME, "STATE_DIRECTORY": f"{tmp_path}:/b"}).ledger == f"sqlite:///{tmp_path}/ledger.db"
    )
    assert load(None, {"XDG_STATE_HOME": "/xdg"}).state_folder == Path("/xdg/schedcore")
    assert load(None, {**HOME, "XDG_STATE_HOME": "rel"}).state_folder == Path(
        "/home/ada/.local/state/schedcore"
    )


def test_the_state_folder_is_made_for_its_owner_alone(tmp_path: Path):
    made = make_state_folder(tmp_path / "a" / "state")

    assert made.stat().st_mode & 0o777 == 0o700


def test_a_state_folder_that_cannot_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()

    with pytest.raises(Refused, match="cannot be made"):
        make_state_folder(tmp_path / "file" / "state")


def test_the_config_file_is_looked_for_in_four_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    env = {"HOME": str(tmp_path / "home")}
    assert default_config_path({**env, "SCHEDCORE_CONFIG": "/not/there"}) == Path("/not/there")
    user = tmp_path / "home" / ".config" / "schedcore" / "schedcore.toml"
    user.parent.mkdir(parents=True)
    user.touch()
    assert default_config_path(env) == user
    (tmp_path / "schedcore.toml").touch()

    assert default_config_path(env) == Path("schedcore.toml")


def test_groups_say_places_and_perhaps_a_rate(written):
    file = written('[groups]\nmail = 2\nwork = {places = 1, rate = 10, window = "1m"}\n')

    settings = load(file, HOME)

    assert settings.groups == {"mail": Group(2), "work": Group(1, 10, 60)}
    assert to_engine(settings).groups == (("mail", 2, None, None), ("work", 1, 10, 60_000_000))


@pytest.mark.parametrize(
    "text", ["mail = 0", "mail = 1001", "mail = {rate = 3}", "mail = {places = 1, rate = 3}", "'a b' = 1"]
)
def test_a_group_that_says_too_little_or_too_much_is_refused(written, text: str):
    assert str(refused(written(f"[groups]\n{text}\n")).field).startswith("groups.")


def test_calendars_say_days_and_hours_and_when_a_date_fires(written):
    file = written(
        'day_time = "08:30"\n[calendars.france]\nclosed = ["sun", 2026-07-14, "12-25"]\n'
        'quiet = "22:00-07:00"\nday_time = "10:00"\n[calendars.none]\n'
    )

    settings = load(file, HOME)

    assert settings.day_time == "08:30"
    assert settings.calendars == {
        "france": Calendar("france", ("sunday", "12-25", "2026-07-14"), ("22:00-07:00",), "10:00"),
        "none": Calendar("none"),
    }
    assert settings.shown()["calendars.france"] == {
        "value": {
            "closed": ["sunday", "12-25", "2026-07-14"],
            "quiet": ["22:00-07:00"],
            "day_time": "10:00",
        },
        "origin": str(file),
    }


@pytest.mark.parametrize(
    ("text", "field", "hint"),
    [
        ("closed = ['sunday', 'xmas']", "calendars.france.closed[1]", "a date '2026-12-25'"),
        ("closed = ['2026-02-29']", "calendars.france.closed[0]", "a date '2026-12-25'"),
        ("quiet = ['22-7']", "calendars.france.quiet[0]", "00:00 to 23:59"),
        ("quite = ['22:00-07:00']", "calendars.france.quite", "did you mean 'quiet'?"),
        ("day_time = '25:00'", "calendars.france.day_time", "such as '09:00'"),
        (
            "closed = ['sat', 'sun', 'mon', 'tue', 'wed', 'thu', 'fri']",
            "calendars.france.closed",
            "leave one day",
        ),
    ],
)
def test_a_bad_entry_of_a_calendar_is_refused_with_path_remedy_and_origin(
    written, text: str, field: str, hint: str
):
    file = written(f"[calendars.france]\n{text}\n")

    error = refused(file)

    assert error.field == field
    assert hint in str(error.hint)
    assert f"it comes from {file}" in str(error.hint)


@pytest.mark.parametrize(
    "text", ["calendars = 3", '[calendars]\nfrance = "sunday"', "[calendars.'la france']"]
)
def test_what_is_no_table_of_calendars_is_refused(written, text: str):
    assert str(refused(written(f"{text}\n")).field).startswith("calendars")


def test_policies_of_the_host_are_read_as_those_of_a_job(written):
    settings = load(written('[policies]\nattempts = 2\ntimeout = "10m"\n'), HOME)

    assert to_engine(settings).policies.to_dict() == {"attempts": 2, "timeout": 600}
    assert settings.shown()["policies.timeout"]["value"] == 600


def test_no_secret_is_granted_to_all_jobs_at_once(written):
    assert refused(written("[policies]\nsecrets = ['A']\n")).field == "policies.secrets"


def test_secrets_are_references_and_their_names_keep_their_letters(written):
    file = written('[secrets]\nA = {env = "X"}\nb = {file = "b.txt"}\n')

    settings = load(file, {**HOME, "SCHEDCORE__SECRETS__TOKEN__CREDENTIAL": "token"})

    assert settings.secrets == {
        "A": SecretSource("env", "X"),
        "b": SecretSource("file", "b.txt"),
        "TOKEN": SecretSource("credential", "token"),
    }


@pytest.mark.parametrize(
    "text", ["A = 'hunter2'", "A = {value = 'hunter2'}", "A = {env='X', file='hunter2'}"]
)
def test_a_secret_written_into_the_settings_is_refused_and_not_repeated(written, text: str):
    error = refused(written(f"[secrets]\n{text}\n"))

    assert str(error.field).startswith("secrets.A")
    assert "hunter2" not in repr(error.as_dict())


def test_what_is_shown_has_values_and_origins_and_no_secret(written):
    file = written(
        'ledger = "postgresql://ada:hun@ter/2@db/x"\n'
        "[plugins.notion]\ntoken = 'hunter2'\ntoken_env = 'NOTION'\nnested = {api_key = 'hunter2', n = 1}\n"
        "url = 'https://ada:hunter2@host/'\n[[jobs]]\nkey = 'a'\npayload = {x = 'hunter2'}\n"
    )

    shown = load(file, HOME).shown()

    assert shown["ledger"] == {"value": "postgresql://ada:[masked:password]@db/x", "origin": str(file)}
    assert shown["workers"] == {"value": 4, "origin": "default"}
    assert shown["plugins.notion.token"]["value"] == "[masked]"
    assert shown["plugins.notion.token_env"]["value"] == "NOTION"
    assert shown["plugins.notion.nested"]["value"] == {"api_key": "[masked]", "n": 1}
    assert shown["jobs"]["value"] == ["a"]
    assert "hunter2" not in repr(shown)


def test_a_bad_ledger_is_refused_without_its_password():
    assert "hunter2" not in repr(refused(ledger="postgresql//ada:hunter2@x ://u:hunter2@h").as_dict())


def test_jobs_are_handed_on_as_they_are(written):
    table = load(written("[jobs.a]\nkind = 'script'\n[jobs.b]\n"), HOME)
    array = load(written("[[jobs]]\nkey = 'a'\n"), HOME)

    assert table.jobs == {"a": {"kind": "script"}, "b": {}}
    assert array.jobs == [{"key": "a"}]


def test_tables_of_plugins_are_kept_whole_even_empty_ones(written):
    settings = load(written("[plugins.a]\n[plugins.b]\nx = {y = 1}\n[plugins]\ndisabled = ['c']\n"), HOME)

    assert settings.plugin_tables == {"a": {}, "b": {"x": {"y": 1}}}
    assert settings.plugins_disabled == ("c",)
    assert settings.plugins_enabled is None


def test_every_setting_has_an_attribute_and_a_place_in_the_schema():
    attributes = {one.name for one in fields(Settings)}
    said = schema()["properties"]

    for key, one in FIELDS.items():
        above, _, last = key.rpartition(".")
        assert one.on in attributes
        assert last in (said[above]["properties"] if above else said)
        assert one.says.endswith(".")


def test_the_schema_says_the_defaults_that_hold():
    said, settings = schema()["properties"], load(None, HOME)

    told = {key: said[key]["default"] for key in said if "default" in said[key]}

    assert told["workers"] == 4
    assert {key: getattr(settings, key) for key in told} == {
        key: tuple(value) if isinstance(value, list) else value for key, value in told.items()
    }


def test_reading_settings_imports_no_models_no_database_and_no_plugins():
    program = (
        "import sys; from schedcore._host.settings import load; load(None, {'HOME': '/'}).shown();"
        "heavy = {'pydantic', 'sqlalchemy', 'alembic', 'pluggy', 'importlib_metadata', 'rich'};"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )

    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
