"""The quickstart does what it says, with its own scripts; only its waits are shorter here."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.cli.conftest import ROOT, Cli
from tests.cli.test_serve import serving
from tests.house.repository import dev_script

ONCE_MORE = dev_script().ONCE_MORE
SHORTER = (('in = "8s"', 'in = "1s"'), ('every = "15s"', 'every = "3s"'), ('every = "10s"', 'every = "2s"'))


def test_its_jobs_do_what_they_are_there_for(cli: Cli, home: Path):
    folder = home / "a folder with blanks"
    shutil.copytree(ROOT / "examples/quickstart", folder, ignore=shutil.ignore_patterns(".state"))
    text = (folder / "schedcore.toml").read_text()
    for old, new in SHORTER:
        assert old in text
        text = text.replace(old, new)
    (folder / "schedcore.toml").write_text(text)

    with serving(folder) as served:
        served.wait_for("attempt 2  ")
        served.wait_for("check exited 1")
        served.wait_for("succeeded    once")
        served.wait_for("succeeded    pulse")
        served.stop()

    def runs(key: str) -> list[dict[str, object]]:
        asked = ("--config", str(folder / "schedcore.toml"), "runs", "list", "--json", "--job", key)
        return list(cli(*asked).json["runs"])

    assert {run["reason"] for run in runs("report")} == {"assertion"}
    assert "succeeded" in {run["state"] for run in runs("flaky") if run["attempts"] == 2}
    assert [run["state"] for run in runs("once")] == ["succeeded"]

    with serving(folder) as served:
        served.wait_for("succeeded    pulse")
        served.stop()
    assert len(runs("once")) == 1

    again = ["1s" if word == "8s" else word for word in ONCE_MORE]
    assert cli("--config", str(folder / "schedcore.toml"), *again).code == 0
    with serving(folder) as served:
        served.wait_for("succeeded    once")
        served.stop()
    assert [run["state"] for run in runs("once")] == ["succeeded", "succeeded"]
    assert runs("minutely") is not None
    assert (folder / ".state/quickstart/once.txt").read_text().startswith("hello from run")
    assert json.dumps(served.err.read_text()).count('"error"') == 0


def test_every_field_of_it_is_known(cli: Cli):
    told = cli("--config", str(ROOT / "examples/quickstart/schedcore.toml"), "config", "check")

    assert told.code == 0, told.out
