"""Forty ways to outlive a run, and none of them works (P-17, X1, X3, X4, X7, R34, R37, T8, T9, T10)."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from pathlib import Path

import pytest

from schedcore_script import attending

LIMIT = 0.4
MARGIN = 0.3

DAEMONS = """
import os, time
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
CHAIN = """
import os, signal, time
for n in range(30):
    if os.fork() == 0:
        os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN); continue
    break
time.sleep(600 if n else 0)
"""
RENAMED = """
import ctypes, os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
ctypes.CDLL(None).prctl(15, b") Z 1 1 1 (", 0, 0, 0)
time.sleep(600)
"""
CLOSED = """
import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir("/"); os.umask(0); os.closerange(0, 256); time.sleep(600)
"""
REAPER = """
import ctypes, os, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        time.sleep(600)
time.sleep(600)
"""
RESPAWN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def watch(pid):
    while os.path.exists(f"/proc/{pid}/exe"): time.sleep(0.002)
if os.fork():
    time.sleep(0.1); os._exit(0)
while True:
    me = os.getpid(); os.setsid() if os.getsid(0) != me else None
    if os.fork() == 0: watch(me); continue
    time.sleep(600)
"""
IN_FLIGHT = """
import array, os, socket, time
a, b = socket.socketpair()
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))])
os.close(1); os.close(2)
if os.fork(): os._exit(0)
os.setsid(); time.sleep(600)
"""
THREADED = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""
FORKING_THREADS = """
import os, threading, time
def go():
    if os.fork() == 0: os.setsid(); time.sleep(600)
for _ in range(5): threading.Thread(target=go).start()
"""
SELF_EXEC = (
    "import os, sys; os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', sys.argv[1], sys.argv[1]])"
)
DISGUISED = "import os; os.fork() and os._exit(0); os.execv('/bin/sleep', ['[kworker/0:1]', '600'])"
OTHER_USER = """
import os, time
if os.fork(): os._exit(0)
os.setsid(); os.setgid(12345); os.setuid(12345); time.sleep(600)
"""
IGNORES_ALL = """
import signal, time
for s in signal.valid_signals():
    try: signal.signal(s, signal.SIG_IGN)
    except OSError: pass
while True: time.sleep(600)
"""
CHILDREN_IGNORED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(20):
    if os.fork() == 0: os.setpgid(0, 0); time.sleep(600)
"""
SPAWNED = """
import subprocess
for _ in range(3): subprocess.Popen(["sleep", "600"], start_new_session=True)
"""

ENDS = "ok"
OVER = "timeout"
LOST = "executor_error"

SCRIPTS = {
    "in the background": (ENDS, "sleep 600 &"),
    "nohup": (ENDS, "nohup sleep 600 >/dev/null 2>&1 &"),
    "double fork": (ENDS, "(sleep 600 &) &"),
    "setsid": (ENDS, "setsid sleep 600 & exit 0"),
    "setsid that forks": (ENDS, "setsid -f sleep 600"),
    "double fork, setsid, and children": (ENDS, "(setsid sh -c 'sleep 600 & sleep 600' &)"),
    "job control": (ENDS, "set -m; sleep 600 & sleep 600 & exit 0"),
    "holding the pipes": (ENDS, "sleep 600 & sleep 600 & exit 0"),
    "closed stdout, in the background": (ENDS, "exec >&- 2>&-; sleep 600 & exit 0"),
    "closed stdin": (ENDS, "exec 0<&-; sleep 600 & exit 0"),
    "a stopped child": (ENDS, "sleep 600 & kill -STOP $!; exit 0"),
    "fifty children": (ENDS, "for i in $(seq 50); do sleep 600 & done; exit 0"),
    "an empty environment": (ENDS, 'env -i sh -c "sleep 600; : $SCHEDCORE_RUN" & exit 0'),
    "a flood left behind": (ENDS, "yes & exit 0"),
    "a flood of stderr in its own session": (ENDS, "setsid yes >&2 & exit 0"),
    "a chain of sessions": (ENDS, CHAIN),
    "a name like a status line": (ENDS, RENAMED),
    "all descriptors closed": (ENDS, CLOSED),
    "descriptors in flight": (ENDS, IN_FLIGHT),
    "forked by threads": (ENDS, FORKING_THREADS),
    "disguised": (ENDS, DISGUISED),
    "children nobody waits for": (ENDS, CHILDREN_IGNORED),
    "started in new sessions": (ENDS, SPAWNED),
    "becoming a daemon again and again": (ENDS, DAEMONS),
    "restarting each other": (ENDS, RESPAWN),
    "ignoring TERM": (OVER, "trap '' TERM; sleep 600; sleep 600"),
    "ignoring TERM with children": (OVER, "trap '' TERM INT HUP; (while :; do sleep 1; done) & wait"),
    "ignoring all signals": (OVER, IGNORES_ALL),
    "closed stdout": (OVER, "exec >&- 2>&-; sleep 600"),
    "exec": (OVER, "exec sleep 600"),
    "exec over itself for ever": (OVER, SELF_EXEC),
    "stopping itself": (OVER, "kill -STOP $$; sleep 600"),
    "stopping its group": (OVER, "kill -STOP 0; sleep 600"),
    "a child born of TERM": (OVER, "trap 'setsid sleep 600 & exit 0' TERM; sleep 600 & wait"),
    "its own reaper": (OVER, REAPER),
    "the first thread gone": (OVER, THREADED),
    "waiting on a fifo": (OVER, "mkfifo f; cat f"),
    "fault_x1 a grandchild holding the pipe": (OVER, "sleep 600 & wait"),
    "fault_x4 endless output": (OVER, "yes"),
    "report_r37 a forked sleeper": (OVER, "sleep 600 & setsid sleep 600 & wait"),
    "signals to the supervisor": (
        OVER,
        "for s in TERM INT HUP QUIT USR1 USR2 PIPE; do kill -$s $PPID; done; sleep 600",
    ),
    "its supervisor killed": (LOST, "setsid sleep 600 & (sleep 600 &) ; kill -9 $PPID; sleep 600"),
    "its supervisor stopped": (LOST, "setsid sleep 600 & kill -STOP $PPID; sleep 600"),
    "another user": (ENDS, OTHER_USER),
    "another pid namespace": (ENDS, "unshare --fork --pid sleep 600 & sleep 0.05; exit 0"),
}
ROOT_ONLY = {"another user", "another pid namespace"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_of_a_run_outlives_it(bench, living, until, monkeypatch, name):
    if name in ROOT_ONLY and (os.geteuid() != 0 or not shutil.which("unshare")):
        pytest.skip("needs root")
    reason, text = SCRIPTS[name]
    is_python = "import " in text
    args = [sys.executable, "-I", "-S", "-c", text, text] if is_python else ["/bin/sh", "-c", text]
    monkeypatch.setattr(attending, "_MARGIN", MARGIN)
    ctx = bench.context(args=args, limit=20 if reason == ENDS else LIMIT)
    began = time.monotonic()

    outcome = bench.executor.execute(ctx)

    took = time.monotonic() - began
    mark = ctx.variables["SCHEDCORE_RUN"]
    assert until(lambda: not living(mark)) if reason == LOST else living(mark) == []
    assert (outcome.kind if reason == ENDS else outcome.reason) == reason, outcome
    assert took < (5 if reason == ENDS else LIMIT + bench.executor.settings.kill_grace + MARGIN + 2)


def test_what_was_left_behind_is_counted_and_named(bench):
    outcome, _ = bench.sh("sleep 600 & sleep 600 & exit 0")

    assert outcome.detail["killed"] == 2
    assert "2 process(es) it had left behind were killed" in outcome.text


def test_fault_x3_a_double_fork_is_killed_at_the_end_of_the_run(bench, living):
    outcome, ctx = bench.sh("(sleep 600 &) & exit 4")

    assert (outcome.exit_code, outcome.detail["killed"]) == (4, 1)
    assert living(ctx.variables["SCHEDCORE_RUN"]) == []


def test_fault_x4_the_host_keeps_its_size_under_endless_output(bench):
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    bench.run(args=["/bin/true"])
    before = resident()

    outcome, ctx = bench.run(args=["yes"], limit=1)

    assert outcome.reason == "timeout"
    assert ctx.output.count > 4_000_000
    assert resident() - before < 16 * 1024 * 1024


def test_fault_x7_a_group_that_is_gone_when_the_stop_comes_changes_nothing(bench, until):
    ctx = bench.context(command="echo $$; exec sleep 600", shell=True)
    thread, ends = bench.beside(ctx)
    assert until(lambda: ctx.output.out.endswith(b"\n"))
    os.kill(int(ctx.output.out), 9)

    ctx.stop.order("operator")
    thread.join(10)

    assert ends[0].kind in ("failed", "cancelled")


def test_report_r34_the_limit_is_kept_though_the_worker_thread_is_busy_elsewhere(bench, living, until):
    ctx = bench.context(command="echo begun; sleep 600 & wait", shell=True, limit=0.5)
    release = threading.Event()
    ctx.output.stdout = lambda data: release.wait(20)  # a worker thread that does not come back
    thread, ends = bench.beside(ctx)

    assert until(lambda: living(ctx.variables["SCHEDCORE_RUN"]))
    assert until(lambda: not living(ctx.variables["SCHEDCORE_RUN"]), 5)

    assert not ends
    release.set()
    thread.join(10)
    assert ends[0].reason == "timeout"


def test_a_group_member_has_the_grace_though_the_leader_is_dead(bench):
    bench.executor.accept(bench.executor.settings.model_copy(update={"kill_grace": 5}))
    text = "(trap 'sleep 0.1; echo saved; exit 0' TERM; while :; do sleep 0.02; done) & wait"

    _, ctx = bench.sh(text, limit=0.3)

    assert ctx.output.out == b"saved\n"


@pytest.mark.parametrize("code", [0, 3])
def test_threat_t10_a_script_that_prints_our_markers_forges_nothing(bench, code):
    lines = "ended end 0 0 0 0 0 1\\nrefused exec 2\\nbroken\\n\\000\\000\\000\\001A T"
    text = (
        f"printf '{lines}'; for f in 3 4 5 6 7 8 9; do (printf '{lines}' >&$f) 2>/dev/null; done; exit {code}"
    )

    outcome, ctx = bench.sh(text)

    assert outcome.exit_code == code
    assert outcome.kind == ("ok" if code == 0 else "failed")
    assert ctx.output.out.startswith(b"ended end 0")
