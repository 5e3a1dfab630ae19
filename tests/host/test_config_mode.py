"""Who else may read or change the settings: what ``doctor`` says of modes."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedcore._host.config_mode import config_findings
from schedcore._host.settings import Settings, load


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "etc"
    folder.mkdir(mode=0o755)
    path = folder / "schedcore.toml"
    path.write_text("workers = 4\n")
    path.chmod(0o644)
    return path


def told(config: Path, state: Path | None = None) -> Settings:
    return load(config, {"HOME": str(config.parent)}, {"state_folder": str(state) if state else None})


def test_a_file_that_others_may_read_is_nothing_to_tell_while_no_secret_is_in_it(config: Path):
    assert config_findings(told(config)) == []


@pytest.mark.parametrize("text", ['ledger = "postgresql://a:b@h/d"', "[plugins.x]\ntoken = 'abc'"])
def test_a_secret_in_a_file_that_others_may_read_is_bad(config: Path, text: str):
    config.write_text(text)

    (finding,) = config_findings(told(config))
    config.chmod(0o600)

    assert (finding.level, "chmod 600" in str(finding.remedy)) == ("bad", True)
    assert config_findings(told(config)) == []


@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_a_file_that_others_may_write_is_bad(config: Path, mode: int):
    config.chmod(mode)

    (finding,) = config_findings(told(config))

    assert "may write" in finding.what


def test_a_folder_in_which_others_may_replace_the_file_is_bad(config: Path):
    config.parent.chmod(0o777)

    (finding,) = config_findings(told(config))

    assert "may replace" in finding.what


def test_a_state_folder_that_is_open_to_others_is_told(config: Path, tmp_path: Path):
    state = tmp_path / "state"
    state.mkdir()
    levels = []
    for mode in (0o700, 0o755, 0o770):
        state.chmod(mode)
        levels.append([finding.level for finding in config_findings(told(config, state))])

    assert levels == [[], ["note"], ["bad"]]
