"""Limits and another user, where the settings ask for them (T4, T7)."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from schedcore_script.settings import ScriptSettings

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="another user needs root")


def settings(bench, **given):
    bench.executor.accept(ScriptSettings(kill_grace=0.3, **given))


def test_nice_and_limits_are_applied_to_the_script_alone(bench):
    settings(bench, nice=7, file_size_limit=1024, memory_limit=256 * 1024 * 1024)

    outcome, ctx = bench.sh("nice; ulimit -f; ulimit -v; head -c 5000 /dev/zero > big; wc -c < big")

    nice = min(19, os.nice(0) + 7)  # ours may be raised already
    assert ctx.output.out.split() == [b"%d" % nice, b"2", b"262144", b"1024"]
    assert outcome.kind == "ok"


def test_a_script_beyond_its_memory_fails(bench):
    settings(bench, memory_limit=128 * 1024 * 1024)

    outcome, _ = bench.run(args=[sys.executable, "-I", "-S", "-c", "x = bytearray(500_000_000)"])

    assert outcome.kind == "failed"


def test_confined_scripts_are_supervised_as_others(bench, living):
    settings(bench, nice=1)

    outcome, ctx = bench.sh("setsid sleep 600 & exit 3")
    missing, _ = bench.run(args=["/no/such/program"])
    over, _ = bench.run(args=["sleep", "600"], limit=0.2)

    assert (outcome.exit_code, outcome.detail["killed"]) == (3, 1)
    assert living(ctx.variables["SCHEDCORE_RUN"]) == []
    assert missing.reason == "not_found"
    assert over.reason == "timeout"


def test_confined_scripts_have_three_descriptors_and_default_signals(bench):
    settings(bench, nice=1)

    _, ctx = bench.sh(
        "ls /proc/self/fd | tr '\\n' ' '; grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f2 | tr '\\n' ' '"
    )

    *descriptors, blocked, ignored = ctx.output.out.split()
    of_the_c_library = 0b11 << 31  # signals 32 and 33 are glibc's own, and no program may set them
    assert descriptors == [b"0", b"1", b"2", b"3"]
    assert int(blocked, 16) & ~of_the_c_library == 0
    assert int(ignored, 16) & ~of_the_c_library == 0


def test_plain_scripts_ignore_and_block_no_signal(bench):
    _, ctx = bench.sh("grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f2 | tr '\\n' ' '")

    blocked, ignored = (int(mask, 16) for mask in ctx.output.out.split())
    of_libc = 1 << 31 | 1 << 32  # posix_spawn leaves its two own signals ignored in every child
    assert (blocked, ignored & ~of_libc) == (0, 0)


@needs_root
def test_another_user_runs_the_script_and_leaves_a_report(bench, tmp_path):
    _open(tmp_path)
    settings(bench, uid=54_321, gid=54_321, folder=tmp_path / "of-scripts")

    outcome, ctx = bench.sh(
        "id -u; id -g; id -G; echo '{\"a\": 1}' > $SCHEDCORE_REPORT; cat /proc/$PPID/environ"
    )

    assert ctx.output.out.split() == [b"54321"] * 3
    assert outcome.detail["report"] == {"a": 1}
    assert b"denied" in ctx.output.err


@needs_root
def test_a_fork_bomb_of_another_user_meets_its_limit(bench, tmp_path, living):
    _open(tmp_path)
    settings(bench, uid=54_322, gid=54_322, folder=tmp_path / "of-scripts", pid_limit=60)

    outcome, ctx = bench.sh("b() { b & b & }; b; while :; do b; done", limit=1)

    assert outcome.kind == "failed"
    assert living(ctx.variables["SCHEDCORE_RUN"]) == []


def _open(path) -> None:
    """Let another user pass to a folder of pytest's."""
    while path.owner() == "root" and str(path).startswith("/tmp/"):
        path.chmod(0o755)
        path = path.parent
        if str(path) == "/tmp":
            return


@needs_root
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_script_of_the_hosts_own_user_reads_nothing_of_its_supervisor(bench, tmp_path):
    """Non-dumpable: what procfs tells of the spawner and its forks, it tells to root alone."""
    python = next((p for p in (sys.executable, "/usr/bin/python3") if _for_all(p)), None)
    if python is None:
        pytest.skip("no Python that another user may run")
    _open(tmp_path)
    os.chown(bench.state, 65_534, 65_534)
    settings(bench, python=python)
    said = tmp_path / "said"
    host = os.fork()
    if host == 0:
        with suppress(BaseException), open(said, "wb") as file:
            os.setgroups([])
            os.setgid(65_534)
            os.setuid(65_534)
            text = "id -u; cat /proc/$PPID/environ; head -c 1 /proc/$PPID/mem; ls /proc/$PPID/fd"
            outcome, ctx = bench.sh(text, env={"A": "canary"})
            file.write(b"%s %s %s" % (repr(outcome).encode(), ctx.output.out, ctx.output.err))
            bench.executor.close()
        os._exit(0)
    os.waitpid(host, 0)

    assert b" 65534\n" in said.read_bytes()
    assert said.read_bytes().count(b"Permission denied\n") == 3


def _for_all(python: str) -> bool:
    """Whether each folder on the way to this program may be entered by everybody."""
    path = Path(os.path.realpath(python))
    return path.exists() and all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))
