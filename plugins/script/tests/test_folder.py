"""The run's folder: report, quarantine, purge, and what a script may plant there (E-11, O-03, T19, T20)."""

from __future__ import annotations

import json
import os
import stat
import time

import pytest

from schedcore_script.folder import purge


def test_the_report_of_a_script_is_kept_on_the_run(bench):
    outcome, ctx = bench.sh('echo \'{"steps": 3, "warnings": ["x"]}\' > "$SCHEDCORE_REPORT"')

    assert outcome.detail["report"] == {"steps": 3, "warnings": ["x"]}
    assert not ctx.folder.exists()


def test_a_failed_script_may_leave_a_report_too(bench):
    outcome, _ = bench.sh('echo \'{"errors": 1}\' > "$SCHEDCORE_REPORT"; exit 3')

    assert (outcome.exit_code, outcome.detail["report"]) == (3, {"errors": 1})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        ("echo nonsense > $SCHEDCORE_REPORT", "not JSON"),
        ("echo '[1]' > $SCHEDCORE_REPORT", "not a JSON object"),
        ("echo '{\"a\": NaN}' > $SCHEDCORE_REPORT", "not JSON"),
        (": > $SCHEDCORE_REPORT", "not JSON"),
        ("printf '\\377' > $SCHEDCORE_REPORT", "not JSON"),
        ("head -c 70000 /dev/zero | tr '\\0' '[' > $SCHEDCORE_REPORT", "larger than 65536"),
        ("head -c 60000 /dev/zero | tr '\\0' '[' > $SCHEDCORE_REPORT", "not JSON"),
        ("mkfifo $SCHEDCORE_REPORT", "not a plain file"),
        ("mkdir $SCHEDCORE_REPORT", "not a plain file"),
        ("ln -s /etc/hostname $SCHEDCORE_REPORT", "cannot be read"),
        ("echo '{}' > real; ln real $SCHEDCORE_REPORT", "not a plain file"),
    ],
)
def test_a_bad_report_is_noted_and_changes_nothing_else(bench, make, said):
    outcome, _ = bench.sh(f"{make}; exit 0")

    assert outcome.kind == "ok"
    assert said in outcome.text
    assert "report" not in outcome.detail


def test_a_report_of_an_earlier_attempt_is_not_taken_for_a_new_one(bench):
    bench.sh('echo nonsense > "$SCHEDCORE_REPORT"; exit 1', run_id=77)

    outcome, _ = bench.sh("exit 0", run_id=77)

    assert outcome.text is None
    assert "report" not in outcome.detail


def test_a_file_moved_to_quarantine_is_listed_and_can_be_restored(bench, tmp_path):
    (tmp_path / "old.log").write_text("precious")

    outcome, ctx = bench.sh(f'mv {tmp_path}/old.log "$SCHEDCORE_QUARANTINE"/')

    kept = outcome.detail["quarantine"]
    assert (kept["folder"], kept["names"]) == (str(ctx.folder / "quarantine"), ["old.log"])
    os.rename(f"{kept['folder']}/old.log", tmp_path / "old.log")
    assert (tmp_path / "old.log").read_text() == "precious"


def test_a_run_that_leaves_nothing_has_no_folder_afterwards(bench):
    _, ctx = bench.run(args=["/bin/true"])
    bench.executor.close()

    assert list(ctx.folder.parent.iterdir()) == []


def test_the_folders_are_private_and_ours(bench):
    _, ctx = bench.sh('stat -c "%a %u" . quarantine; touch keep')

    assert ctx.output.out.decode() == f"700 {os.geteuid()}\n" * 2
    assert stat.S_IMODE(ctx.folder.stat().st_mode) == 0o700


def test_an_untouched_folder_becomes_the_next_runs_and_a_touched_one_does_not(bench):
    _, first = bench.sh("echo data > left")
    _, second = bench.sh("ls -A . quarantine; exit 0")
    _, third = bench.sh("ls -A . quarantine; exit 0")

    assert (first.folder / "left").exists()
    assert b"left" not in second.output.out + third.output.out
    assert not second.folder.exists()


@pytest.mark.parametrize(
    "text",
    [
        "chmod 755 .",
        "rmdir quarantine; ln -s /etc quarantine",
        "rmdir quarantine; mkdir other",
        "touch quarantine/x",
    ],
)
def test_a_folder_that_was_changed_is_not_handed_on(bench, text):
    bench.sh(text)

    _, second = bench.sh("stat -c %a-%F . quarantine; ls -A . quarantine | sort")

    assert second.output.out == b"700-directory\n700-directory\n\n.:\nquarantine\nquarantine:\n"


def test_a_link_in_the_place_of_the_folder_is_refused(bench, tmp_path):
    ctx = bench.context(args=["touch", str(tmp_path / "ran")])
    ctx.folder.parent.mkdir(mode=0o700, parents=True)
    ctx.folder.symlink_to(tmp_path)

    outcome = bench.executor.execute(ctx)

    assert (outcome.kind, outcome.reason) == ("failed", "executor_error")
    assert "not a private folder of ours" in outcome.text
    assert not (tmp_path / "ran").exists()


def test_a_folder_open_to_others_is_refused(bench):
    ctx = bench.context(args=["/bin/true"])
    ctx.folder.mkdir(mode=0o700, parents=True)
    ctx.folder.chmod(0o777)

    assert bench.executor.execute(ctx).reason == "executor_error"


def test_old_quarantine_is_purged_once_at_the_first_run(bench, tmp_path):
    runs = bench.state / "runs"
    old = time.time() - 31 * 86_400
    for name in ("old", "young", "foreign"):
        (runs / name / "quarantine").mkdir(mode=0o700, parents=True)
        (runs / name / "quarantine" / "file").touch()
    (runs / "foreign" / "quarantine").rename(runs / "foreign" / "other")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    (runs / "old" / "quarantine" / "link").symlink_to(precious)
    (runs / "link").symlink_to(precious)
    for path in (runs / "old" / "quarantine", runs / "old", runs / "foreign" / "other", runs / "foreign"):
        os.utime(path, (old, old))

    bench.run(args=["/bin/true"])

    assert sorted(path.name for path in runs.iterdir() if not path.name.isdigit()) == [
        "foreign",
        "link",
        "young",
    ]
    assert (precious / "file").exists()


def test_a_purge_of_a_folder_that_is_not_there_is_nothing(tmp_path):
    assert purge(tmp_path / "none", 30) == 0


def test_a_long_quarantine_is_listed_in_part(bench):
    outcome, _ = bench.sh('cd "$SCHEDCORE_QUARANTINE"; seq 1200 | xargs touch')

    assert len(outcome.detail["quarantine"]["names"]) == 1000
    assert outcome.detail["quarantine"]["more"] is True


def test_what_is_kept_on_the_run_is_json(bench):
    outcome, _ = bench.sh('touch "$SCHEDCORE_QUARANTINE/$(printf "a\\377b")"; echo "{}" > $SCHEDCORE_REPORT')

    json.dumps(outcome.detail).encode()
    assert outcome.detail["report"] == {}
