"""Reports about what people are shown: dead loops, false greens, breakers nobody hears of, names that climb."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedcore._engine.state import EngineSettings
from schedcore._engine.toolbox import Toolbox
from schedcore._host.control import Control
from schedcore._host.crew import build_engine
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore.domain.errors import NotFound, Refused
from schedcore.domain.outcome import failed
from schedcore.testing import ManualClock, StandingHost, noop


@pytest.fixture
def control(host: StandingHost) -> Control:
    """What a person asks, on the ledger of the host."""
    return Control(host.engine, Actor("anna", "person"))


def test_report_R35_a_loop_that_never_started_is_seen_and_its_next_run_is_shown_overdue(
    ledger: Ledger, clock: ManualClock, tmp_path: Path
) -> None:
    tools = Toolbox(executors={"noop": ("test", noop())})
    engine = build_engine(ledger, tools, EngineSettings(), clock, tmp_path, "cli")
    control = Control(engine, Actor("anna", "person"))
    control.add({"key": "daily", "kind": "noop", "cron": "0 9 * * *"})

    clock.advance(hours=3)

    status = control.status(check=True)
    assert status["ok"] is False
    assert status["problems"]
    assert control.jobs()[0]["left"] < 0, "the next run is shown as overdue, not as something to come"


def test_report_R53_the_assertion_decides_whatever_the_work_says(
    host: StandingHost, clock: ManualClock, tmp_path: Path
) -> None:
    proof = tmp_path / "proof"
    job = host.add("says-done", every="60s", **{"assert": {"command": f"test -s {proof}"}})
    clock.advance(60)
    host.beat()

    proof.write_text("done")
    clock.advance(60)
    host.beat()

    assert [(r["word"], r["reason"]) for r in host.runs(job)] == [
        ("failed", "assertion"),
        ("succeeded", None),
    ]


def test_report_R55_R61_a_job_that_always_fails_is_switched_off_after_five_and_says_why(
    ledger: Ledger, clock: ManualClock, tmp_path: Path
) -> None:
    fails = noop(execute=lambda ctx: failed("exit_code", "no", exit_code=1))
    host = StandingHost(ledger, clock, tmp_path, [fails])
    job = host.add("burns", every="60s")

    for _ in range(30):
        clock.advance(60)
        host.beat()

    assert len(host.runs(job)) == 5
    row = host.job(job)
    assert (row["state"], row["state_reason"]) == ("paused", "max_consecutive_failures")
    doctor = Control(host.engine, Actor("anna", "person")).doctor()
    assert any(finding.get("job") == "burns" and finding["level"] == "bad" for finding in doctor)
    host.stop()


@pytest.mark.parametrize("name", ["..", "../../x", "/etc/passwd", "~root", "a\0b", "x" * 300])
def test_fault_S7_S9_a_name_that_climbs_is_no_run_and_no_key(
    control: Control, host: StandingHost, name: str
) -> None:
    with pytest.raises((NotFound, Refused)):
        control.run_show(name)
    with pytest.raises((NotFound, Refused)):
        control.logs(name)
    if name != "..":  # two dots are letters of a key like others: no key ever becomes a path
        with pytest.raises(Refused):
            control.add({"key": name, "kind": "noop", "every": "60s"})
