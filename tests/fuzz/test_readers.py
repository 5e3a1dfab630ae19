"""Every reader answers a value or an error that says what, where and what to do; it never ends in another way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schedcore._host import job_files
from schedcore._host.control.instants import instant_of
from schedcore._host.settings import examine
from schedcore.domain.clock import parse_text, text
from schedcore.domain.describe import describe
from schedcore.domain.duration import duration_text, parse_duration
from schedcore.domain.errors import SchedcoreError
from schedcore.domain.job import JobOrder
from schedcore.domain.job_fields import canonical, read_payload
from schedcore.domain.preview import preview
from schedcore.domain.trigger import Trigger
from tests.fuzz.hostile import JSON, TEXT, near

NOW = parse_text("2026-06-01T08:00:00.000Z")
CRON = near(
    "*/5 * * * *", "0 9 * * 1-5", "30 2 29 2 *", "0 0 1,15 * mon#2", "@daily", "15 10,12 * jan-mar/2 7"
)
EVERY = near("30s", "1h30m", "PT1H30M", "1w", "P1DT12H", "366d")
AT = near("2026-06-01T09:00:00Z", "2026-06-01T09:00", "2026-06-01", "2026-03-29T02:30:00.5+01:00", "tomorrow")
ZONE = near("UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "+02:00", "../../etc/passwd")
FIELDS = st.sampled_from(
    ["cron", "every", "at", "in", "zone", "text", "kind", "anchor", "jitter", "count", "gap", "fold", "start", "end",
     "calendar", "on_closed", "Cron", "fuseau", "strange"]
)  # fmt: skip
TRIGGER = st.dictionaries(FIELDS, CRON | EVERY | AT | ZONE | st.integers(-5, 100) | JSON, max_size=5)
JOB = st.dictionaries(
    st.sampled_from(
        ["key", "name", "kind", "payload", "prompt", "toolset", "labels", "state", "notify", "deliver_to", "attempts",
         "timeout", "overlap", "catch_up", "groups", "tags", "secrets", "assert", "enabled", "retry_delay", "breaker",
         "delivery_key", "late_limit", "jitter", "cron", "every", "at", "in", "zone", "trigger", "strange"]
    ),
    JSON | CRON | EVERY | st.integers(-5, 5000) | TRIGGER,
    max_size=7,
)  # fmt: skip


def read(reader: Callable[[], Any]) -> Any:
    """The value, or ``None`` where it was refused as everything should be refused."""
    try:
        return reader()
    except SchedcoreError as error:
        told = error.as_dict()
        assert told["code"]
        assert told["message"]
        whole = json.dumps(told, ensure_ascii=False)
        assert whole.encode("utf-8", "strict"), "it can be printed"
        assert len(whole) < 20_000
        assert json.loads(whole) == told
        return None


@given(JSON | EVERY, st.sampled_from([None, "every", "jobs.a.timeout"]))
def test_a_duration_is_read_or_refused_and_says_itself(value: Any, field: str | None):
    seconds = read(lambda: parse_duration(value, field))

    if seconds is not None:
        assert parse_duration(duration_text(seconds)) == seconds


@given(AT | JSON, ZONE)
def test_an_instant_is_read_or_refused(value: Any, zone: str):
    found = read(lambda: instant_of(value, zone, "after"))

    if found is not None:
        assert parse_text(text(found)) == found


@given(CRON, ZONE)
@example("0 0 31 2 *", "UTC")
def test_an_expression_is_read_or_refused_and_its_slots_rise(expression: str, zone: str):
    trigger = read(lambda: Trigger.parse({"cron": expression, "zone": zone}, now_us=NOW))

    if trigger is not None:
        holds(trigger)


@given(TRIGGER | JSON)
def test_a_trigger_is_read_or_refused_and_reads_back_as_itself(data: Any):
    trigger = read(lambda: Trigger.parse(data, now_us=NOW))

    if trigger is not None:
        holds(trigger)


def holds(trigger: Trigger) -> None:
    """What is true of every trigger that was taken."""
    again = Trigger.from_dict(json.loads(json.dumps(trigger.to_dict())))
    assert again.to_dict() == trigger.to_dict()
    slots, after = [], NOW
    for _ in range(4):
        after = trigger.next(after)
        if after is None:
            break
        slots.append(after)
    assert slots == sorted(set(slots))
    assert all(slot > NOW for slot in slots)
    for lang in ("en", "fr", "zh"):
        assert describe(trigger, lang).isprintable()
    assert [line.us for line in preview(trigger, NOW, 4)] == slots[: trigger.count]


@given(JOB | JSON)
def test_a_job_is_read_or_refused_and_all_its_errors_can_be_told(data: Any):
    order = read(lambda: JobOrder.parse(data, now_us=NOW))

    if order is not None:
        assert len(order.digest()) == 64
        before, after = order.frame()
        assert before + canonical(order.payload) + after == canonical(order.content())
    elif isinstance(data, dict):
        for error in JobOrder.errors(data, now_us=NOW):
            read(lambda error=error: (_ for _ in ()).throw(error))


@given(JSON)
def test_a_payload_is_read_or_refused_and_survives_its_storage(value: Any):
    payload = read(lambda: read_payload(value))

    if payload is not None:
        assert json.loads(canonical(payload)) == json.loads(json.dumps(payload))


TOML = near(
    '[jobs.a]\nkind = "script"\ncron = "0 9 * * *"\n[jobs.a.payload]\nargs = ["x"]\n',
    '[[jobs]]\nkey = "b"\nkind = "script"\nevery = "5m"\n',
    'timezone = "Europe/Paris"\n[settings]\nworkers = 4\n',
    'ledger = "sqlite:///x.db"\nworkers = 4\nbeat = "5s"\n[groups]\nmail = 2\n'
    '[calendars.x]\nclosed = ["sunday", "12-25"]\n',
    '{"jobs": {"a": {"kind": "script"}}}',
)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@given(content=TOML.map(lambda t: t.encode("utf-8", "surrogatepass")) | st.binary(max_size=80))
def test_a_job_file_is_read_and_what_is_wrong_stands_apart(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, content: bytes
):
    path = written(tmp_path_factory, content, suffix)

    declared = job_files.read_file(path)

    for error in declared.faults:
        read(lambda error=error: (_ for _ in ()).throw(error))
    for key, order in declared.orders.items():
        read(lambda key=key, order=order: JobOrder.parse({"key": key, **order}, now_us=NOW))


@given(content=TOML.map(lambda t: t.encode("utf-8", "surrogatepass")) | st.binary(max_size=80))
def test_a_settings_file_is_read_or_every_fault_of_it_is_told(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
):
    path = written(tmp_path_factory, content, ".toml")

    found = read(lambda: examine(path, {}))

    for error in found.faults if found is not None else ():
        read(lambda error=error: (_ for _ in ()).throw(error))


@given(st.dictionaries(near("SCHEDCORE_WORKERS", "SCHEDCORE_BEAT", "SCHEDCORE_LEDGER"), TEXT, max_size=3))
def test_the_environment_is_read_or_refused(env: dict[str, str]):
    found = read(lambda: examine(None, env))

    for error in found.faults if found is not None else ():
        read(lambda error=error: (_ for _ in ()).throw(error))


def written(factory: pytest.TempPathFactory, content: bytes, suffix: str) -> Path:
    path = factory.getbasetemp() / f"fuzzed{suffix}"
    path.write_bytes(content)
    return path
