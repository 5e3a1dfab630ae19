"""The environment of a script: exactly what was said, and nothing of the host's (E-10, S30, S34, T3, T5)."""

from __future__ import annotations

import json
import os
import sys

import pytest

from schedcore_script.environment import EnvFileError, build, is_loader, parse_env_file

PROBE = "import json, os, sys; json.dump(dict(os.environ), sys.stdout)"
GIVEN = {"SCHEDCORE_JOB", "SCHEDCORE_RUN", "SCHEDCORE_REPORT", "SCHEDCORE_QUARANTINE"}


def probe(bench, **payload):
    _, ctx = bench.run(args=[sys.executable, "-I", "-S", "-c", PROBE], **payload)
    found = json.loads(ctx.output.out)
    found.pop("LC_CTYPE", None)  # the probe's interpreter sets it for itself
    return found


def test_the_child_sees_exactly_these_names(bench, monkeypatch):
    monkeypatch.setenv("HOST_ONLY", "x")
    bench.secrets["DB"] = "s3cret"

    found = probe(bench, env={"A": "1", "DB_URL": {"secret": "DB"}})

    assert set(found) == {"PATH", "A", "DB_URL", *GIVEN}
    assert found["DB_URL"] == "s3cret"
    assert found["PATH"] == bench.executor.settings.path


def test_inherit_names_what_may_come_from_the_host(bench, monkeypatch):
    monkeypatch.setenv("HOST_ONLY", "x")
    monkeypatch.setenv("OTHER", "y")

    found = probe(bench, inherit=["HOST_ONLY", "NOT_SET"])

    assert set(found) == {"PATH", "HOST_ONLY", *GIVEN}


def test_fault_s34_keys_and_service_variables_of_the_host_never_pass(bench, monkeypatch):
    for name in (
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "NOTIFY_SOCKET",
        "WATCHDOG_USEC",
        "WATCHDOG_PID",
    ):
        monkeypatch.setenv(name, "canary")

    found = probe(bench)

    assert "canary" not in json.dumps(found)


def test_a_script_that_reads_its_parents_in_procfs_finds_no_canary(bench, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-7461")

    _, ctx = bench.sh(
        "tr '\\0' '\\n' < /proc/$PPID/environ 2>/dev/null; cat /proc/$PPID/cmdline | tr '\\0' ' '"
    )

    assert b"canary" not in ctx.output.out


def test_fault_s30_no_run_writes_the_environment_of_the_host(bench):
    before = dict(os.environ)

    bench.run(args=["/no/such/program"], env={"LEAK": "1"})
    bench.run(args=["/bin/true"], env={"LEAK": "1"})

    assert dict(os.environ) == before
    assert "LEAK" not in probe(bench)


def test_a_reused_supervisor_hands_nothing_of_one_run_to_the_next(bench):
    bench.run(args=["/bin/true"], env={"LEAK": "1"}, cwd="/usr")

    found = probe(bench)

    assert "LEAK" not in found


def test_the_child_has_three_descriptors_and_stdin_is_empty(bench):
    text = (
        "import os; print(sorted(os.listdir('/proc/self/fd')), os.readlink('/proc/self/fd/0'), os.read(0, 9))"
    )
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(5)]
    for fd in opened:
        os.set_inheritable(fd, True)

    _, ctx = bench.run(args=[sys.executable, "-I", "-S", "-c", text])

    for fd in opened:
        os.close(fd)
    assert ctx.output.out == b"['0', '1', '2', '3'] /dev/null b''\n"  # 3 is the listing itself


def test_the_child_has_its_own_session_group_and_default_signals(bench):
    text = (
        "import os, signal; print(os.getsid(0) == os.getpid() == os.getpgid(0), "
        "[s.name for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN], "
        "signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    )
    _, ctx = bench.run(args=[sys.executable, "-I", "-S", "-c", text])

    assert (
        ctx.output.out == b"True ['SIGPIPE', 'SIGXFSZ'] set()\n"
    )  # the two are the probe's own, as a Python


def test_a_secret_that_was_not_granted_blocks_the_run_before_the_spawn(bench, tmp_path):
    outcome, _ = bench.run(args=["touch", str(tmp_path / "ran")], env={"A": {"secret": "NOPE"}})

    assert (outcome.kind, outcome.reason) == ("blocked", "secret")
    assert not (tmp_path / "ran").exists()


def test_a_secret_in_stderr_and_report_is_masked_in_the_outcome(bench):
    bench.secrets["DB"] = "s3cret"

    outcome, _ = bench.sh(
        """echo "{\\"a\\": [\\"$P\\"]}" > $SCHEDCORE_REPORT; echo no access with $P >&2; exit 1""",
        env={"P": {"secret": "DB"}},
    )

    assert outcome.text == "exit code 1: no access with ***"
    assert outcome.detail["report"] == {"a": ["***"]}


def test_environment_files_overwrite_nothing(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("INHERITED", "host")
    first = tmp_path / "one.env"
    first.write_text("A=file\nINHERITED=file\nPATH=/evil\nSCHEDCORE_RUN=forged\nNOTIFY_SOCKET=x\nNEW=one\n")
    second = tmp_path / "two.env"
    second.write_text("NEW=two\nMORE=two\n")

    found = probe(bench, env={"A": "payload"}, inherit=["INHERITED"], env_files=[str(first), str(second)])

    assert found["A"] == "payload"
    assert found["INHERITED"] == "host"
    assert found["PATH"] == bench.executor.settings.path
    assert found["SCHEDCORE_RUN"].startswith("mark-")
    assert (found["NEW"], found["MORE"]) == ("one", "two")
    assert "NOTIFY_SOCKET" not in found


def test_a_bad_environment_file_is_named_with_its_line(bench, tmp_path):
    file = tmp_path / "bad.env"
    file.write_text("A=1\n\nnonsense\n")

    outcome, _ = bench.run(args=["/bin/true"], env_files=[str(file)])

    assert (outcome.kind, outcome.reason, outcome.retry) == ("failed", "script.env_file", False)
    assert outcome.text == f"{file}, line 3: expected NAME=VALUE"


@pytest.mark.parametrize("kind", ["missing", "fifo", "folder", "large", "binary"])
def test_an_environment_file_that_is_none_fails_at_once(bench, tmp_path, kind):
    file = tmp_path / "x.env"
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "large":
        file.write_text("A=1\n" * 20_000)
    elif kind == "binary":
        file.write_bytes(b"A=\xff")

    outcome, _ = bench.run(args=["/bin/true"], env_files=[str(file)])

    assert (outcome.kind, outcome.reason) == ("failed", "script.env_file")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("A=1", {"A": "1"}),
        ("export A=1", {"A": "1"}),
        ("  A = 1  ", {"A": "1"}),
        ("A=", {"A": ""}),
        ("A=a b # c", {"A": "a b"}),
        ("A=a#b", {"A": "a#b"}),
        ("A=#b", {"A": ""}),
        ("A='a \\n # $B' # c", {"A": "a \\n # $B"}),
        ('A="a\\n\\"b\\" \\$c \\\\ \\q"', {"A": 'a\n"b" $c \\ \\q'}),
        ("# A=1", {}),
        ("", {}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("\ufeffA=1", {"A": "1"}),
        ("A=é", {"A": "é"}),
        ("A=$HOME ${X} `id`", {"A": "$HOME ${X} `id`"}),
    ],
)
def test_the_grammar_of_an_environment_file(line, found):
    assert parse_env_file(line, "f") == found


@pytest.mark.parametrize("line", ["A", "1A=1", "A B=1", "A='x", 'A="x', "A='x' y", 'A="x" y', "A=\0", "-A=1"])
def test_a_line_outside_the_grammar_is_refused(line):
    with pytest.raises(EnvFileError, match="f, line 2: "):
        parse_env_file(f"OK=1\n{line}", "f")


def test_the_variables_of_the_run_win():
    found = build("/bin", {"SCHEDCORE_RUN": "7"}, {"SCHEDCORE_RUN": "forged", "WATCHDOG_X": "1"})

    assert found == {"PATH": "/bin", "SCHEDCORE_RUN": "7"}


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "LD_AUDIT",
        "BASH_ENV",
        "ENV",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "GIT_SSH_COMMAND",
        "NODE_OPTIONS",
        "PATH",
    ],
)
def test_loader_variables_are_known(name):
    assert is_loader(name)


@pytest.mark.parametrize("name", ["A", "HOME", "MY_PATH", "OLD_LD", "TZ", "LANG"])
def test_ordinary_variables_are_no_loaders(name):
    assert not is_loader(name)
