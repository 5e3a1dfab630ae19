"""Plugins: found, met one by one, and joined into a toolbox; one bad plugin never stops the start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from schedcore._host.kinds import stamp
from schedcore._host.plugins import PluginReport, Plugins, commands, gather, kinds_rows, versions
from schedcore._host.settings import Settings, load
from schedcore._ledger.migrate import HEAD
from schedcore.domain.errors import PluginFault
from schedcore.spec import (
    Calendar,
    Check,
    Executor,
    Gate,
    Listener,
    Secrets,
    Service,
    SettingsModel,
    TriggerKind,
    hookimpl,
    ok,
)

NONE = {"SCHEDCORE_LOAD_PLUGINS": ""}
OUTSIDE = "greeting,broken-import,raising-hook,misspelt"


def settings(**overrides: Any) -> Settings:
    return load(None, {"HOME": "/home/ada"}, overrides)


def executor(kind: str = "greet", **more: Any) -> Executor:
    return Executor(**{"kind": kind, "payload": {"type": "object"}, "execute": lambda ctx: ok(), **more})


def plugin(**hooks: Any) -> SimpleNamespace:
    """A plugin that answers each hook, named without prefix, with what is given."""
    made = SimpleNamespace(api_version=1)
    for name, answer in hooks.items():
        setattr(made, f"schedcore_{name}", hookimpl(answer if callable(answer) else _saying(answer)))
    return made


def _saying(answer: Any) -> Callable[[], Any]:
    return lambda: answer


def met(one: Any, **overrides: Any) -> PluginReport:
    """The report on one plugin that was passed by hand."""
    return named(gather(settings(**overrides), [("one", one)], NONE), "one")


def named(plugins: Plugins, name: str) -> PluginReport:
    (report,) = (one for one in plugins.report if one.name == name)
    return report


@pytest.fixture
def at_path(outside: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The third parties' plugins, importable here, and forgotten afterwards."""
    monkeypatch.syspath_prepend(str(outside))
    yield outside
    for name in [name for name in sys.modules if name.startswith("outside_")]:
        del sys.modules[name]


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a distribution with one entry point on the path, as an installer would."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def publish(distribution: str, points: str, **modules: str) -> None:
        info = tmp_path / f"{distribution.replace(chr(45), chr(95))}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[schedcore]\n{points}\n")
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))

    return publish


# --- as third parties install them


def test_four_third_party_plugins_one_works_and_three_are_named(at_path: Path):
    plugins = gather(settings(), env={"SCHEDCORE_LOAD_PLUGINS": OUTSIDE})

    states = {one.name: one.state for one in plugins.report if one.name in OUTSIDE.split(",")}
    assert states == {
        "greeting": "ok",
        "broken-import": "failed",
        "raising-hook": "failed",
        "misspelt": "failed",
    }
    assert "No module named 'a_module_that_is_nowhere'" in str(named(plugins, "broken-import").error)
    assert "schedcore_gates raised RuntimeError: no gates today" in str(named(plugins, "raising-hook").error)
    assert "schedcore_executers" in str(named(plugins, "misspelt").error)
    assert set(plugins.toolbox.executors) == {"greeting"}


def test_a_plugin_that_works_is_reported_with_where_it_is_from(at_path: Path):
    report = named(gather(settings(), env={"SCHEDCORE_LOAD_PLUGINS": "greeting"}), "greeting")

    assert (report.distribution, report.version) == ("outside-greeting", "1.2.3")
    assert set(report.hooks) == {
        f"schedcore_{n}" for n in ("settings", "executors", "gates", "services", "checks")
    }
    assert report.kinds == ("greeting",)
    assert report.load_ms is not None
    assert report.load_ms > 0


def test_a_plugin_that_raises_in_one_hook_is_left_out_whole(at_path: Path):
    plugins = gather(settings(), env={"SCHEDCORE_LOAD_PLUGINS": "raising-hook"})

    assert "raising" not in plugins.toolbox.executors


def test_a_table_of_settings_reaches_its_plugin(at_path: Path):
    told = settings(**{"plugins.greeting.leave_alone": ["Bob"]})

    plugins = gather(told, env={"SCHEDCORE_LOAD_PLUGINS": "greeting"})

    ((_, gate),) = plugins.toolbox.gates_of("greeting")
    assert gate.ask({"payload": {"name": "Bob"}}) is not None
    assert gate.ask({"payload": {"name": "Ada"}}) is None


def test_R14_a_table_that_does_not_fit_turns_its_plugin_off_and_the_others_run(at_path: Path):
    told = settings(**{"plugins.greeting.tone": "loud", "plugins.greeting.token": "hunter2"})

    plugins = gather(
        told, [("other", plugin(executors=[executor()]))], {"SCHEDCORE_LOAD_PLUGINS": "greeting"}
    )

    report = named(plugins, "greeting")
    assert report.state == "failed"
    assert "plugins.greeting.tone" in str(report.error)
    assert "'loud'" in str(report.error)
    assert "command line" in str(report.error)
    assert set(plugins.toolbox.executors) == {"greet"}


def test_an_unknown_key_of_a_plugins_table_is_named_with_the_nearest(at_path: Path):
    told = settings(**{"plugins.greeting.tome": "warm"})

    error = str(named(gather(told, env={"SCHEDCORE_LOAD_PLUGINS": "greeting"}), "greeting").error)

    assert "plugins.greeting.tome" in error
    assert "did you mean 'tone'?" in error


def test_a_secret_in_a_table_that_does_not_fit_is_not_repeated(at_path: Path):
    told = settings(**{"plugins.greeting.token": {"inner": "hunter2"}})

    assert "hunter2" not in str(named(gather(told, env={"SCHEDCORE_LOAD_PLUGINS": "greeting"}), "greeting"))


def run(program: str, outside: Path, **env: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(outside), *filter(None, sys.path)])
    full = {**os.environ, "PYTHONPATH": path, **env}
    return subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, env=full
    )


def test_a_disabled_plugin_is_never_imported(outside: Path):
    program = (
        "import sys; from schedcore._host.settings import load; from schedcore._host.plugins import gather;"
        "p = gather(load(None, {'HOME': '/'}, {'plugins.disabled': ['greeting']}));"
        "assert [r.state for r in p.report if r.name == 'greeting'] == ['disabled'], p.report;"
        "assert not any(m.startswith('outside_greeting') for m in sys.modules)"
    )

    done = run(program, outside)

    assert done.returncode == 0, done.stderr


def test_commands_of_plugins_are_listed_and_nothing_of_them_is_imported(outside: Path):
    program = (
        "import sys; from schedcore._host.plugins import commands; print(*commands());"
        "assert not any(m.startswith('outside_') for m in sys.modules)"
    )

    done = run(program, outside)

    assert "greet" in done.stdout.split(), done.stderr


def test_the_names_of_commands_need_no_models_and_no_database(outside: Path):
    program = (
        "import sys; from schedcore._host.plugin_finding import commands; print(*commands());"
        "heavy = {'pydantic', 'sqlalchemy', 'alembic'} & set(sys.modules); assert not heavy, heavy"
    )

    done = run(program, outside)

    assert done.returncode == 0, done.stderr


def test_reading_plugins_imports_no_database(outside: Path):
    program = (
        "import sys; from schedcore._host.settings import load; from schedcore._host.plugins import gather;"
        "gather(load(None, {'HOME': '/'})); heavy = {'sqlalchemy', 'alembic', 'click'} & set(sys.modules);"
        "assert not heavy, heavy"
    )

    done = run(program, outside, SCHEDCORE_LOAD_PLUGINS=OUTSIDE)

    assert done.returncode == 0, done.stderr


# --- which are wanted


@pytest.mark.parametrize(
    ("overrides", "env", "wanted"),
    [
        ({}, {"SCHEDCORE_LOAD_PLUGINS": ""}, set()),
        ({}, {"SCHEDCORE_LOAD_PLUGINS": " greeting , "}, {"greeting"}),
        ({"plugins.enabled": ["greeting"]}, {}, {"greeting"}),
        ({"plugins.enabled": []}, {}, set()),
        ({"plugins.enabled": []}, {"SCHEDCORE_LOAD_PLUGINS": "greeting"}, {"greeting"}),
        ({"plugins.disabled": ["greeting"]}, {"SCHEDCORE_LOAD_PLUGINS": "greeting"}, set()),
        ({"plugins.greeting.enabled": False}, {"SCHEDCORE_LOAD_PLUGINS": "greeting"}, set()),
        ({"plugins.greeting.enabled": True}, {"SCHEDCORE_LOAD_PLUGINS": "greeting"}, {"greeting"}),
    ],
)
def test_lists_and_a_variable_say_which_plugins_are_loaded(
    at_path: Path, overrides: dict[str, Any], env: dict[str, str], wanted: set[str]
):
    plugins = gather(settings(**overrides), env=env)

    assert {one.name for one in plugins.report if one.state == "ok"} - {"settings"} == wanted


def test_a_plugin_passed_by_hand_is_loaded_whatever_is_installed():
    assert met(plugin(executors=[executor()]), **{"plugins.enabled": []}).state == "ok"
    assert met(plugin(executors=[executor()]), **{"plugins.disabled": ["one"]}).state == "disabled"


def test_a_list_that_names_what_is_not_installed_is_warned_of(at_path: Path):
    plugins = gather(
        settings(**{"plugins.disabled": ["greetings"]}), env={"SCHEDCORE_LOAD_PLUGINS": "nobody"}
    )

    assert any("'nobody'" in one and "SCHEDCORE_LOAD_PLUGINS" in one for one in plugins.warnings)
    assert any("'greetings'" in one and "did you mean 'greeting'?" in one for one in plugins.warnings)


def test_a_table_of_no_plugin_is_warned_of_with_the_nearest_name(at_path: Path):
    plugins = gather(settings(**{"plugins.greting.tone": "warm"}), env={"SCHEDCORE_LOAD_PLUGINS": "greeting"})

    assert any("[plugins.greting]" in one and "'greeting'" in one for one in plugins.warnings)


def test_a_module_passed_by_hand_keeps_the_name_it_is_installed_under(at_path: Path):
    import outside_greeting.plugin as module

    plugins = gather(settings(), [module], {"SCHEDCORE_LOAD_PLUGINS": "greeting"})

    states = [(one.state, one.distribution) for one in plugins.report if one.name == "greeting"]
    assert states == [("ok", "outside-greeting"), ("disabled", "outside-greeting")]


def test_two_distributions_of_one_name_are_both_left_out_and_both_named(publish: Callable[..., None]):
    for name in ("one", "two"):
        publish(f"dist-{name}", f"twice = plugin_{name}", **{f"plugin_{name}": "api_version = 1"})

    plugins = gather(settings(), env={"SCHEDCORE_LOAD_PLUGINS": "twice"})

    faults = plugins.faults()
    assert len(faults) == 2
    assert "dist-two" in str(faults[0].error)
    assert "dist-one" in str(faults[1].error)


def test_two_plugins_by_hand_of_one_name_are_both_left_out():
    plugins = gather(settings(), [("a", plugin()), ("a", plugin())], NONE)

    assert [one.name for one in plugins.faults()] == ["a", "a"]


def test_metadata_that_cannot_be_read_hide_nobody_else(publish: Callable[..., None]):
    publish("dist-bad", "this is no entry point")
    publish("dist-good", "good = plugin_good", plugin_good="api_version = 1")

    plugins = gather(settings(), env={"SCHEDCORE_LOAD_PLUGINS": "good"})

    assert named(plugins, "good").state == "ok"
    assert any("dist-bad" in one for one in plugins.warnings)


def test_threat_T35_an_installed_plugin_cannot_take_the_name_of_the_cores_own(publish: Callable[..., None]):
    publish("dist-thief", "settings = plugin_thief", plugin_thief="raise SystemExit")

    plugins = gather(settings(), env={"SCHEDCORE_LOAD_PLUGINS": "settings"})

    assert [(one.distribution, one.state) for one in plugins.report if one.name == "settings"] == [
        ("schedcore-host", "ok"),
        ("dist-thief", "failed"),
    ]


# --- what is wrong with one stays with one (T35)


@pytest.mark.parametrize(
    "raised", ["SystemExit(3)", "BaseException('no')", "GeneratorExit", "RuntimeError('x')"]
)
def test_threat_T35_whatever_a_plugin_raises_at_import_the_start_survives(
    publish: Callable[..., None], raised: str
):
    publish("dist-hostile", "hostile = plugin_hostile", plugin_hostile=f"raise {raised}")

    plugins = gather(
        settings(), [("good", plugin(executors=[executor()]))], {"SCHEDCORE_LOAD_PLUGINS": "hostile"}
    )

    assert named(plugins, "hostile").state == "failed"
    assert "plugin_hostile.py, line 1" in str(named(plugins, "hostile").error)
    assert set(plugins.toolbox.executors) == {"greet"}


def test_an_interrupt_by_the_user_is_not_contained(publish: Callable[..., None]):
    publish("dist-slow", "slow = plugin_slow", plugin_slow="raise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        gather(settings(), env={"SCHEDCORE_LOAD_PLUGINS": "slow"})


def test_threat_T35_a_plugin_cannot_wrap_the_hooks_of_others():
    class Wrapping:
        api_version = 1

        @hookimpl(wrapper=True)
        def schedcore_executors(self):
            yield
            return []

    plugins = gather(settings(), [("bad", Wrapping()), ("good", plugin(executors=[executor()]))], NONE)

    assert "wrapper" in str(named(plugins, "bad").error)
    assert set(plugins.toolbox.executors) == {"greet"}


def test_threat_T35_a_plugin_cannot_take_the_table_of_another():
    class Table(BaseModel):
        token: str = ""

    seen: list[Any] = []
    first = plugin(settings=[SettingsModel("mine", Table)])
    thief = plugin(settings=[SettingsModel("mine", Table, seen.append)])

    plugins = gather(settings(**{"plugins.mine.token": "x"}), [("first", first), ("thief", thief)], NONE)

    assert "[plugins.mine] is that of plugin 'first'" in str(named(plugins, "thief").error)
    assert seen == []


def test_the_toolbox_does_not_change():
    toolbox = gather(settings(), [("a", plugin(executors=[executor()]))], NONE).toolbox

    with pytest.raises(TypeError):
        toolbox.executors["other"] = toolbox.executors["greet"]  # type: ignore[index]  # it is frozen, which is the point


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (None, "returned nothing"),
        (executor(), "returned a Executor"),
        ("script", "returned a str"),
        ({"a": executor()}, "returned a dict"),
        ([executor(), "script"], "a str in it"),
        ([Gate("g", lambda run: None)], "a Gate in it"),
        ([executor(), executor()], "'greet' twice"),
        ([executor("a|b")], "'a|b' is not a name"),
        ([executor(limit=0)], "limit is 0"),
        ([executor(limit=90_000)], "limit is 90000"),
        ([executor(attempts=11)], "attempts is 11"),
        ([executor(attempts=True)], "attempts is True"),
        ([executor(execute=None)], "execute is nothing"),
        ([executor(version=3)], "version is 3"),
        ([executor(payload=dict)], "no JSON Schema"),
        ([executor(payload={"a": object()})], "no JSON Schema"),
    ],
)
def test_what_a_hook_returns_is_looked_at_and_named(says: Any, why: str):
    report = met(plugin(executors=says))

    assert report.state == "failed"
    assert "schedcore_executors" in str(report.error)
    assert why in str(report.error)


def test_a_hook_that_is_async_is_refused():
    async def executors() -> list[Executor]:
        return []

    assert "schedcore_executors is async" in str(met(plugin(executors=executors)).error)


def test_a_hook_that_is_a_generator_is_refused():
    def executors():
        yield executor()

    assert "returned a generator" in str(met(plugin(executors=executors)).error)


def test_an_executor_that_is_async_is_refused():
    async def execute(ctx: Any) -> Any: ...

    assert "execute is async" in str(met(plugin(executors=[executor(execute=execute)])).error)


def test_a_misspelt_hook_turns_its_plugin_off_and_proposes_the_name():
    report = met(plugin(executers=[executor()]))

    assert "schedcore_executers" in str(report.error)
    assert "schedcore_executors" in str(report.error)


def test_a_hook_without_its_mark_is_not_passed_over_in_silence():
    class Forgetful:
        api_version = 1

        def schedcore_executors(self) -> list[Executor]:
            return [executor()]

    assert "write @hookimpl above it" in str(met(Forgetful()).error)


def test_a_hook_that_asks_for_what_is_not_given_is_refused():
    assert "schedcore_executors" in str(met(plugin(executors=lambda host: [])).error)


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (Check("rows"), "it neither looks nor judges"),
        (Check("rows", judge="yes"), "judge is a str, not a function"),  # type: ignore[arg-type]  # wrong on purpose
        (Check("rows", look=list, options=BaseModel), "options are for a check that judges"),
        (Check("rows", judge=print, options=dict), "its options have no JSON Schema"),  # type: ignore[arg-type]  # wrong on purpose
        (Check("a row", judge=print), "'a row' is not a name"),
    ],
)
def test_a_check_that_cannot_be_asked_is_named(check: Check, why: str):
    report = met(plugin(checks=[check]))

    assert report.state == "failed"
    assert why in str(report.error)


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ("", "does not say for which api_version"),
        ("api_version = 2", "written for api_version 2"),
        ("api_version = '0.9'", "written for api_version '0.9'"),
        ("api_version = 1; requires_core = '>=9.0'", "requires a core >=9.0"),
        ("api_version = 1; requires_core = '>=0.1,<0.1'", "requires a core"),
        ("api_version = 1; requires_core = 'newest'", "cannot be read"),
    ],
)
def test_a_plugin_written_for_another_core_is_left_out(
    publish: Callable[..., None], attributes: str, why: str
):
    publish("dist-old", "old = plugin_old", plugin_old=attributes)

    try:
        report = named(gather(settings(), env={"SCHEDCORE_LOAD_PLUGINS": "old"}), "old")
    finally:
        sys.modules.pop("plugin_old", None)

    assert report.state == "failed"
    assert why in str(report.error)


@pytest.mark.parametrize("wanted", [">=0.1", ">=0.1,<0.2", "!=0.3", "==0.1.0", ">0.0.9", "<=0.1.0.0"])
def test_a_plugin_that_this_core_suits_is_taken(wanted: str):
    one = plugin(executors=[executor()])
    one.requires_core = wanted

    assert met(one).state == "ok"


def test_a_class_is_no_plugin():
    class Plugin:
        api_version = 1

    assert "lead it to a module, or to an object of that class" in str(met(Plugin).error)


def test_a_secret_in_what_a_plugin_raises_is_masked():
    def executors() -> list[Executor]:
        raise RuntimeError("cannot reach postgresql://ada:hunter2@db/x")

    assert "hunter2" not in str(met(plugin(executors=executors)).error)


def test_a_plugin_that_declares_nothing_is_warned_of():
    plugins = gather(settings(), [("idle", plugin())], NONE)

    assert any("'idle' declares nothing" in one for one in plugins.warnings)


# --- two of one name


def test_E01_two_plugins_that_claim_one_kind_stop_the_start_and_are_both_named():
    both = [("first", plugin(executors=[executor()])), ("second", plugin(executors=[executor()]))]

    with pytest.raises(PluginFault) as caught:
        gather(settings(), both, NONE)

    assert "'first'" in str(caught.value)
    assert "'second'" in str(caught.value)
    assert caught.value.field == "greet"


def test_E01_of_two_that_claim_one_kind_a_disabled_one_is_no_hindrance():
    both = [("first", plugin(executors=[executor()])), ("second", plugin(executors=[executor()]))]

    plugins = gather(settings(**{"plugins.disabled": ["second"]}), both, NONE)

    assert plugins.toolbox.executors["greet"][0] == "first"


def test_two_plugins_that_claim_one_kind_of_trigger_stop_the_start():
    kind = TriggerKind("tide", lambda text, zone: None)

    with pytest.raises(PluginFault, match="tide"):
        gather(settings(), [("a", plugin(triggers=[kind])), ("b", plugin(triggers=[kind]))], NONE)


@pytest.mark.parametrize("kind", ["cron", "every", "interval", "at"])
def test_a_kind_of_trigger_of_the_cores_own_cannot_be_taken(kind: str):
    assert "the core's own" in str(met(plugin(triggers=[TriggerKind(kind, lambda t, z: None)])).error)


@pytest.mark.parametrize(
    ("hook", "one"),
    [
        ("listeners", Listener("same", frozenset({"run.final"}), lambda event: None)),
        ("services", Service("same", object)),
        ("calendars", Calendar("same", ("sunday",))),
    ],
)
def test_a_listener_service_or_calendar_that_another_plugin_has_leaves_the_later_one_out(hook: str, one: Any):
    plugins = gather(
        settings(),
        [("b", plugin(executors=[executor()], **{hook: [one]})), ("a", plugin(**{hook: [one]}))],
        NONE,
    )

    assert [report.name for report in plugins.faults()] == ["b"]
    assert "is that of plugin 'a'" in str(named(plugins, "b").error)
    assert dict(plugins.toolbox.executors) == {}


def test_a_calendar_of_the_settings_goes_before_one_of_a_plugin():
    theirs = plugin(executors=[executor()], calendars=[Calendar("office", ("monday",))])

    plugins = gather(settings(**{"calendars.office.closed": ["sunday"]}), [("one", theirs)], NONE)

    assert plugins.toolbox.calendars == {"office": Calendar("office", ("sunday",))}
    assert "its calendar 'office' is that of plugin 'settings'" in str(named(plugins, "one").error)
    assert dict(plugins.toolbox.executors) == {}


def test_calendars_of_settings_and_plugins_are_known_side_by_side():
    theirs = plugin(calendars=[Calendar("france", ("07-14",), ("12:00-14:00",), day_time="10:00")])

    known = gather(
        settings(**{"calendars.office.closed": ["sunday"]}), [("one", theirs)], NONE
    ).toolbox.calendars

    assert sorted(known) == ["france", "office"]
    assert known["france"].to_dict() == {
        "name": "france",
        "closed": ["07-14"],
        "quiet": ["12:00-14:00"],
        "day_time": "10:00",
    }


def test_a_plugin_whose_calendar_cannot_be_read_is_named_and_left_out():
    one = met(plugin(executors=[executor()], calendars=lambda: [Calendar("france", ("14 juillet",))]))

    assert one.state == "failed"
    assert "'14 juillet': not a day" in str(one.error)


def test_the_engine_reads_the_triggers_of_plugins_as_the_door_does():
    one = plugin(triggers=[TriggerKind("tide", lambda text, zone: "rule")])

    plugins = gather(settings(), [("one", one)], NONE)

    assert plugins.toolbox.triggers["tide"] is plugins.trigger_kinds["tide"]


# --- what comes out


def test_every_declaration_carries_the_name_of_its_plugin():
    one = plugin(
        executors=[executor()],
        gates=[Gate("g", lambda run: None)],
        listeners=[Listener("l", frozenset({"run.final"}), lambda event: None)],
        triggers=[TriggerKind("tide", lambda text, zone: "rule")],
        services=[Service("s", lambda: "service")],
    )

    plugins = gather(settings(), [("one", one)], NONE)

    toolbox = plugins.toolbox
    assert toolbox.executors["greet"][0] == toolbox.gates[0][0] == toolbox.listeners[0][0] == "one"
    assert toolbox.services["s"]() == "service"
    assert plugins.trigger_kinds["tide"]("", "UTC") == "rule"


def test_resolvers_are_asked_in_the_order_of_names_after_the_settings(monkeypatch: pytest.MonkeyPatch):
    def of(name: str) -> SimpleNamespace:
        return plugin(secrets=[Secrets(name, lambda secret: name)])

    plugins = gather(settings(), [("b", of("b")), ("a", of("a"))], {**NONE, "SCHEDCORE_SECRET_MINE": "own"})

    assert [name for name, _ in plugins.toolbox.secrets] == ["settings", "a", "b"]
    assert plugins.toolbox.secret("MINE") == "own"
    assert plugins.toolbox.secret("OTHER") == "a"


def test_an_older_name_sets_the_time_limit_of_scripts_and_of_nothing_else():
    told = load(None, {"HOME": "/", "SCRIPT_TIMEOUT_SECONDS": "77"})
    one = plugin(executors=[executor("script"), executor("agent")])

    executors = gather(told, [("one", one)], NONE).toolbox.executors

    assert (executors["script"][1].limit, executors["agent"][1].limit) == (77, 300)


def test_kinds_are_announced_with_all_that_another_process_needs():
    class Model(BaseModel):
        model_config = ConfigDict(extra="forbid")
        name: str

    one = plugin(executors=[executor("b"), executor("a", payload=Model, version="7", retry_lost=False)])

    rows = kinds_rows(gather(settings(), [("one", one)], NONE).toolbox)

    assert [row["kind"] for row in rows] == ["a", "b"]
    assert {k: v for k, v in rows[0].items() if k != "schema"} == {
        "kind": "a",
        "version": "7",
        "limit_s": 300,
        "attempts": 1,
        "retry_lost": 0,
    }
    assert json.loads(rows[0]["schema"])["required"] == ["name"]


def test_T22_a_host_tells_the_versions_of_all_it_is_made_of(at_path: Path):
    plugins = gather(settings(), env={"SCHEDCORE_LOAD_PLUGINS": OUTSIDE})

    told = versions(plugins.report)

    assert told["schema"] == HEAD
    assert told["plugins"] == {"settings": told["code"], "greeting": "1.2.3"}
    assert set(told) == {"code", "schema", "tz", "python", "plugins", "stamp"}
    assert json.loads(json.dumps(told)) == told


def test_T22_the_stamp_moves_with_an_installed_source_and_not_with_what_python_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    package = tmp_path / "package"
    (package / "deep" / "__pycache__").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "deep" / "code.py").touch()
    os.utime(package / "__init__.py", (1_000, 1_000))
    os.utime(package / "deep" / "code.py", (2_000, 2_000))
    (package / "deep" / "__pycache__" / "code.py").touch()
    monkeypatch.setitem(sys.modules, "package", SimpleNamespace(__file__=str(package / "__init__.py")))
    before = stamp(["package"])
    os.utime(package / "deep" / "code.py", (3_000, 3_000))

    assert (before, stamp(["package"])) == (2_000_000_000, 3_000_000_000)


def test_the_names_of_commands_are_those_of_entry_points(at_path: Path):
    assert "greet" in commands()
