"""How far long work has come: on a terminal, on stderr, and only when it takes its time."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import STARTER, Cli
from tests.cli.test_terminal import on_terminal

from schedcore._cli.front import Front
from schedcore._cli.progress import AFTER_S, bar

AT_ONCE = f"from schedcore._cli import progress; progress.AFTER_S = 0; {STARTER}"


class Screen(io.StringIO):
    """A terminal that remembers what it showed."""

    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """A terminal in stderr's place, from the middle of the test on: before it, pytest puts in its own."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


class Watch:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_work_that_is_over_soon_shows_no_bar(monkeypatch: pytest.MonkeyPatch):
    screen, watch = watched(monkeypatch), Watch()

    with bar(Front(), clock=watch) as progress:
        progress("reading", 0, 10)
        watch.now = AFTER_S - 0.01
        progress("reading", 10, 10)

    assert screen.getvalue() == ""


def test_work_that_takes_longer_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch):
    screen, watch = watched(monkeypatch), Watch()

    with bar(Front(), clock=watch) as progress:
        watch.now = AFTER_S
        progress("reading", 3, 10)
        progress("reading", 7, 10)

    assert "reading" in screen.getvalue()
    assert "30%" in screen.getvalue()


def test_each_stage_has_a_bar_of_its_own(monkeypatch: pytest.MonkeyPatch):
    screen, watch = watched(monkeypatch), Watch()

    with bar(Front(), clock=watch) as progress:
        watch.now = AFTER_S
        for stage in ("reading", "writing"):
            progress(stage, 5, 5)

    lines = screen.getvalue().splitlines()
    assert [line for line in lines if "reading" in line and "100%" in line]
    assert [line for line in lines if "writing" in line and "100%" in line]


@pytest.mark.parametrize("front", [Front(json=True), Front(quiet=True)], ids=["json", "quiet"])
def test_who_wants_no_words_is_shown_none(monkeypatch: pytest.MonkeyPatch, front: Front):
    watched(monkeypatch)

    with bar(front) as progress:
        assert progress is None


def test_no_bar_stands_among_the_lines_of_an_answer(monkeypatch: pytest.MonkeyPatch):
    watched(monkeypatch)
    monkeypatch.setattr(sys, "stdout", Screen())

    with bar(Front(), beside=False) as progress:
        assert progress is None


def test_a_file_that_is_no_terminal_gets_no_bar(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    with bar(Front()) as progress:
        assert progress is None


JOBS = "".join(
    f'[jobs.job-{n}]\nkind = "script"\ncron = "0 9 * * *"\npayload.args = ["true"]\n' for n in range(3)
)


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        (["db", "upgrade"], ["migrating"]),
        (["apply", "jobs.toml"], ["reading", "writing"]),
        (["backfill", "job-0", "2020-01-01T00:00Z", "2020-01-05T00:00Z", "--yes"], ["looking"]),
        (["export", "--dry-run"], ["jobs", "events"]),
        (["fsck"], ["reading"]),
    ],
    ids=lambda words: words[0],
)
def test_every_long_command_shows_its_stages(home: Path, cli: Cli, words: list[str], stages: list[str]):
    file = home / "jobs.toml"
    file.write_text(JOBS)
    words = [str(file) if word == "jobs.toml" else word for word in words]
    if words[0] != "db":
        assert cli("db", "upgrade").code == 0
    if words[0] not in {"db", "apply"}:
        assert cli("apply", str(file)).code == 0
        assert cli("run", "job-0").code == 0

    code, shown = on_terminal(*words, starter=AT_ONCE)

    assert code == 0, shown
    assert [stage for stage in stages if f"{stage}  [" not in shown] == []
