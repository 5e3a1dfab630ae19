"""What the plugin declares."""

from __future__ import annotations

import subprocess
import sys

from schedcore.spec import API_VERSION
from schedcore_script import plugin
from schedcore_script.payload import ScriptPayload
from schedcore_script.settings import ScriptSettings


def test_it_declares_the_kind_and_its_settings():
    [executor] = plugin.schedcore_executors()
    [settings] = plugin.schedcore_settings()

    assert (executor.kind, executor.limit, executor.attempts) == ("script", 300, 3)
    assert executor.payload is ScriptPayload
    assert executor.verbatim == {"command"}
    assert executor.limit_of(ScriptPayload(args=["a"], timeout="2m")) == 120
    assert (settings.name, settings.model) == ("script", ScriptSettings)
    assert plugin.api_version == API_VERSION


def test_declaring_begins_nothing():
    text = (
        "import os; from schedcore_script import plugin; plugin.schedcore_executors(); "
        "print(plugin._executor._starter, len(os.listdir('/proc/self/task')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, env=_env()
    )

    assert done.stdout == "None 1\n"


def test_the_spawner_imports_little():
    heavy = ("pydantic", "schedcore", "json", "asyncio", "subprocess", "threading", "logging", "pathlib")
    text = (
        "import sys; sys.path[:0] = sys.argv[2:]; import schedcore_script.spawner; "
        "print([m for m in sys.argv[1].split() if m in sys.modules])"
    )
    paths = [entry for entry in sys.path if entry.endswith("src")]
    command = [sys.executable, "-I", "-S", "-c", text, " ".join(heavy), *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def _env() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(entry for entry in sys.path if entry)}
