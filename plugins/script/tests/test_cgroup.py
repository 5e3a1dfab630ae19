"""A control group of each run: folders of files stand in for the kernel's, which few machines let us write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedcore_script import cgroup
from schedcore_script.cgroup import Group, find
from schedcore_script.settings import ScriptSettings

MEMORY = 64 * 1024 * 1024


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """What the kernel says of the group this process is in: a subgroup of a delegated one."""
    path = tmp_path / "own"
    path.write_text("0::/service/main\n")
    return path


def folder(path: Path, controllers: str, switched_on: str = "") -> Path:
    path.mkdir(parents=True)
    (path / "cgroup.controllers").write_text(controllers)
    (path / "cgroup.subtree_control").write_text(switched_on)
    (path / "cgroup.procs").write_text("")
    return path


def test_runs_get_their_groups_beside_the_hosts_own(tmp_path: Path, own: Path):
    above = folder(tmp_path / "fs/service", "cpu memory pids", "memory pids")
    folder(tmp_path / "fs/service/main", "")

    assert find(str(tmp_path / "fs"), str(own)) == str(above)


def test_what_is_not_switched_on_is_switched_on_by_a_host_and_not_by_a_look(tmp_path: Path, own: Path):
    above = folder(tmp_path / "fs/service", "memory pids")
    folder(tmp_path / "fs/service/main", "")

    assert find(str(tmp_path / "fs"), str(own), switch_on=False) is None
    assert (above / "cgroup.subtree_control").read_text() == ""
    assert find(str(tmp_path / "fs"), str(own)) == str(above)
    assert (above / "cgroup.subtree_control").read_text() == "+memory +pids"


@pytest.mark.parametrize(
    "said",
    ["", "4:memory:/service/main\n", "0::/../outside\n", "0::/nowhere/main\n"],
    ids=["nothing", "version 1", "outside of our view", "a folder that is not there"],
)
def test_without_a_group_that_we_may_change_there_is_none(tmp_path: Path, own: Path, said: str):
    folder(tmp_path / "fs/service", "memory pids", "memory pids")
    own.write_text(said)

    assert find(str(tmp_path / "fs"), str(own)) is None


def test_a_group_without_both_controllers_is_none(tmp_path: Path, own: Path):
    folder(tmp_path / "fs/service", "cpu pids", "pids")

    assert find(str(tmp_path / "fs"), str(own)) is None


@pytest.fixture
def groups(bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs of the bench get their groups here."""
    base = folder(tmp_path / "groups", "memory pids", "memory pids")
    monkeypatch.setattr(cgroup, "find", lambda **how: str(base))
    bench.executor.accept(ScriptSettings(kill_grace=0.3, memory_limit=MEMORY, pid_limit=50))
    return base


def test_a_run_is_in_a_group_with_its_limits_and_under_no_rlimit(bench, groups: Path):
    outcome, ctx = bench.sh(
        f"cd {groups}/schedcore-run-*; cat memory.max memory.oom.group pids.max cgroup.procs; ulimit -v"
    )

    assert outcome.kind == "ok"
    assert ctx.output.out.strip() == f"{MEMORY}1500unlimited".encode()


@pytest.mark.parametrize(
    ("file", "said", "reason"),
    [
        ("memory.events", "low 0\nmax 7\noom 1\noom_kill 1", "memory_limit"),
        ("pids.events", "max 3", "pid_limit"),
        ("memory.events", "low 0\nmax 7\noom 0\noom_kill 0", "signal"),
    ],
)
def test_a_run_that_is_killed_at_a_limit_of_its_group_says_which(bench, groups: Path, file, said, reason):
    outcome, _ = bench.sh(f"cd {groups}/schedcore-run-*; echo '{said}' > {file}; kill -9 $$")

    assert (outcome.kind, outcome.reason) == ("failed", reason)


def test_a_run_that_ends_well_at_its_limit_has_ended_well(bench, groups: Path):
    outcome, _ = bench.sh(f"cd {groups}/schedcore-run-*; echo max 3 > pids.events")

    assert outcome.kind == "ok"


def test_a_run_whose_group_cannot_be_made_is_not_begun(bench, groups: Path):
    groups.rename(groups.with_name("gone"))

    outcome, ctx = bench.sh("echo begun")

    assert (outcome.reason, ctx.output.out) == ("executor_error", b"")
    assert "cgroup: No such file or directory" in str(outcome.text)


def test_what_a_killed_supervisor_left_is_taken_away_and_what_lives_is_not(tmp_path: Path):
    left = tmp_path / "schedcore-run-4194305-1"  # beyond the kernel's largest number
    lives = tmp_path / f"schedcore-run-{os.getpid()}-1"
    for path in (left, lives):
        path.mkdir()

    made = Group.make(str(tmp_path), MEMORY, 0)

    assert sorted(tmp_path.iterdir()) == sorted([lives, Path(made.path)])


def test_whatever_cannot_be_killed_otherwise_is_killed_by_its_group(tmp_path: Path):
    group = Group.make(str(tmp_path), 0, 5)
    group.kill()

    assert (Path(group.path) / "cgroup.kill").read_text() == "1"


def test_doctor_says_by_what_the_limits_are_kept(bench, monkeypatch: pytest.MonkeyPatch):
    assert bench.executor.look() == []
    bench.executor.accept(ScriptSettings(pid_limit=50))

    found = {}
    for base in ("/groups", None):
        monkeypatch.setattr(cgroup, "find", lambda base=base, **how: base)
        (found[base],) = bench.executor.look()

    assert found["/groups"].what.endswith("by a control group of each run, below /groups")
    assert "by rlimits" in found[None].what
