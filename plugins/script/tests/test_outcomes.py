"""How an end becomes an outcome (E-11, E-12, A-12)."""

from __future__ import annotations

import signal

import pytest


def test_exit_0_is_ok(bench):
    outcome, _ = bench.run(args=["/bin/true"])

    assert (outcome.kind, outcome.exit_code) == ("ok", 0)


def test_another_exit_code_is_failed_with_the_last_words_of_stderr(bench):
    outcome, ctx = bench.sh("echo first >&2; echo disk full >&2; exit 3")

    assert (outcome.kind, outcome.reason, outcome.exit_code) == ("failed", "exit_code", 3)
    assert outcome.text == "exit code 3: first | disk full"
    assert ctx.output.err == b"first\ndisk full\n"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_death_by_signal_is_the_negative_number(bench, number):
    outcome, _ = bench.sh(f"kill -{int(number)} $$")

    assert (outcome.kind, outcome.reason, outcome.exit_code) == ("failed", "signal", -number)
    assert number.name in outcome.text


def test_the_time_limit_is_failed_timeout(bench):
    outcome, _ = bench.run(args=["sleep", "600"], limit=0.2)

    assert (outcome.kind, outcome.reason, outcome.exit_code) == ("failed", "timeout", -signal.SIGTERM)


def test_the_payloads_own_limit_goes_before_the_default(bench):
    outcome, _ = bench.run(args=["sleep", "600"], limit=300, timeout="1s")

    assert outcome.reason == "timeout"


@pytest.mark.parametrize(
    ("options", "code", "kind"),
    [
        ({"soft_fail": True}, 3, "findings"),
        ({"soft_fail": True}, 0, "ok"),
        ({"soft_fail": True}, 126, "failed"),
        ({"soft_fail": True}, 127, "failed"),
        ({"soft_fail": True, "findings_exit": [2, 3]}, 3, "findings"),
        ({"soft_fail": True, "findings_exit": [2]}, 3, "failed"),
        ({"findings_exit": [127]}, 127, "failed"),
    ],
)
def test_a_non_zero_exit_of_an_audit_is_findings(bench, options, code, kind):
    outcome, _ = bench.sh(f"exit {code}", options=options)

    assert (outcome.kind, outcome.exit_code) == (kind, code)


def test_a_signal_of_an_audit_stays_failed(bench):
    outcome, _ = bench.sh("kill -SEGV $$", options={"soft_fail": True})

    assert (outcome.kind, outcome.reason) == ("failed", "signal")


def test_the_time_limit_of_an_audit_stays_failed(bench):
    outcome, _ = bench.run(args=["sleep", "600"], limit=0.1, options={"soft_fail": True})

    assert (outcome.kind, outcome.reason) == ("failed", "timeout")


def test_fault_x9_a_missing_program_is_not_found_and_not_tried_again(bench):
    outcome, _ = bench.run(args=["/opt/nowhere/backup.sh"])

    assert (outcome.kind, outcome.reason, outcome.retry) == ("failed", "not_found", False)
    assert "/opt/nowhere/backup.sh" in outcome.text


def test_a_missing_name_on_the_path_is_not_found(bench):
    outcome, _ = bench.run(args=["no-such-program"])

    assert (outcome.reason, outcome.retry) == ("not_found", False)


def test_a_file_that_may_not_be_executed_is_not_found_and_says_so(bench, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\n")

    outcome, _ = bench.run(args=[str(script)])

    assert (outcome.reason, outcome.retry) == ("not_found", False)
    assert "executable" in outcome.text


def test_a_text_without_an_interpreter_line_is_not_found_and_says_so(bench, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("echo hello\n")
    script.chmod(0o755)

    outcome, _ = bench.run(args=[str(script)])

    assert outcome.reason == "not_found"
    assert "#!" in outcome.text


def test_a_missing_folder_is_failed_cwd(bench):
    outcome, _ = bench.run(args=["true"], cwd="/no/such/folder")

    assert (outcome.kind, outcome.reason, outcome.retry) == ("failed", "cwd", False)
    assert "/no/such/folder" in outcome.text


def test_exit_127_is_never_tried_again(bench):
    outcome, _ = bench.sh("no-such-program")

    assert (outcome.reason, outcome.exit_code, outcome.retry) == ("exit_code", 127, False)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("operator", "cancelled"),
        ("replaced", "cancelled"),
        ("shutdown", "interrupted"),
        ("lease_lost", "interrupted"),
        ("stopped_itself", "interrupted"),
        ("timeout", "failed"),
    ],
)
def test_an_order_to_stop_ends_the_script_and_names_its_reason(bench, living, until, reason, kind):
    ctx = bench.context(command="echo begun; sleep 600", shell=True)
    thread, ends = bench.beside(ctx)
    assert ctx.output.something.wait(10)

    ctx.stop.order(reason)
    thread.join(10)

    assert (ends[0].kind, ends[0].reason) == (kind, reason)
    assert living(ctx.variables["SCHEDCORE_RUN"]) == []


def test_a_stop_that_came_before_the_start_starts_nothing(bench):
    ctx = bench.context(args=["/bin/true"])
    ctx.stop.order("operator")

    outcome = bench.executor.execute(ctx)

    assert outcome.kind == "cancelled"
    assert bench.executor._starter is None


def test_a_stopped_script_goes_on_to_hear_the_order_to_end(bench):
    outcome, ctx = bench.sh("trap 'echo bye; exit 7' TERM; kill -STOP $$; sleep 600 & wait", limit=0.3)

    assert (outcome.reason, outcome.exit_code, ctx.output.out) == ("timeout", 7, b"bye\n")


def test_a_script_that_ends_within_the_grace_is_not_killed(bench):
    outcome, ctx = bench.sh("trap 'echo bye; exit 7' TERM; echo begun; sleep 600 & wait", limit=0.3)

    assert (outcome.reason, outcome.exit_code) == ("timeout", 7)
    assert ctx.output.out == b"begun\nbye\n"


def test_fault_x6_bytes_that_are_no_text_change_nothing(bench):
    outcome, ctx = bench.sh(r"printf '\377\376'; printf '\377\376' >&2; exit 1")

    assert outcome.exit_code == 1
    assert ctx.output.out == b"\xff\xfe"
    assert "�" in outcome.text


def test_work_without_a_limit_runs_until_it_ends(bench):
    for limit in (0, float("inf")):
        outcome, _ = bench.sh("exit 4", limit=limit)

        assert outcome.exit_code == 4


def test_a_run_that_ends_after_the_close_of_its_host_is_told_as_any(bench, until, tmp_path):
    ctx = bench.context(command=f"echo begun; while [ ! -e {tmp_path}/go ]; do sleep 0.01; done", shell=True)
    thread, ends = bench.beside(ctx)
    assert until(lambda: ctx.output.out)

    bench.executor.close()

    (tmp_path / "go").touch()
    thread.join(10)
    assert ends[0].kind == "ok"
