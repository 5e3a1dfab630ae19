"""What is left when the host, the spawner or a supervisor dies: nothing but a note (P-17, 2.5)."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from schedcore_script import starting
from schedcore_script.spawner import FORK

HOST = """
import os, signal, sys, threading
from pathlib import Path
sys.path[:0] = {path!r}
from conftest import Bench
from schedcore_script.settings import ScriptSettings
bench = Bench(Path(sys.argv[1]), ScriptSettings(kill_grace=0.8))
ctx = bench.context(command=sys.argv[2], shell=True)
ctx.variables = {{**ctx.variables, "SCHEDCORE_RUN": sys.argv[3][::-1]}}
ctx.end_note = Path(sys.argv[4])
{then}
"""
RUN = "print(bench.executor.execute(ctx).kind, flush=True)"


class OutsideHost:
    """A host in a process of its own, with one run in it."""

    def __init__(self, state: Path, text: str, then: str = RUN) -> None:
        self.mark = f"mark-{state.name}-{os.getpid()}-{id(self)}"
        self.note = state / "ends" / "1"
        path = [str(Path(__file__).parent), *[entry for entry in sys.path if entry]]
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                HOST.format(path=path, then=then),
                str(state),
                text,
                self.mark[::-1],
                str(self.note),
            ],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def read(self) -> str:
        return self.process.stdout.read().decode()


@pytest.fixture
def outside(bench):
    hosts: list[OutsideHost] = []

    def make(*given: str) -> OutsideHost:
        hosts.append(OutsideHost(bench.state, *given))
        return hosts[-1]

    yield make
    for host in hosts:
        host.kill()
        host.process.stdout.close()


def test_a_host_killed_in_a_run_leaves_no_process_and_an_end_note(outside, living, until, tmp_path):
    begun = tmp_path / "begun"
    host = outside(f"trap '' TERM; setsid sleep 600 & (sleep 600 &); touch {begun}; sleep 600; sleep 600")
    assert until(begun.exists)
    assert len(living(host.mark)) == 4

    host.kill()

    assert until(lambda: not living(host.mark), 5)
    assert until(host.note.exists, 5)
    state = host.note.stat()
    assert stat.S_IMODE(state.st_mode) == 0o600
    assert list(host.note.parent.iterdir()) == [host.note]


def test_the_note_is_written_after_the_last_process_is_dead(outside, living, until, tmp_path):
    begun = tmp_path / "begun"
    host = outside(f"trap '' TERM; touch {begun}; while :; do sleep 0.05; done")
    assert until(begun.exists)

    host.kill()

    assert until(host.note.exists, 5)
    assert living(host.mark) == []


def test_a_host_killed_in_a_run_leaves_the_script_its_grace(outside, until, tmp_path):
    saved = tmp_path / "saved"
    host = outside(f"trap 'sleep 0.1; touch {saved}; exit 0' TERM; touch {tmp_path}/begun; sleep 600 & wait")
    assert until((tmp_path / "begun").exists)

    host.kill()

    assert until(host.note.exists, 5)
    assert saved.exists()


def test_a_kill_of_the_hosts_whole_group_leaves_no_process_either(outside, living, until, tmp_path):
    host = outside(f"setsid sleep 600 & touch {tmp_path}/begun; sleep 600")
    assert until((tmp_path / "begun").exists)

    os.killpg(host.process.pid, signal.SIGKILL)

    assert until(host.note.exists, 5)
    assert living(host.mark) == []


def test_a_planted_link_in_the_place_of_the_note_is_not_followed(outside, until, tmp_path):
    target = tmp_path / "target"
    target.write_text("precious")
    host = outside(f"touch {tmp_path}/begun; sleep 600")
    assert until((tmp_path / "begun").exists)
    host.note.parent.mkdir(mode=0o700, exist_ok=True)
    host.note.symlink_to(target)

    host.kill()

    assert until(lambda: not host.note.is_symlink(), 5)
    assert target.read_text() == "precious"


def test_a_fork_of_the_host_does_not_hide_its_death(outside, living, until, tmp_path):
    then = """
thread = threading.Thread(target=bench.executor.execute, args=(ctx,), daemon=True)
thread.start()
import time, warnings
warnings.simplefilter("ignore")
while not os.path.exists(sys.argv[1] + "/begun"): time.sleep(0.005)
if os.fork() == 0:
    os.close(1); time.sleep(20); os._exit(0)
print("forked", flush=True)
time.sleep(20)
"""
    host = outside(f"touch {tmp_path}/state/begun; sleep 600", then)
    assert host.process.stdout.readline() == b"forked\n"

    host.kill()

    assert until(host.note.exists, 5)
    assert living(host.mark) == []
    os.killpg(host.process.pid, signal.SIGKILL)  # the fork itself, alive until now


def test_a_host_that_dies_before_it_settled_a_run_leaves_its_note_too(outside, until):
    host = outside("exit 0", f"{RUN}\nos.kill(os.getpid(), signal.SIGKILL)")

    assert host.read() == "ok\n"

    assert until(host.note.exists, 5)


def test_a_host_that_closes_in_order_leaves_no_note_and_no_process(outside, until, tmp_path):
    host = outside("exit 0", f"{RUN}\nprint(bench.executor.starter.pid)\nbench.executor.close()")

    kind, spawner = host.read().split()

    assert kind == "ok"
    assert until(lambda: not Path(f"/proc/{spawner}/stat").exists(), 5)
    assert not host.note.parent.exists()


def test_sigint_to_the_hosts_group_does_not_reach_the_script(outside, until, tmp_path):
    go = tmp_path / "go"
    then = f"signal.signal(signal.SIGINT, lambda *_: print('INT', flush=True))\n{RUN}"
    host = outside(f"touch {tmp_path}/begun; while [ ! -e {go} ]; do sleep 0.01; done; exit 0", then)
    assert until((tmp_path / "begun").exists)

    os.killpg(host.process.pid, signal.SIGINT)

    go.touch()
    assert sorted(host.read().split()) == ["INT", "ok"]


def test_a_killed_spawner_is_begun_again_and_runs_in_flight_go_on(bench, until, tmp_path):
    ctx = bench.context(
        command=f"touch {tmp_path}/begun; while [ ! -e {tmp_path}/go ]; do sleep 0.01; done", shell=True
    )
    thread, ends = bench.beside(ctx)
    assert until((tmp_path / "begun").exists)
    first = bench.executor.starter.pid

    os.kill(first, signal.SIGKILL)
    outcome, _ = bench.sh("exit 3")

    assert outcome.exit_code == 3
    assert bench.executor.starter.pid != first
    (tmp_path / "go").touch()
    thread.join(10)
    assert ends[0].kind == "ok"


def test_the_supervisor_of_a_run_kills_escapees_though_the_spawner_is_dead(bench, living, until):
    ctx = bench.context(command="echo begun; setsid sleep 600 & sleep 600", shell=True, limit=0.5)
    thread, ends = bench.beside(ctx)
    assert until(lambda: ctx.output.out)

    os.kill(bench.executor.starter.pid, signal.SIGKILL)
    thread.join(10)

    assert ends[0].reason == "timeout"
    assert living(ctx.variables["SCHEDCORE_RUN"]) == []


def test_a_spawner_killed_before_it_forked_is_replaced_and_the_run_goes_on(bench, until):
    run, ends = _run_on_a_stopped_spawner(bench, until)

    os.kill(bench.executor.starter.pid, signal.SIGKILL)
    run.join(10)

    assert ends[0].kind == "ok"


def test_a_spawner_that_hangs_is_replaced_and_the_run_goes_on(bench, until, monkeypatch):
    monkeypatch.setattr(starting, "_HELLO_SECONDS", 0.2)
    monkeypatch.setattr(starting, "_LEAVE_SECONDS", 0.1)
    run, ends = _run_on_a_stopped_spawner(bench, until)

    run.join(10)

    assert ends[0].kind == "ok"


def _run_on_a_stopped_spawner(bench, until) -> tuple[threading.Thread, list]:
    starter = bench.executor.starter
    starter._fork()[1].close()  # begun, with no idle supervisor
    os.kill(starter.pid, signal.SIGSTOP)
    stat_file = Path(f"/proc/{starter.pid}/stat")
    assert until(lambda: stat_file.read_bytes().rpartition(b")")[2].split()[0] == b"T")
    thread, ends = bench.beside(bench.context(args=["/bin/true"]))
    assert until(lambda: starter._numbers >= 2)
    return thread, ends


@pytest.mark.parametrize("python", ["/bin/false", "/no/such/python"])
def test_a_spawner_that_cannot_live_fails_the_run_with_a_clear_text(bench, tmp_path, python):
    bench.executor.accept(bench.executor.settings.model_copy(update={"python": python}))

    outcome, _ = bench.run(args=["touch", str(tmp_path / "ran")])

    assert (outcome.kind, outcome.reason, outcome.retry) == ("failed", "executor_error", None)
    assert outcome.text.startswith("no supervisor could be started: ")
    assert not (tmp_path / "ran").exists()


def test_an_idle_supervisor_that_was_killed_costs_nothing(bench, until):
    bench.run(args=["/bin/true"])
    spawner = bench.executor.starter.pid
    [idle] = _children(spawner)

    os.kill(idle, signal.SIGKILL)
    assert until(lambda: not _children(spawner))

    assert bench.run(args=["/bin/true"])[0].kind == "ok"


def test_a_second_run_takes_the_supervisor_of_the_first(bench):
    bench.run(args=["/bin/true"])
    [before] = _children(bench.executor.starter.pid)

    for _ in range(20):
        bench.run(args=["/bin/true"])

    assert _children(bench.executor.starter.pid) == [before]


@pytest.mark.parametrize("text", ["sleep 600 & exit 0", "kill -9 $PPID", "sleep 600"])
def test_a_supervisor_is_not_used_again_after_an_end_that_was_not_clean(bench, until, text):
    bench.run(args=["/bin/true"])
    [before] = _children(bench.executor.starter.pid)

    bench.sh(text, limit=0.2)

    assert until(lambda: before not in _children(bench.executor.starter.pid))


def test_no_run_waits_for_another(bench, until, tmp_path):
    texts = [
        f"touch {tmp_path}/{n}; while [ $(ls {tmp_path} | grep -c '^[0-9]') -lt 8 ]; do sleep 0.01; done"
        for n in range(8)
    ]
    threads = [bench.beside(bench.context(command=text, shell=True)) for text in texts]

    for thread, _ in threads:
        thread.join(15)

    assert [ends[0].kind for _, ends in threads] == ["ok"] * 8


def test_descriptors_are_given_back(bench):
    bench.run(args=["/bin/true"])
    before = len(os.listdir("/proc/self/fd"))

    for text in ("exit 0", "exit 3", "sleep 600 & exit 0", "kill -9 $PPID", "sleep 600"):
        bench.sh(text, limit=0.2)
    bench.run(args=["/no/such"])
    bench.run(args=["/bin/true"], cwd="/no/such")

    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_no_interpreter_for_the_spawner_is_said_clearly(bench, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")

    outcome, _ = bench.run(args=["/bin/true"])

    assert (outcome.kind, outcome.reason) == ("failed", "executor_error")
    assert "plugins.script.python" in outcome.text


def _children(pid: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(words[1]) == pid and words[0] != b"Z":
                found.append(int(name))
    return found


def test_the_wire_of_the_spawner_takes_no_nonsense(bench):
    bench.run(args=["/bin/true"])
    starter = bench.executor.starter

    starter._socket.send(FORK + b"\0" * 8)  # without a descriptor
    starter._socket.send(b"X" * 9)

    assert bench.sh("sleep 600 & exit 0")[0].kind == "ok"
    assert bench.run(args=["/bin/true"])[0].kind == "ok"
